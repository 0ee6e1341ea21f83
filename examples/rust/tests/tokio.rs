//! Requests to the stub from a task, on a runtime with one thread.

use kafkastub::{Control, Result, Stub};
use rdkafka::producer::{FutureProducer, FutureRecord};
use rdkafka::ClientConfig;
use std::time::Duration;

/// Sends requests to the stub while other tasks go on.
async fn ask<T: Send + 'static>(
    stub: &Stub,
    request: impl FnOnce(&Control) -> Result<T> + Send + 'static,
) -> Result<T> {
    let control = stub.control().clone();
    tokio::task::spawn_blocking(move || request(&control)).await.expect("a request does not panic")
}

#[tokio::test]
async fn an_order_is_sent_by_a_task() -> Result<()> {
    let stub = Stub::options().topic("orders", 1).start()?;
    let producer: FutureProducer =
        ClientConfig::new().set("bootstrap.servers", stub.bootstrap_servers()).create().unwrap();
    tokio::spawn(async move {
        let order = FutureRecord::to("orders").key("7").payload("two teapots");
        producer.send(order, Duration::from_secs(30)).await.unwrap();
    });

    ask(&stub, |stub| stub.topics().wait_records("orders", 1)).await?;
    let records = ask(&stub, |stub| stub.topics().records("orders")).await?.records;
    assert_eq!(records[0].value, "two teapots");
    Ok(())
}
