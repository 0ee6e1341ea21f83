"""Client quotas: what is kept, what is counted, and who waits."""
