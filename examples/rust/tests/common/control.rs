use serde_json::{json, Value};
use std::time::Duration;

const WAIT_SECONDS: &str = "10";

/// The control port of a stub, `kafkastub serve --control-port 0`. What is refused is a panic that says why: so is a
/// wait that is in vain after ten seconds.
#[derive(Clone)]
pub struct Control {
    agent: ureq::Agent,
    url: String,
}

impl Control {
    /// Takes what `serve` prints: http://HOST:PORT.
    pub fn new(url: &str) -> Control {
        let config = ureq::Agent::config_builder().http_status_as_error(false).proxy(None);
        Control { agent: config.build().into(), url: url.into() }
    }

    /// Lets broker time stand still; gives it in Unix milliseconds.
    pub fn freeze(&self) -> i64 {
        now(self.post("/v1/clock/freeze", json!({})))
    }

    /// Lets it go on from where it stands.
    pub fn unfreeze(&self) -> i64 {
        now(self.post("/v1/clock/unfreeze", json!({})))
    }

    /// Moves it forward. Afterwards all that fell due on the way has happened.
    pub fn advance(&self, by: Duration) -> i64 {
        now(self.post("/v1/clock/advance", json!({ "milliseconds": by.as_millis() as u64 })))
    }

    /// Keeps the broker's state under a name, which is free.
    pub fn snapshot(&self, id: &str) {
        self.post("/v1/snapshots", json!({ "id": id }));
    }

    /// Makes the broker what it was then. Its clients are disconnected, and come back by themselves.
    pub fn restore(&self, id: &str) {
        self.post(&format!("/v1/snapshots/{}/restore", escaped(id)), json!({}));
    }

    /// Adds a rule as docs/faults.md has it: `json!({"api": "Fetch", "delay_ms": 500})`.
    pub fn add_fault(&self, rule: Value) -> Fault {
        let added = self.post("/v1/faults", rule);
        let id = added["id"].as_str().expect("an id");
        Fault { control: self.clone(), path: format!("/v1/faults/{}", escaped(id)) }
    }

    /// Waits until a topic has so many records.
    pub fn wait_topic(&self, topic: &str, records: usize) {
        self.wait(&format!("/v1/topics/{}/wait?records={records}", escaped(topic)));
    }

    /// Waits until a group is in a state, such as Stable, and has so many members.
    pub fn wait_group(&self, group: &str, state: &str, members: usize) {
        self.wait(&format!("/v1/groups/{}/wait?state={}&members={members}", escaped(group), escaped(state)));
    }

    /// Waits until a group is behind the end of each partition of a topic by so many records at most.
    pub fn wait_lag(&self, group: &str, topic: &str, at_most: usize) {
        self.wait(&format!("/v1/groups/{}/wait?topic={}&lag={at_most}", escaped(group), escaped(topic)));
    }

    /// Waits until nothing was asked for so long, but fetches, heartbeats and metadata.
    pub fn wait_quiet(&self, quiet: Duration) {
        self.wait(&format!("/v1/journal/wait-quiet?seconds={}", quiet.as_secs_f64()));
    }

    fn wait(&self, path: &str) {
        let response = self.agent.get(format!("{}{path}&timeout={WAIT_SECONDS}", self.url)).call();
        answered(path, response);
    }

    fn post(&self, path: &str, body: Value) -> Value {
        answered(path, self.agent.post(format!("{}{path}", self.url)).send_json(body))
    }
}

/// A rule that is there until it is dropped.
pub struct Fault {
    control: Control,
    path: String,
}

impl Fault {
    /// Waits until so many requests have met it.
    pub fn wait_hits(&self, hits: usize) {
        self.control.wait(&format!("{}/wait?hits={hits}", self.path));
    }

    /// Waits until it holds so many requests, or more.
    pub fn wait_held(&self, held: usize) {
        self.control.wait(&format!("{}/wait?held={held}", self.path));
    }

    /// Lets all requests go that it holds.
    pub fn release(&self) {
        self.control.post(&format!("{}/release", self.path), json!({}));
    }

    /// Lets the first so many go.
    pub fn release_first(&self, n: usize) {
        self.control.post(&format!("{}/release", self.path), json!({ "n": n }));
    }
}

impl Drop for Fault {
    /// Whom it holds goes.
    fn drop(&mut self) {
        let _ = self.control.agent.delete(format!("{}{}", self.control.url, self.path)).call();
    }
}

fn answered(path: &str, response: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Value {
    let mut response = response.unwrap_or_else(|why| panic!("{path} cannot be asked: {why}"));
    let answer: Value = response.body_mut().read_json().expect("an answer in JSON");
    let status = response.status();
    assert!(status.is_success(), "{path}: {} ({})", answer["error"].as_str().unwrap_or("refused"), status.as_u16());
    answer
}

fn now(clock: Value) -> i64 {
    clock["now_ms"].as_i64().expect("broker time")
}

fn escaped(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let one = |byte| if plain(byte) { (byte as char).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(one).collect()
}
