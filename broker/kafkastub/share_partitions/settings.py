"""What share partitions go by: of the group's configuration, or the broker's where the group has none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShareSettings:
    """Of one group. Kafka: ShareGroupConfigProvider.

    Attributes:
        record_lock_duration_ms: `share.record.lock.duration.ms`: how long an acquired record belongs to its member.
        delivery_count_limit: `share.delivery.count.limit`: a record that was delivered so often is not made available
            again.
        partition_max_record_locks: `share.partition.max.record.locks`: from the start offset on, so many offsets of a
            partition may be in flight.
        renew_acknowledge_enable: `share.renew.acknowledge.enable`: whether members may renew their locks (KIP-1222).
        dead_letters: whether what is given up goes to a dead-letter topic (KIP-1191).
        reads_committed: whether `share.isolation.level` is read_committed.
    """

    record_lock_duration_ms: int = 30_000
    delivery_count_limit: int = 5
    partition_max_record_locks: int = 2_000
    renew_acknowledge_enable: bool = True
    dead_letters: bool = False
    reads_committed: bool = False
