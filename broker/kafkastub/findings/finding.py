"""One thing that was found out about why records do not come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from kafkastub.metadata import Cluster, PartitionState

Level = Literal["stop", "look", "fine"]
Subject = Literal[
    "group", "member", "topic", "partition", "node", "transaction", "fault", "chaos", "journal", "acl", "quota"
]

_NAMED: Final = 3
"""Partitions, or members, that a sentence names."""


class Finding(NamedTuple):
    """One thing."""

    level: Level
    sentence: str
    subject: Subject
    name: str
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None


def many(count: int, what: str) -> str:
    """`3 requests`."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def seconds(ms: int) -> str:
    """`12 s`; nothing lies behind us."""
    return f"{max(ms, 0) / 1000:.0f} s"


def named(places: Sequence[tuple[str, int]]) -> str:
    """`orders-0, orders-1 and 7 more`."""
    more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
    return ", ".join(f"{topic}-{index}" for topic, index in places[:_NAMED]) + more


def awaited(cluster: Cluster, partition: PartitionState) -> list[int]:
    """The stopped nodes of which one has to come back before a partition has a leader again."""
    able = partition.isr or partition.elr or partition.last_leader or partition.replicas
    return [node for node in able if node in cluster.nodes and not cluster.nodes[node].alive]
