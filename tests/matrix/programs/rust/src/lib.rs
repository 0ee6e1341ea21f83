//! What the Rust programs share: the command line, and telling of a step.

use std::env;
use std::io::{stdin, stdout, Write};
use std::time::{Duration, Instant};

use serde_json::{json, Value};

pub const PARTITIONS: i32 = 4;
/// Records for each partition, the first time and the second.
pub const BATCH: i64 = 10;
/// Where the members commit: in the middle of the second batch.
pub const MIDDLE: i64 = 15;
/// For anything that is waited for.
pub const PATIENCE: Duration = Duration::from_secs(150);

/// Partition, offset and value of a record that was read.
pub type Row = (i32, i64, String);

pub struct Arguments {
    pub bootstrap: String,
    pub topic: String,
    pub group: String,
    /// Of the group: classic, or consumer (KIP-848).
    pub protocol: String,
}

pub fn arguments() -> Arguments {
    let mut given = env::args().skip(1);
    let mut next = || given.next().expect("BOOTSTRAP TOPIC GROUP");
    let (bootstrap, topic, group) = (next(), next(), next());
    Arguments {
        bootstrap,
        topic,
        group,
        protocol: given.next().unwrap_or("classic".to_string()),
    }
}

/// The value of the record that gets this offset.
pub fn value(partition: i32, number: i64) -> String {
    format!("{partition}-{number}")
}

/// Prints a line, and waits until the runner has looked at the broker.
pub fn tell(step: &str, mut seen: Value) {
    seen["step"] = json!(step);
    println!("{seen}");
    stdout().flush().expect("the runner");
    let mut answer = String::new();
    assert!(
        stdin().read_line(&mut answer).expect("the runner") > 0,
        "the runner is gone"
    );
}

/// Calls `done` until it gives true; it takes its time itself.
pub fn until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
    }
}
