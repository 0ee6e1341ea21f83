//! Tests alone.
