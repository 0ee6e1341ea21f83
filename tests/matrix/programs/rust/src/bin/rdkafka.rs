//! rust-rdkafka plays the scenario.

use std::collections::BTreeMap;
use std::time::Duration;

use matrix::{arguments, tell, until, value, Arguments, Row, BATCH, MIDDLE, PARTITIONS, PATIENCE};
use rdkafka::admin::{AdminClient, AdminOptions};
use rdkafka::client::DefaultClientContext;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::message::DeliveryResult;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer, ProducerContext};
use rdkafka::{ClientConfig, ClientContext, Message, Offset, TopicPartitionList};
use serde_json::json;
use std::sync::Mutex;

/// Keeps the offset of each acknowledged record, by partition.
#[derive(Default)]
struct Placed(Mutex<BTreeMap<i32, Vec<i64>>>);

impl ClientContext for Placed {}

impl ProducerContext for Placed {
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, _: ()) {
        let message = result.as_ref().expect("an acknowledgement");
        self.0
            .lock()
            .unwrap()
            .entry(message.partition())
            .or_default()
            .push(message.offset());
    }
}

fn config(given: &Arguments) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", &given.bootstrap);
    config
}

/// A batch to each partition, from this number on; gives the offsets.
fn produce(given: &Arguments, first: i64) -> BTreeMap<i32, Vec<i64>> {
    let producer: BaseProducer<Placed> = config(given)
        .set("acks", "all")
        .create_with_context(Placed::default())
        .expect("a producer");
    for number in first..first + BATCH {
        for partition in 0..PARTITIONS {
            let text = value(partition, number);
            let record = BaseRecord::<(), str>::to(&given.topic)
                .partition(partition)
                .payload(&text);
            producer
                .send(record)
                .map_err(|(error, _)| error)
                .expect("a place in the queue");
        }
    }
    producer.flush(PATIENCE).expect("all acknowledged");
    let placed = producer.context().0.lock().unwrap();
    placed.clone()
}

struct Member {
    consumer: BaseConsumer,
    rows: Vec<Row>,
}

impl Member {
    fn join(given: &Arguments) -> Member {
        Member::join_as(given, &given.topic, &given.group, "")
    }

    /// Joins a group by a topic's name or a regular expression; an instance of "" is none.
    fn join_as(given: &Arguments, subscription: &str, group: &str, instance: &str) -> Member {
        let mut config = config(given);
        config
            .set("group.id", group)
            .set("group.protocol", &given.protocol)
            .set("enable.auto.commit", "false")
            .set("auto.offset.reset", "earliest");
        if given.protocol == "classic" {
            config.set("heartbeat.interval.ms", "200");
        }
        if !instance.is_empty() {
            config.set("group.instance.id", instance);
        }
        let consumer: BaseConsumer = config.create().expect("a consumer");
        consumer.subscribe(&[subscription]).expect("a subscription");
        Member {
            consumer,
            rows: Vec::new(),
        }
    }

    fn poll(&mut self) {
        match self.consumer.poll(Duration::from_millis(20)) {
            Some(Ok(message)) => {
                let text =
                    String::from_utf8(message.payload().expect("a value").to_vec()).expect("text");
                self.rows
                    .push((message.partition(), message.offset(), text));
            }
            Some(Err(error)) => panic!("{error}"),
            None => {}
        }
    }

    fn partitions(&self) -> Vec<i32> {
        let assigned = self.consumer.assignment().expect("an assignment");
        let mut found: Vec<i32> = assigned
            .elements()
            .iter()
            .map(|one| one.partition())
            .collect();
        found.sort();
        found
    }

    fn commit(&self, given: &Arguments, offset: i64) {
        let mut offsets = TopicPartitionList::new();
        for partition in self.partitions() {
            offsets
                .add_partition_offset(&given.topic, partition, Offset::Offset(offset))
                .expect("an offset");
        }
        self.consumer
            .commit(&offsets, CommitMode::Sync)
            .expect("a commit");
    }

    fn read(&mut self, count: i64) -> Vec<Row> {
        until("the records", || {
            self.poll();
            self.rows.len() as i64 >= count
        });
        std::mem::take(&mut self.rows)
    }
}

fn shared(first: &Member, second: &Member) -> bool {
    let parts = [first.partitions(), second.partitions()];
    let mut all = parts.concat();
    all.sort();
    parts.iter().all(|part| !part.is_empty()) && all == (0..PARTITIONS).collect::<Vec<_>>()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), KafkaError> {
    let given = arguments();
    let all = BATCH * i64::from(PARTITIONS);
    tell("produce", json!({ "offsets": produce(&given, 0) }));

    let mut first = Member::join(&given);
    let records = first.read(all);
    first.commit(&given, BATCH);
    tell("consume", json!({ "records": records }));

    let mut second = Member::join(&given);
    until("both have partitions", || {
        first.poll();
        second.poll();
        shared(&first, &second)
    });
    tell(
        "rebalance",
        json!({ "members": [first.partitions(), second.partitions()] }),
    );
    produce(&given, BATCH);
    until("the second batch", || {
        first.poll();
        second.poll();
        (first.rows.len() + second.rows.len()) as i64 >= all
    });
    tell("share", json!({ "records": [first.rows, second.rows] }));
    first.commit(&given, MIDDLE);
    second.commit(&given, MIDDLE);
    let committed: BTreeMap<i32, i64> = (0..PARTITIONS)
        .map(|partition| (partition, MIDDLE))
        .collect();
    tell("commit", json!({ "committed": committed }));
    drop(first);
    drop(second);
    tell("leave", json!({}));

    let mut again = Member::join(&given);
    let records = again.read((2 * BATCH - MIDDLE) * i64::from(PARTITIONS));
    again.commit(&given, 2 * BATCH);
    drop(again);
    tell("resume", json!({ "records": records }));

    if given.protocol == "consumer" {
        produce(&given, 2 * BATCH);
        let expression = format!("^{}.*", &given.topic[..given.topic.len() - 2]);
        let mut one = Member::join_as(&given, &expression, &given.group, "");
        let records = one.read(all);
        one.commit(&given, 3 * BATCH);
        tell("expression", json!({ "records": records }));
    }

    tell(
        "delete_offsets",
        json!({ "cannot": "its AdminClient has no call for it" }),
    );
    let admin: AdminClient<DefaultClientContext> = config(&given).create()?;
    for outcome in admin
        .delete_groups(&[&given.group], &AdminOptions::new())
        .await?
    {
        outcome
            .map_err(|(group, code)| KafkaError::AdminOp(code).to_string() + &group)
            .expect("a deletion");
    }
    tell("delete_group", json!({}));
    if given.protocol == "consumer" {
        play_static(&given);
    }
    Ok(())
}

/// One of two members has a name, goes and comes back.
fn play_static(given: &Arguments) {
    let group = format!("{}-static", given.group);
    let join = |instance| Member::join_as(given, &given.topic, &group, instance);
    let (mut named, mut other) = (join("named"), join(""));
    until("both have partitions", || {
        named.poll();
        other.poll();
        shared(&named, &other)
    });
    let parts = [named.partitions(), other.partitions()];
    drop(named);
    tell("static", json!({ "members": parts }));

    let mut named = join("named");
    until("it has its partitions again", || {
        named.poll();
        other.poll();
        [named.partitions(), other.partitions()] == parts
    });
    tell("return", json!({ "members": parts }));
}
