"""Share partitions, share sessions, and the share coordinator: pure state machines; time is an argument (KIP-932)."""
