use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A broker that serves until it is dropped.
pub struct Stub {
    process: Child,
    pub broker: String,
}

impl Stub {
    /// Topics are written NAME:PARTITIONS.
    pub fn start(topics: &[&str]) -> Stub {
        let command = env::var("KAFKASTUB").unwrap_or_else(|_| "kafkastub".into());
        let mut stub = Command::new(&command);
        stub.args(["serve", "--port", "0", "--config", "group.initial.rebalance.delay.ms=0"]);
        if !topics.is_empty() {
            stub.arg("--topic").args(topics);
        }
        let mut process = stub
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|why| panic!("{command} cannot be started: {why}"));
        let mut line = String::new();
        let out = process.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("the ready line");
        let broker = line
            .strip_prefix("kafkastub ready on ")
            .and_then(|rest| rest.split(' ').next())
            .unwrap_or_else(|| panic!("{command} did not start; it said: {line}"))
            .to_string();
        Stub { process, broker }
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
