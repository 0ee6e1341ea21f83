"""What a snapshot holds. Nothing in it ever changes: any number of brokers may be made of one, in any thread.

Batches and coordinators' records are shared with the broker that it was taken of, so that what it costs goes by topics,
partitions, groups and producers, not by records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from kafkastub.config import BrokerConfig
from kafkastub.metadata import PartitionState, Topic
from kafkastub.state.internal_topics.internal_topic import SavedTopic
from kafkastub.storage import SavedLogs


class SnapshotError(ValueError):
    """A snapshot cannot be read, or not be restored there; `str()` is one sentence."""


class SavedNode(NamedTuple):
    """A node, but for its addresses: those are the broker's that it is restored in."""

    node_id: int
    rack: str | None
    alive: bool
    registered: bool
    left: tuple[int, int] | None


class SavedUserTopic(NamedTuple):
    """A topic that is no coordinator's, with its logs."""

    topic: Topic
    log_dirs: Sequence[Mapping[str, Any]]
    logs: SavedLogs


class SavedBatches(NamedTuple):
    """What a coordinator's topic has, of a file: by partition, whole batches and where the log starts."""

    batches: list[bytes]
    log_start_offsets: list[int]


class SavedInternalTopic(NamedTuple):
    """A coordinator's topic: what it and the coordinator were, or its batches."""

    topic: Topic
    log_dirs: Sequence[Mapping[str, Any]]
    state: SavedTopic | SavedBatches


class SavedState(NamedTuple):
    """A broker's state.

    Attributes:
        config: the broker's; what of it is dynamic is in the settings.
        settings: what stands for itself, in the form of kafkastub.json (`persisted`).
        clock: how far broker time was ahead of the wall clock, and where it was frozen (`ClockState.moved`). Of a file
            nobody knows how old it is: None, and broker time goes on from where it was.
        broker_ms: what it was.
        next_producer_id: the one that nobody had yet.
        held: transactional ids whose markers were held.
        dirs_wished: as `LogDirs.wishes`.
        held_share_groups: whose acknowledgements were held.
        properties: of a snapshot of a real cluster, what its brokers were started with (`configured`).
        missing: of such a snapshot, what could not be read, and why.
    """

    config: BrokerConfig
    cluster_id: str
    nodes: tuple[SavedNode, ...]
    controller_id: int
    settings: Mapping[str, Any]
    logger_levels: Mapping[str, str]
    topics: tuple[SavedUserTopic | SavedInternalTopic, ...]
    clock: tuple[int | None, int | None]
    broker_ms: int
    next_producer_id: int
    held: frozenset[str]
    dirs_wished: Sequence[tuple[int, str, int, str]]
    held_share_groups: frozenset[str]
    properties: Mapping[str, str] = MappingProxyType({})
    missing: Sequence[tuple[str, str]] = ()


def copy_of(topic: Topic, partitions: list[PartitionState] | None = None) -> Topic:
    """Another one that is the same. `partitions`: copies of its partitions, where there are such already."""
    if partitions is None:
        partitions = copies(topic.partitions)
    return Topic(topic.name, topic.topic_id, partitions, topic.internal, topic.configs.copy())


def copies(partitions: Iterable[PartitionState]) -> list[PartitionState]:
    """Others that are the same."""
    return [
        PartitionState(
            one.index, one.leader, one.leader_epoch, one.replicas, one.isr, one.elr, one.adding, one.removing,
            one.last_leader,
        )
        for one in partitions
    ]  # fmt: skip
