//! A Kafka broker for each test, with a clock, faults and a journal that the test controls.
//!
//! ```
//! use kafkastub::{Rule, Stub};
//!
//! # fn main() -> kafkastub::Result<()> {
//! let stub = Stub::options().topic("orders", 3).start()?;
//! let bootstrap_servers = stub.bootstrap_servers(); // for any Kafka client
//! # assert!(bootstrap_servers.starts_with("127.0.0.1:"));
//!
//! let door = stub.faults().add(Rule::new().api("OffsetCommit").hold("before"))?;
//! // … a client commits in another thread …
//! door.release()?;
//! # Ok(())
//! # }
//! ```
//!
//! A [`Stub`] ends when it is dropped. If the test panics, standard error shows why clients may wait, and the newest
//! requests that the stub answered. All stubs of a process come from one launcher, which ends with the process, even
//! after `kill -9`.
//!
//! The stub has a method for each subject of the control port: [`Control::clock`], [`Control::faults`],
//! [`Control::groups`] and so on. Every request of the control port has a method there. Requests block; in asynchronous
//! tests, call them from `tokio::task::spawn_blocking` if the code under test runs on the same thread.

mod command;
mod control;
mod error;
mod launcher;
mod options;
mod parts;
mod stub;
pub mod types;

pub use command::command;
pub use control::{Control, Stream};
pub use error::{Error, Refused, Result};
pub use launcher::Launcher;
pub use parts::{
    Acls, Broker, Chaos, Clock, Entry, Fault, Faults, Groups, Journal, Nodes, Quotas, ShareGroups, Snapshots,
    StreamsGroups, Topics, Transactions,
};
pub use serde_json::{json, Value};
pub use stub::Stub;
pub use types::*;
