mod common;

use std::time::Duration;

use common::Stub;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::{ClientConfig, Message, Offset};

const SOON: Duration = Duration::from_secs(30);

fn client(stub: &Stub) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", &stub.broker);
    config
}

fn shipping(stub: &Stub) -> BaseConsumer {
    client(stub)
        .set("group.id", "shipping")
        .set("enable.auto.commit", "false")
        .set("auto.offset.reset", "earliest")
        .create()
        .expect("a consumer")
}

#[test]
fn an_order_is_shipped_once() {
    let stub = Stub::start(&["orders:1"]);

    let producer: BaseProducer = client(&stub).create().expect("a producer");
    let order = BaseRecord::to("orders").key("7").payload("two teapots");
    producer.send(order).expect("a place in the queue");
    producer.flush(SOON).expect("an acknowledgement");

    let consumer = shipping(&stub);
    consumer.subscribe(&["orders"]).expect("a subscription");
    let shipped = consumer.iter().next().expect("an order").expect("no error");
    assert_eq!(shipped.payload_view::<str>(), Some(Ok("two teapots")));
    consumer.commit_message(&shipped, CommitMode::Sync).expect("a commit");
    drop(shipped);
    drop(consumer);

    let mut orders = rdkafka::TopicPartitionList::new();
    orders.add_partition("orders", 0);
    let committed = shipping(&stub).committed_offsets(orders, SOON).expect("the offsets");
    assert_eq!(committed.elements()[0].offset(), Offset::Offset(1));
}
