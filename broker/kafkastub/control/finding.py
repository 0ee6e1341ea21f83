"""One thing that was found out about why records do not come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from kafkastub.metadata import Cluster, PartitionState

Level = Literal["stop", "look", "fine"]
Subject = Literal["group", "member", "topic", "partition", "node", "transaction", "fault", "chaos", "journal", "acl"]


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


def awaited(cluster: Cluster, partition: PartitionState) -> list[int]:
    """The stopped nodes of which one has to come back before a partition has a leader again."""
    able = partition.isr or partition.elr or partition.last_leader or partition.replicas
    return [node for node in able if node in cluster.nodes and not cluster.nodes[node].alive]
