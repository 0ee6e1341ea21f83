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


class BatchOrder:
    """The same as `batch_order`, of groups that are added some at a time: there may be very many."""

    __slots__ = ("_by_partition", "_partitions")

    def __init__(self, partitions: int) -> None:
        self._partitions = partitions
        self._by_partition: dict[int, list[str]] = {}

    def add(self, group_ids: Iterable[str]) -> None:
        """These are behind those that were added before."""
        found, partitions = self._by_partition, self._partitions
        for group_id in group_ids:
            found.setdefault(partition_for(group_id, partitions), []).append(group_id)

    def in_order(self) -> list[list[str]]:
        """What `batch_order` gives for all that were added."""
        topic = string_hash(GROUP_METADATA_TOPIC)
        return hash_map_order(((31 * (31 + p) + topic) & 0xFFFFFFFF, ids) for p, ids in self._by_partition.items())


def batch_order(group_ids: Iterable[str], partitions: int) -> list[list[str]]:
    """Groups of one request by the partition that coordinates them, in the order in which Kafka answers.

    Kafka: GroupCoordinatorService.describeGroups and deleteGroups collect them in a `HashMap` by topic partition.
    """
    order = BatchOrder(partitions)
    order.add(group_ids)
    return order.in_order()
