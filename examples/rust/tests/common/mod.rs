// Each file of tests takes what it needs.
#![allow(dead_code)]

pub mod control;

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use control::Control;

/// A broker that serves until it is dropped.
pub struct Stub {
    process: Child,
    output: BufReader<ChildStdout>,
    pub broker: String,
}

impl Stub {
    /// Topics are written NAME:PARTITIONS.
    pub fn start(topics: &[&str]) -> Stub {
        Stub::serve(topics, &[])
    }

    /// The same, and what holds it from outside.
    pub fn start_controlled(topics: &[&str]) -> (Stub, Control) {
        let mut stub = Stub::serve(topics, &["--control-port", "0"]);
        let control = Control::new(&next(&mut stub.output, "kafkastub control port on "));
        (stub, control)
    }

    fn serve(topics: &[&str], more: &[&str]) -> Stub {
        let command = env::var("KAFKASTUB").unwrap_or_else(|_| "kafkastub".into());
        let mut stub = Command::new(&command);
        stub.args(["serve", "--port", "0", "--config", "group.initial.rebalance.delay.ms=0"]).args(more);
        if !topics.is_empty() {
            stub.arg("--topic").args(topics);
        }
        let mut process = stub
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|why| panic!("{command} cannot be started: {why}"));
        let mut output = BufReader::new(process.stdout.take().expect("a pipe"));
        let broker = next(&mut output, "kafkastub ready on ");
        Stub { process, output, broker }
    }
}

/// The word behind what the next line begins with.
fn next(output: &mut impl BufRead, wanted: &str) -> String {
    let mut line = String::new();
    output.read_line(&mut line).expect("a line");
    line.strip_prefix(wanted)
        .and_then(|rest| rest.split_whitespace().next())
        .unwrap_or_else(|| panic!("kafkastub did not start; it said: {line}"))
        .to_string()
}

impl Drop for Stub {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
