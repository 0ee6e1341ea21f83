//! The code under test would be here; tests/orders.rs shows how its tests get a broker.
