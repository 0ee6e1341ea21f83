"""The self-contained `kafkastub` (docs/binary.md)."""
