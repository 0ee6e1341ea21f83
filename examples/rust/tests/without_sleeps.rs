use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use kafkastub::{Rule, Stub};
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::{ClientConfig, Offset, TopicPartitionList};

const SOON: Duration = Duration::from_secs(30);
const DAY: Duration = Duration::from_secs(86_400);

fn client(stub: &Stub, id: &str) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", stub.bootstrap_servers()).set("client.id", id);
    config
}

fn shipping(stub: &Stub, id: &str) -> BaseConsumer {
    client(stub, id)
        .set("group.id", "shipping")
        .set("enable.auto.commit", "false")
        .set("auto.offset.reset", "earliest")
        .create()
        .expect("a consumer")
}

fn commit(stub: &Stub, id: &str, offset: i64) {
    let mut orders = TopicPartitionList::new();
    orders.add_partition_offset("orders", 0, Offset::Offset(offset)).expect("a place");
    shipping(stub, id).commit(&orders, CommitMode::Sync).expect("a commit");
}

/// The offset of the group.
fn committed(stub: &Stub) -> Option<i64> {
    let mut orders = TopicPartitionList::new();
    orders.add_partition("orders", 0);
    let offsets = shipping(stub, "reader").committed_offsets(orders, SOON).expect("the offsets");
    match offsets.elements()[0].offset() {
        Offset::Offset(offset) => Some(offset),
        _ => None,
    }
}

/// The scenarios share a broker: each begins with two orders, and a group that has committed nothing.
#[test]
fn without_sleeps() {
    let options = Stub::options().topic("orders", 1).config("group.initial.rebalance.delay.ms", 0);
    let stub = options.start().unwrap();
    let producer: BaseProducer = client(&stub, "shop").create().expect("a producer");
    for order in ["two teapots", "a cup"] {
        producer.send(BaseRecord::to("orders").key("7").payload(order)).expect("a place in the queue");
    }
    producer.flush(SOON).expect("an acknowledgement");
    stub.topics().wait_records("orders", 2).unwrap();
    stub.snapshots().take("seed").unwrap();

    let scenarios = [
        orders_are_shipped,
        the_slow_one_overwrites_what_the_fast_one_committed,
        an_idle_group_survives_the_weekend_and_not_a_week,
    ];
    for scenario in scenarios {
        stub.snapshots().restore("seed").unwrap();
        assert_eq!(committed(&stub), None);
        scenario(&stub);
    }
}

fn orders_are_shipped(stub: &Stub) {
    let worker = shipping(stub, "worker");
    worker.subscribe(&["orders"]).expect("a subscription");
    let enough = AtomicBool::new(false);
    thread::scope(|threads| {
        let works = threads.spawn(|| {
            while !enough.load(Ordering::Relaxed) {
                if let Some(Ok(order)) = worker.poll(Duration::from_millis(10)) {
                    worker.commit_message(&order, CommitMode::Sync).expect("a commit");
                }
            }
        });
        let _stop = Stop(&enough);
        stub.groups().wait_stable("shipping", 1).unwrap();
        stub.groups().wait_lag("shipping", "orders", 0).unwrap();
        stub.journal().wait_quiet(Duration::from_millis(50)).unwrap();
        enough.store(true, Ordering::Relaxed);
        works.join().expect("a worker without errors");
    });
    assert_eq!(committed(stub), Some(2));
}

/// Ends the worker where a wait has failed: the test would wait for it.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn the_slow_one_overwrites_what_the_fast_one_committed(stub: &Stub) {
    let door = stub.faults().add(Rule::new().api("OffsetCommit").client_id("slow").hold("before")).unwrap();
    thread::scope(|threads| {
        let slow = threads.spawn(|| commit(stub, "slow", 1));
        door.wait_held(1).unwrap();
        commit(stub, "fast", 2);
        assert_eq!(committed(stub), Some(2));
        door.release().unwrap();
        slow.join().expect("a commit");
    });
    door.remove().unwrap();
    assert_eq!(committed(stub), Some(1));
}

fn an_idle_group_survives_the_weekend_and_not_a_week(stub: &Stub) {
    stub.clock().freeze().unwrap();
    commit(stub, "shop", 1);
    stub.clock().advance(3 * DAY).unwrap();
    assert_eq!(committed(stub), Some(1));
    stub.clock().advance(4 * DAY).unwrap();
    assert_eq!(committed(stub), None);
}

#[test]
#[should_panic(expected = "there is no snapshot 'no such'")]
fn what_is_refused_says_why() {
    let stub = Stub::start().unwrap();
    stub.snapshots().restore("no such").unwrap();
}
