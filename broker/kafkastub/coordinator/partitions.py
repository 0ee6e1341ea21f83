"""Which partition of `__consumer_offsets` a group is in, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterable

from kafkawire.java_order import hash_map_order, string_hash

GROUP_METADATA_TOPIC = "__consumer_offsets"


def partition_for(group_id: str, partitions: int) -> int:
    """The partition of `__consumer_offsets` that holds a group. Kafka: GroupCoordinatorService.partitionFor."""
    h = string_hash(group_id)
    if h >= 0x80000000:
        h = 0 if h == 0x80000000 else 0x100000000 - h
    return h % partitions


def batch_order(group_ids: Iterable[str], partitions: int) -> list[list[str]]:
    """Groups of one request by the partition that coordinates them, in the order in which Kafka answers.

    Kafka: GroupCoordinatorService.describeGroups and deleteGroups collect them in a `HashMap` by topic partition.
    """
    by_partition: dict[int, list[str]] = {}
    for group_id in group_ids:
        by_partition.setdefault(partition_for(group_id, partitions), []).append(group_id)
    topic = string_hash(GROUP_METADATA_TOPIC)
    return hash_map_order(((31 * (31 + p) + topic) & 0xFFFFFFFF, ids) for p, ids in by_partition.items())
