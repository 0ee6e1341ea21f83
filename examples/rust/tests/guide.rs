//! The examples of docs/rust.md, with clients around them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use kafkastub::{GivenRecord, GroupsWaitParams, JournalQueryParams, Result, Rule, Stub};
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::producer::{BaseProducer, BaseRecord};
use rdkafka::{ClientConfig, Offset, TopicPartitionList};

#[test]
fn an_order_is_sent() {
    let stub = Stub::options().topic("orders", 1).start().unwrap();
    let mut config = ClientConfig::new(); // of rdkafka; any other client can be used as well
    config.set("bootstrap.servers", stub.bootstrap_servers());
    let producer: BaseProducer = config.create().unwrap();
    producer.send(BaseRecord::to("orders").key("7").payload("two teapots")).unwrap();

    stub.topics().wait_records("orders", 1).unwrap();
    assert_eq!(stub.topics().records("orders").unwrap().records[0].value, "two teapots");
}

fn shipping(stub: &Stub) -> BaseConsumer {
    ClientConfig::new()
        .set("bootstrap.servers", stub.bootstrap_servers())
        .set("group.id", "shipping")
        .set("enable.auto.commit", "false")
        .set("auto.offset.reset", "earliest")
        .create()
        .expect("a consumer")
}

/// Reads orders, and commits the last one again and again.
fn ship(consumer: &BaseConsumer, enough: &AtomicBool) {
    consumer.subscribe(&["orders"]).expect("a subscription");
    let mut last = None;
    while !enough.load(Ordering::Relaxed) {
        last = consumer.poll(Duration::from_millis(10)).and_then(|order| order.ok()).or(last);
        if let Some(order) = &last {
            let _ = consumer.commit_message(order, CommitMode::Sync); // after a rebalance it may be another's
        }
    }
}

/// Ends the workers when it is dropped, also by a wait that is in vain.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn the_clock_a_fault_and_waits() -> Result<()> {
    let options = Stub::options().topic("orders", 2).config("group.initial.rebalance.delay.ms", 0);
    let stub = options.start()?;
    let order = |partition: i64| GivenRecord::new().partition(partition).value("two teapots");
    stub.topics().produce("orders", [order(0), order(1)])?;
    let (workers, enough) = ([shipping(&stub), shipping(&stub)], AtomicBool::new(false));
    thread::scope(|threads| {
        let _end = End(&enough);
        for worker in &workers {
            threads.spawn(|| ship(worker, &enough));
        }
        stub.groups().wait_lag("shipping", "orders", 0)?;

        stub.clock().advance(Duration::from_secs(7 * 86_400))?; // offsets expire
        let door = stub.faults().add(Rule::new().api("OffsetCommit").hold("before").times(1))?;
        door.wait_held(1)?; // a commit waits
        door.release()?;
        stub.groups().wait_stable("shipping", 2)?; // two members share the partitions
        stub.groups().wait_lag("shipping", "orders", 0)?;

        Ok(())
    })
}

#[test]
fn requests_with_parameters() -> Result<()> {
    let stub = Stub::options().topic("orders", 1).start()?;
    let mut committed = TopicPartitionList::new();
    committed.add_partition_offset("orders", 0, Offset::Offset(0)).expect("a place");
    shipping(&stub).commit(&committed, CommitMode::Sync).expect("a commit");

    stub.topics().produce("orders", [GivenRecord::new().key("7").value("two teapots")])?;
    let records = stub.topics().records("orders")?.records;
    assert_eq!(records[0].value, "two teapots");
    let page = stub.journal().query_with(JournalQueryParams::new().api("OffsetCommit").limit(10))?;
    let waits = GroupsWaitParams::new().state("Empty").timeout(Duration::from_secs(30));
    stub.groups().wait("shipping", waits)?;

    assert_eq!(page.entries.len(), 1);
    Ok(())
}
