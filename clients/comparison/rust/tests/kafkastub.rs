mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use common::{assign, commit, committed, consumer, next, producer, send, SOON};
use kafkastub::{PlaceGiven, Rule, Stub, WantedAssignment};
use rdkafka::consumer::Consumer;
use rdkafka::producer::Producer;

const DAY: Duration = Duration::from_secs(86_400);
const MILLISECOND: Duration = Duration::from_millis(1);

fn start() -> Stub {
    Stub::options().topic("orders", 2).config("group.initial.rebalance.delay.ms", 0).start().unwrap()
}

#[test]
fn a_record_arrives() {
    let stub = start();
    send(&producer(stub.bootstrap_servers(), &[]), "two teapots");
    let consumer = consumer(stub.bootstrap_servers(), "one");
    consumer.subscribe(&["orders"]).unwrap();
    assert_eq!(next(&consumer), "two teapots");
}

#[test]
fn an_offset_expires() {
    let stub = start();
    stub.clock().freeze().unwrap();
    let consumer = consumer(stub.bootstrap_servers(), "one");
    commit(&consumer, 5);
    stub.clock().advance(7 * DAY - MILLISECOND).unwrap();
    assert_eq!(committed(&consumer), Some(5));
    stub.clock().advance(MILLISECOND).unwrap();
    assert_eq!(committed(&consumer), None);
}

#[test]
fn a_commit_is_refused_once() {
    let stub = start();
    let rule = Rule::new().api("OffsetCommit").error("COORDINATOR_LOAD_IN_PROGRESS").times(1);
    let fault = stub.faults().add(rule).unwrap();
    let consumer = consumer(stub.bootstrap_servers(), "one");
    commit(&consumer, 5);
    fault.wait_hits(1).unwrap();
    assert_eq!(committed(&consumer), Some(5));
}

#[test]
fn two_consumers_share_partitions() {
    let (stub, enough) = (start(), AtomicBool::new(false));
    thread::scope(|threads| {
        for id in ["one", "two"] {
            let consumer = consumer(stub.bootstrap_servers(), id);
            consumer.subscribe(&["orders"]).unwrap();
            let enough = &enough;
            threads.spawn(move || {
                while !enough.load(Ordering::Relaxed) {
                    consumer.poll(Duration::from_millis(20));
                }
            });
        }
        let place = |partition: i64| vec![PlaceGiven::new("orders", partition)];
        let wanted = WantedAssignment::new([("one", place(0)), ("two", place(1))]);
        let shared = stub.groups().wait_assigned("shipping", wanted);
        enough.store(true, Ordering::Relaxed);
        shared.unwrap();
    });
}

#[test]
fn a_transaction_is_cut_off() {
    let stub = start();
    let shop = producer(stub.bootstrap_servers(), &[("transactional.id", "shop")]);
    shop.init_transactions(SOON).unwrap();
    shop.begin_transaction().unwrap();
    send(&shop, "two teapots");
    stub.clock().advance_timers(Duration::from_secs(60)).unwrap();
    send(&producer(stub.bootstrap_servers(), &[]), "a cup");
    let consumer = consumer(stub.bootstrap_servers(), "one");
    assign(&consumer);
    assert_eq!(next(&consumer), "a cup");
}
