"""What a data directory keeps, and what may happen to it."""
