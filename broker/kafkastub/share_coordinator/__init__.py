"""The share coordinator, the keeper of `__share_group_state`: pure state machine; time is an argument (KIP-932).

Kafka: ShareCoordinatorShard. Who is in a share group is not here: `coordinator.share` has that.
"""
