//! What both sides have in common: clients, and what they do.

#![allow(dead_code)] // each side uses what it needs

use std::time::{Duration, Instant};

use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::{ClientConfig, Message, Offset, TopicPartitionList};

pub const SOON: Duration = Duration::from_secs(60);

pub fn producer(servers: &str, more: &[(&str, &str)]) -> BaseProducer {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", servers);
    for (name, value) in more {
        config.set(*name, *value);
    }
    config.create().unwrap()
}

pub fn consumer(servers: &str, id: &str) -> BaseConsumer {
    ClientConfig::new()
        .set("bootstrap.servers", servers)
        .set("client.id", id)
        .set("group.id", "shipping")
        .set("enable.auto.commit", "false")
        .set("auto.offset.reset", "earliest")
        .set("heartbeat.interval.ms", "50")
        .create()
        .unwrap()
}

pub fn send(producer: &BaseProducer, value: &str) {
    let order = BaseRecord::<str, str>::to("orders").partition(0).payload(value);
    producer.send(order).unwrap();
    producer.flush(SOON).unwrap();
}

/// The value of the next record.
pub fn next(consumer: &BaseConsumer) -> String {
    let end = Instant::now() + SOON;
    while Instant::now() < end {
        if let Some(Ok(message)) = consumer.poll(Duration::from_millis(50)) {
            return message.payload_view::<str>().unwrap().unwrap().to_owned();
        }
    }
    panic!("no record came");
}

fn orders(offset: Offset) -> TopicPartitionList {
    let mut list = TopicPartitionList::new();
    list.add_partition_offset("orders", 0, offset).unwrap();
    list
}

pub fn assign(consumer: &BaseConsumer) {
    consumer.assign(&orders(Offset::Beginning)).unwrap();
}

pub fn commit(consumer: &BaseConsumer, offset: i64) {
    consumer.commit(&orders(Offset::Offset(offset)), CommitMode::Sync).unwrap();
}

/// The group's offset, None where there is none.
pub fn committed(consumer: &BaseConsumer) -> Option<i64> {
    let found = consumer.committed_offsets(orders(Offset::Invalid), SOON).unwrap();
    match found.elements()[0].offset() {
        Offset::Offset(offset) => Some(offset),
        _ => None,
    }
}
