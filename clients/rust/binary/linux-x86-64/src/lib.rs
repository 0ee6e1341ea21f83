//! The packaged command of the crate `kafkastub` for one platform. Cargo unpacks it, and checks it, with this crate.
//!
//! A checkout has no packaged command; `make clients-packages` adds it.

/// The path of the command.
pub const COMMAND: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/kafkastub/kafkastub");
