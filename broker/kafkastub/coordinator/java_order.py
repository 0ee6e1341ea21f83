"""Hashes and orders of Java collections, where a client of Kafka can see them.

Which partition of `__consumer_offsets` a group is in, which of two equally popular protocols a group selects, in which
order a batch of groups is answered: all of it follows from `String.hashCode` and the iteration order of `HashMap`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

GROUP_METADATA_TOPIC = "__consumer_offsets"


def string_hash(text: str) -> int:
    """`String.hashCode`, as an unsigned 32-bit number."""
    h = 0
    if text.isascii():
        for byte in text.encode("ascii"):
            h = (31 * h + byte) & 0xFFFFFFFF
        return h
    units = text.encode("utf-16-be", "surrogatepass")
    for i in range(0, len(units), 2):
        h = (31 * h + (units[i] << 8 | units[i + 1])) & 0xFFFFFFFF
    return h


def partition_for(group_id: str, partitions: int) -> int:
    """The partition of `__consumer_offsets` that holds a group. Kafka: GroupCoordinatorService.partitionFor."""
    h = string_hash(group_id)
    if h >= 0x80000000:
        h = 0 if h == 0x80000000 else 0x100000000 - h
    return h % partitions


def hash_map_order(keys: Iterable[tuple[int, T]], expected: int = 0) -> list[T]:
    """Items in the iteration order of a `HashMap` into which they were put one after the other.

    Args:
        keys: distinct items, each with the unsigned hash code of its key.
        expected: the size of the collection that a `HashSet` was made from; 0 for a map of the default capacity.
    """
    items = list(keys)
    capacity = 16
    wanted = max(int(expected / 0.75) + 1, 16) if expected else 16
    while capacity < wanted or len(items) > capacity * 3 // 4:
        capacity *= 2
    buckets: dict[int, list[T]] = {}
    for h, item in items:
        buckets.setdefault((h ^ h >> 16) & (capacity - 1), []).append(item)
    return [item for index in sorted(buckets) for item in buckets[index]]


def batch_order(group_ids: Iterable[str], partitions: int) -> list[list[str]]:
    """Groups of one request by the partition that coordinates them, in the order in which Kafka answers.

    Kafka: GroupCoordinatorService.describeGroups and deleteGroups collect them in a `HashMap` by topic partition.
    """
    by_partition: dict[int, list[str]] = {}
    for group_id in group_ids:
        by_partition.setdefault(partition_for(group_id, partitions), []).append(group_id)
    topic = string_hash(GROUP_METADATA_TOPIC)
    return hash_map_order(((31 * (31 + p) + topic) & 0xFFFFFFFF, ids) for p, ids in by_partition.items())
