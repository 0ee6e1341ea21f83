//! Three of the five: librdkafka's mock cluster neither lets offsets expire nor ends transactions.

mod common;

use std::time::{Duration, Instant};

use common::{commit, committed, consumer, next, producer, send, SOON};
use rdkafka::consumer::Consumer;
use rdkafka::mocking::MockCluster;
use rdkafka::producer::DefaultProducerContext;
use rdkafka::types::{RDKafkaApiKey, RDKafkaRespErr};

fn start() -> MockCluster<'static, DefaultProducerContext> {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("orders", 2, 1).unwrap();
    cluster
}

#[test]
fn a_record_arrives() {
    let cluster = start();
    send(&producer(&cluster.bootstrap_servers(), &[]), "two teapots");
    let consumer = consumer(&cluster.bootstrap_servers(), "one");
    consumer.subscribe(&["orders"]).unwrap();
    assert_eq!(next(&consumer), "two teapots");
}

#[test]
fn a_commit_is_refused_once() {
    let cluster = start();
    let refused = RDKafkaRespErr::RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS;
    cluster.request_errors(RDKafkaApiKey::OffsetCommit, &[refused]);
    let consumer = consumer(&cluster.bootstrap_servers(), "one");
    commit(&consumer, 5);
    assert_eq!(committed(&consumer), Some(5));
}

#[test]
fn two_consumers_share_partitions() {
    let (cluster, end) = (start(), Instant::now() + SOON);
    let consumers = ["one", "two"].map(|id| consumer(&cluster.bootstrap_servers(), id));
    consumers.iter().for_each(|consumer| consumer.subscribe(&["orders"]).unwrap());
    let mut found = [vec![], vec![]];
    while found != [[0], [1]] {
        assert!(Instant::now() < end, "they have {found:?}");
        consumers.iter().for_each(|consumer| drop(consumer.poll(Duration::from_millis(20))));
        let places = consumers.each_ref().map(|consumer| consumer.assignment().unwrap());
        found = places.map(|list| list.elements().iter().map(|place| place.partition()).collect());
        found.sort_unstable(); // who has which is by chance
    }
}
