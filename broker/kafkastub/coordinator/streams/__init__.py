"""Streams groups: members run the tasks of one topology, which the group knows of (KIP-1071)."""
