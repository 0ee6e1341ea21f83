//! rskafka plays what it can of the scenario: it has no consumer groups.

use std::collections::BTreeMap;
use std::time::SystemTime;

use chrono::{DateTime, Utc};
use matrix::{arguments, tell, value, Row, BATCH, PARTITIONS};
use rskafka::client::partition::{Compression, UnknownTopicHandling};
use rskafka::client::ClientBuilder;
use rskafka::record::Record;
use serde_json::json;

fn now() -> DateTime<Utc> {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .expect("a clock");
    DateTime::from_timestamp_millis(since.as_millis() as i64).expect("a time")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given = arguments();
    let client = ClientBuilder::new(vec![given.bootstrap]).build().await?;
    let mut offsets = BTreeMap::new();
    let mut rows: Vec<Row> = Vec::new();
    for partition in 0..PARTITIONS {
        let own = client
            .partition_client(&given.topic, partition, UnknownTopicHandling::Retry)
            .await?;
        let records = (0..BATCH).map(|number| Record {
            key: None,
            value: Some(value(partition, number).into_bytes()),
            headers: BTreeMap::new(),
            timestamp: now(),
        });
        offsets.insert(
            partition,
            own.produce(records.collect(), Compression::NoCompression)
                .await?,
        );
    }
    tell("produce", json!({ "offsets": offsets }));

    for partition in 0..PARTITIONS {
        let own = client
            .partition_client(&given.topic, partition, UnknownTopicHandling::Retry)
            .await?;
        let mut next = 0;
        while next < BATCH {
            for found in own.fetch_records(next, 1..1_000_000, 1_000).await?.0 {
                next = found.offset + 1;
                rows.push((
                    partition,
                    found.offset,
                    String::from_utf8(found.record.value.expect("a value"))?,
                ));
            }
        }
    }
    tell(
        "consume",
        json!({ "records": rows, "group": false, "note": "partition by partition: it has no groups" }),
    );

    for step in [
        "rebalance",
        "share",
        "commit",
        "leave",
        "resume",
        "delete_offsets",
        "delete_group",
    ] {
        tell(step, json!({ "cannot": "it has no consumer groups" }));
    }
    Ok(())
}
