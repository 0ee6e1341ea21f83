"""What passed, as far as guarantees hang on it: one event for each thing that a request and its answer say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

Partition = tuple[str, int]
"""A topic's name, and the number of the partition."""


class At(NamedTuple):
    """When, and where it stands in the journal."""

    sequence: int
    """Of the entry."""
    broker_ms: int
    """When the request came, by the broker's clock."""
    began: int
    """When it came, in nanoseconds that only rise."""
    ended: int
    """When its answer was there; where there was none, when that was clear."""


class Client(NamedTuple):
    """Who asked."""

    connection: int
    client_id: str
    host: str
    principal: str


class Batch(NamedTuple):
    """A batch of records, by its header."""

    first: int
    """Its first offset; of one that is sent, 0."""
    end: int
    """Behind its last offset."""
    producer_id: int
    epoch: int
    sequence: int
    crc: int
    transactional: bool
    control: bool
    aborts: bool | None = None
    """Of a control batch: whether it is the marker of an abort, or of a commit; None where it is another one."""


@dataclass(frozen=True, slots=True)
class Event:
    at: At
    client: Client


@dataclass(frozen=True, slots=True)
class Produced(Event):
    """A batch was sent. `error` is None where there was no answer."""

    partition: Partition
    batch: Batch
    transactional_id: str | None
    acks: int
    error: int | None
    base_offset: int
    """-1 where the answer does not say."""
    contents: Callable[[], list[int]]
    """A number for each record, of its key, value and headers."""


@dataclass(frozen=True, slots=True)
class Replicated(Event):
    """A client learnt how many replicas the partitions of a topic have, at least one of them more than one."""

    topic: str
    replicas: int


@dataclass(frozen=True, slots=True)
class Fetched(Event):
    """An answer carried `asked` to `end` of a partition, or nothing where they are the same."""

    partition: Partition
    asked: int
    end: int
    batches: tuple[Batch, ...]
    committed_only: bool
    """Whether it was read with isolation level read_committed."""
    log_start: int
    log_end: int
    """The high watermark; -1 where it is not told."""
    error: int


@dataclass(frozen=True, slots=True)
class Joined(Event):
    """JoinGroup. `owned` is what the member keeps while the group meets, as it says itself."""

    group: str
    asked_as: str
    """The member id that it came with, maybe none."""
    member: str
    """The one that it has now."""
    owned: frozenset[Partition]
    error: int | None


@dataclass(frozen=True, slots=True)
class Assigned(Event):
    """SyncGroup, or a ConsumerGroupHeartbeat that was given an assignment."""

    group: str
    member: str
    partitions: frozenset[Partition]


@dataclass(frozen=True, slots=True)
class Beat(Event):
    """A ConsumerGroupHeartbeat that says or hears something new. `epoch` is the one that the member came with."""

    group: str
    member: str
    epoch: int
    owned: frozenset[Partition] | None
    """What it says it has; None where it says nothing of that."""
    assigned: frozenset[Partition] | None
    error: int | None


@dataclass(frozen=True, slots=True)
class Spoke(Event):
    """Heartbeat and StreamsGroupHeartbeat."""

    group: str
    member: str


@dataclass(frozen=True, slots=True)
class Expelled(Event):
    """The answer told a member that the group does not know it any more."""

    group: str
    member: str


@dataclass(frozen=True, slots=True)
class Left(Event):
    group: str
    members: tuple[str, ...]


class Commit(NamedTuple):
    partition: Partition
    offset: int
    error: int | None
    """None where there was no answer."""


@dataclass(frozen=True, slots=True)
class Committed(Event):
    """OffsetCommit or TxnOffsetCommit."""

    group: str
    member: str
    epoch: int
    commits: tuple[Commit, ...]
    producer: tuple[int, int] | None
    """Producer id and epoch, of a commit within a transaction."""
    transactional_id: str = ""


@dataclass(frozen=True, slots=True)
class PositionsRead(Event):
    """OffsetFetch. An offset of -1: nothing is committed."""

    group: str
    offsets: tuple[tuple[Partition, int], ...]


@dataclass(frozen=True, slots=True)
class Listed(Event):
    """ListOffsets."""

    partition: Partition
    timestamp: int
    """-1 for the end, -2 for the beginning."""
    offset: int


@dataclass(frozen=True, slots=True)
class NamedGroups(Event):
    """FindCoordinator."""

    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProducerGiven(Event):
    """InitProducerId."""

    transactional_id: str | None
    producer_id: int
    """-1 where there was no answer."""
    epoch: int


@dataclass(frozen=True, slots=True)
class Ended(Event):
    """EndTxn. `error` is None where there was no answer."""

    transactional_id: str
    producer_id: int
    epoch: int
    commits: bool
    error: int | None


@dataclass(frozen=True, slots=True)
class TopicsDeleted(Event):
    topics: tuple[str, ...]


class Acquired(NamedTuple):
    first: int
    end: int
    deliveries: int


@dataclass(frozen=True, slots=True)
class ShareGiven(Event):
    """ShareFetch: records that a member of a share group was given."""

    group: str
    member: str
    partition: Partition
    acquired: tuple[Acquired, ...]
    lock_ms: int = 0
    """How long the member may have them, in milliseconds; 0 if the answer does not say."""


@dataclass(frozen=True, slots=True)
class ShareUnanswered(Event):
    """ShareFetch without an answer: the member may have been given records."""

    group: str


@dataclass(frozen=True, slots=True)
class ShareEnded(Event):
    """The last request of a share session: what the member has is released."""

    group: str
    member: str


@dataclass(frozen=True, slots=True)
class ShareReset(Event):
    """AlterShareGroupOffsets or DeleteShareGroupOffsets."""

    group: str


@dataclass(frozen=True, slots=True)
class ShareAcknowledged(Event):
    """ShareFetch or ShareAcknowledge: what a member says of records. `error` is None where there was no answer."""

    group: str
    member: str
    partition: Partition
    batches: tuple[tuple[int, int, tuple[int, ...]], ...]
    """From, up to (not in it), and types: one for all, or one each. 0 gap, 1 accept, 2 release, 3 reject, 4 renew."""
    error: int | None
