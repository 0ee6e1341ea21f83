mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use common::control::Control;
use common::Stub;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::{ClientConfig, Offset, TopicPartitionList};
use serde_json::json;

const SOON: Duration = Duration::from_secs(30);
const DAY: Duration = Duration::from_secs(86_400);

fn client(stub: &Stub, id: &str) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", &stub.broker).set("client.id", id);
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
    let (stub, control) = Stub::start_controlled(&["orders:1"]);
    let producer: BaseProducer = client(&stub, "shop").create().expect("a producer");
    for order in ["two teapots", "a cup"] {
        producer.send(BaseRecord::to("orders").key("7").payload(order)).expect("a place in the queue");
    }
    producer.flush(SOON).expect("an acknowledgement");
    control.wait_topic("orders", 2);
    control.snapshot("seed");

    let scenarios = [
        orders_are_shipped,
        the_slow_one_overwrites_what_the_fast_one_committed,
        an_idle_group_survives_the_weekend_and_not_a_week,
    ];
    for scenario in scenarios {
        control.restore("seed");
        assert_eq!(committed(&stub), None);
        scenario(&stub, &control);
    }
}

fn orders_are_shipped(stub: &Stub, control: &Control) {
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
        control.wait_group("shipping", "Stable", 1);
        control.wait_lag("shipping", "orders", 0);
        control.wait_quiet(Duration::from_millis(50));
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

fn the_slow_one_overwrites_what_the_fast_one_committed(stub: &Stub, control: &Control) {
    let door = control.add_fault(json!({"api": "OffsetCommit", "client_id": "slow", "hold": "before"}));
    thread::scope(|threads| {
        let slow = threads.spawn(|| commit(stub, "slow", 1));
        door.wait_held(1);
        commit(stub, "fast", 2);
        assert_eq!(committed(stub), Some(2));
        door.release();
        slow.join().expect("a commit");
    });
    assert_eq!(committed(stub), Some(1));
}

fn an_idle_group_survives_the_weekend_and_not_a_week(stub: &Stub, control: &Control) {
    control.freeze();
    commit(stub, "shop", 1);
    control.advance(3 * DAY);
    assert_eq!(committed(stub), Some(1));
    control.advance(4 * DAY);
    assert_eq!(committed(stub), None);
}

#[test]
#[should_panic(expected = "there is no snapshot 'no such'")]
fn what_is_refused_says_why() {
    let (_stub, control) = Stub::start_controlled(&[]);
    control.restore("no such");
}
