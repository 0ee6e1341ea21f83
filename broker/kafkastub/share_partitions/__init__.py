"""Share partitions and share sessions: what members have of records. Pure; time is an argument (KIP-932).

Kafka: SharePartition, ShareSession. What outlives a partition's leader, `share_coordinator` keeps.
"""
