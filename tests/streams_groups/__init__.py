"""Streams groups as one state machine, without a broker around it."""
