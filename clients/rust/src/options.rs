use std::thread;

use serde_json::Value;

use crate::error::Result;
use crate::launcher::Launcher;
use crate::stub::Stub;
use crate::types::{Rule, StubOptions};

impl StubOptions {
    /// Creates a topic before the stub answers.
    #[must_use]
    pub fn topic(mut self, name: impl Into<String>, partitions: impl Into<i64>) -> Self {
        self.topics.get_or_insert_default().insert(name.into(), partitions.into());
        self
    }

    /// Sets one of Kafka's broker configurations: `config("offsets.retention.minutes", 60)`.
    #[must_use]
    pub fn config(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.config.get_or_insert_default().insert(name.into(), value.into());
        self
    }

    /// Adds a user that can connect with SASL (PLAIN and SCRAM).
    #[must_use]
    pub fn user(mut self, name: impl Into<String>, password: impl Into<String>) -> Self {
        self.users.get_or_insert_default().insert(name.into(), password.into());
        self
    }

    /// Adds a fault rule that is there from the start.
    #[must_use]
    pub fn fault(mut self, rule: Rule) -> Self {
        self.faults.get_or_insert_default().push(rule);
        self
    }

    /// Starts chaos from a seed; the level is 1 to 3.
    #[must_use]
    pub fn chaos(mut self, seed: impl Into<i64>, level: impl Into<i64>) -> Self {
        self.chaos = Some(Value::from(seed.into()));
        self.chaos_level = Some(level.into());
        self
    }

    /// Starts a scenario of chaos.
    #[must_use]
    pub fn scenario(mut self, name: impl Into<String>) -> Self {
        self.chaos = Some(Value::from(name.into()));
        self
    }

    /// The number of nodes of the cluster.
    #[must_use]
    pub fn nodes(mut self, count: impl Into<i64>) -> Self {
        self.nodes = Some(count.into());
        self
    }

    /// The racks of the nodes, assigned in turn.
    #[must_use]
    pub fn racks(mut self, racks: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.racks = Some(racks.into_iter().map(Into::into).collect());
        self
    }

    /// Starts the stub, from the launcher that all stubs of this process have in common. Its name is that of the test,
    /// if it has none.
    ///
    /// # Errors
    ///
    /// The command was not found, or an option is refused.
    pub fn start(mut self) -> Result<Stub> {
        if self.name.is_none() {
            self.name = thread::current().name().filter(|name| *name != "main").map(Into::into);
        }
        Launcher::shared()?.start_stub(self)
    }
}
