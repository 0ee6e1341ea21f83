use std::time::Duration;

use kafkastub::Stub;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::{ClientConfig, Message};

const SOON: Duration = Duration::from_secs(30);

fn client(stub: &Stub) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", stub.bootstrap_servers());
    config
}

#[test]
fn an_order_is_shipped_once() {
    let options = Stub::options().topic("orders", 1).config("group.initial.rebalance.delay.ms", 0);
    let stub = options.start().unwrap();

    let producer: BaseProducer = client(&stub).create().expect("a producer");
    let order = BaseRecord::to("orders").key("7").payload("two teapots");
    producer.send(order).expect("a place in the queue");
    producer.flush(SOON).expect("an acknowledgement");

    let consumer: BaseConsumer = client(&stub)
        .set("group.id", "shipping")
        .set("enable.auto.commit", "false")
        .set("auto.offset.reset", "earliest")
        .create()
        .expect("a consumer");
    consumer.subscribe(&["orders"]).expect("a subscription");
    let shipped = consumer.iter().next().expect("an order").expect("no error");
    assert_eq!(shipped.payload_view::<str>(), Some(Ok("two teapots")));
    consumer.commit_message(&shipped, CommitMode::Sync).expect("a commit");

    let group = stub.groups().describe("shipping").unwrap();
    assert_eq!(group.offset_list[0].offset, 1);
}
