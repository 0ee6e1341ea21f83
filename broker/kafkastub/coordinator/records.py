"""The records of the group coordinator: the only things that change its hard state, live and at load alike.

Each stands for one or more records of `__consumer_offsets` (`OffsetCommitKey/Value`, `GroupMetadataKey/Value`) and
holds all that those schemas need. They are never changed once made: a log may keep them and encode them late.

A commit of many partitions of a topic is one `OffsetCommit` that shares the partitions with the decoded request, so
that a hot commit costs one small object a topic; on the log it is one record a partition, in order (`each`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from kafkawire.messages.offset_commit_request import OffsetCommitRequestPartition
from kafkawire.rows import Run
from kafkawire.schema import ZERO_UUID

NO_TIMESTAMP = -1
"""The timestamp that means "none" in every schema of the coordinator."""


class CommittedPartition(Protocol):
    """What a commit says of one partition; the partition struct of an OffsetCommit request is one."""

    @property
    def partition_index(self) -> int: ...

    @property
    def committed_offset(self) -> int: ...

    @property
    def committed_leader_epoch(self) -> int: ...

    @property
    def committed_metadata(self) -> str | None: ...


class PartitionCommit(NamedTuple):
    """A `CommittedPartition` that does not come out of a request."""

    partition_index: int
    committed_offset: int
    committed_leader_epoch: int = -1
    committed_metadata: str | None = ""


class CommittedOffset(NamedTuple):
    """One committed offset as the coordinator knows it. Timestamps are broker milliseconds, -1 for none."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp: int
    expire_timestamp: int
    topic_id: bytes


class PackedRun:
    """Many neighbouring partitions, ascending, in columns: a fifth of the memory that the structs take.

    Attributes:
        first: index of the first partition.
    """

    __slots__ = ("answer", "epochs", "first", "metadata", "offsets", "whole_answer")

    def __init__(self, first: int, offsets: array[int], epochs: array[int], metadata: list[str]) -> None:
        self.answer: Any = None
        """For whoever reads the run again and again: what it made of it …"""
        self.whole_answer: Any = None
        """… and of its group and topic."""
        self.first = first
        self.offsets = offsets
        self.epochs = epochs
        self.metadata = metadata

    def __len__(self) -> int:
        return len(self.offsets)

    def __iter__(self) -> Iterator[PartitionCommit]:
        columns = zip(self.offsets, self.epochs, self.metadata, strict=True)
        return (PartitionCommit(index, *rest) for index, rest in enumerate(columns, self.first))


def packed(run: RequestedRun) -> PackedRun:
    """The columns of a run as a request has it."""
    columns = run.columns
    epochs = columns.get("committed_leader_epoch")
    return PackedRun(
        run.first,
        array("q", columns["committed_offset"]),
        array("i", (-1,)) * run.size if epochs is None else array("i", epochs),
        [""] * run.size,
    )


def is_run(indexes: Sequence[int]) -> bool:
    """Whether these are neighbours in ascending order; at least one."""
    first, size = indexes[0], len(indexes)
    if indexes[-1] - first != size - 1:
        return False
    if isinstance(indexes, tuple):
        return indexes == tuple(range(first, first + size))
    return list(indexes) == list(range(first, first + size))


RequestedRun = Run[OffsetCommitRequestPartition]
"""Neighbours without metadata as a request has them."""

Partitions = Sequence[CommittedPartition] | RequestedRun | PackedRun
"""The partitions of a commit; most commits are runs."""


class OffsetCommit:
    """Offsets committed together: one group, one topic, one moment.

    Attributes:
        version: the value schema's version: 4, or 1 where the commit carried its own retention (Kafka:
            GroupCoordinatorRecordHelpers.offsetCommitValueVersion). Version 1 has no leader epoch and no topic id.
        topic_id: 16 bytes; zeros where it is not known.
        partitions: at least one; null metadata means empty metadata. Applying may pack them, so that a log which
            keeps the record need not keep the request.
        expire_timestamp: when a commit with its own retention expires, else -1.
    """

    __slots__ = ("commit_timestamp", "expire_timestamp", "group_id", "partitions", "topic", "topic_id", "version")

    def __init__(
        self,
        group_id: str,
        topic: str,
        partitions: Partitions,
        commit_timestamp: int,
        expire_timestamp: int = NO_TIMESTAMP,
        topic_id: bytes = ZERO_UUID,
        version: int = 4,
    ) -> None:
        self.group_id = group_id
        self.topic = topic
        self.partitions = partitions
        self.commit_timestamp = commit_timestamp
        self.expire_timestamp = expire_timestamp
        self.topic_id = topic_id
        self.version = version

    def each(self) -> Iterator[tuple[int, CommittedOffset]]:
        """Partition and value of every single record that this one stands for, in the order of the log."""
        for p in self.partitions:
            yield (
                p.partition_index,
                CommittedOffset(
                    p.committed_offset,
                    p.committed_leader_epoch,
                    p.committed_metadata or "",
                    self.commit_timestamp,
                    self.expire_timestamp,
                    self.topic_id,
                ),
            )

    def __repr__(self) -> str:
        return f"OffsetCommit({self.group_id!r}, {self.topic!r}, v{self.version}, {dict(self.each())!r})"


@dataclass(frozen=True, slots=True)
class OffsetTombstone:
    """The offset of one partition is gone: expired, deleted by an administrator, or with its topic or group."""

    group_id: str
    topic: str
    partition: int


@dataclass(frozen=True, slots=True)
class PendingOffsets:
    """A commit within a transaction (KIP-98): pending until the transaction's marker.

    On the log its records are in a transactional batch of this producer.
    """

    producer_id: int
    producer_epoch: int
    commit: OffsetCommit

    @property
    def group_id(self) -> str:
        return self.commit.group_id


@dataclass(frozen=True, slots=True)
class TransactionMarker:
    """A producer's transaction has ended in one partition of `__consumer_offsets`: a control batch there (KIP-98).

    Attributes:
        commit: whether its pending offsets are committed; else they never were.
        group_ids: the groups of this partition in which the producer has pending offsets; the log does not have them.
        timestamp: when it was written, broker milliseconds.
    """

    producer_id: int
    producer_epoch: int
    commit: bool
    coordinator_epoch: int
    timestamp: int
    group_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemberMetadata:
    """One member of a persisted generation. Timeouts are milliseconds."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout: int
    session_timeout: int
    subscription: bytes
    assignment: bytes


@dataclass(frozen=True, slots=True)
class GroupMetadata:
    """A completed generation of a classic group, or an empty group. Always written as value version 3.

    Attributes:
        protocol_type: "" until the group's first completed generation.
        current_state_timestamp: when the group last changed its state, broker milliseconds; -1 where not known.
    """

    group_id: str
    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    current_state_timestamp: int
    members: tuple[MemberMetadata, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupTombstone:
    """A classic group is gone: deleted or expired, simple ones too."""

    group_id: str


class TypedRecord:
    """What the records of groups with epochs have in common.

    Attributes:
        part: the attribute of a group's state that they are in; see `typed_state`.
        named_by: their own attribute that names them there; "" for what a group has once.
    """

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()
    """Their attributes, in order: those of their key first."""

    group_type: str
    part: str
    named_by: str = ""
    group_id: str

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True  # however many partitions there are
        return type(self) is type(other) and all(
            getattr(self, name) == getattr(other, name) for name in self.__match_args__
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__name__}({told})"


class Tombstone(TypedRecord):
    """A group with epochs has no more what a record said of it.

    Attributes:
        of: the class of that record.
        name: whose it was: a member id, or a regular expression; "" for what a group has once.
    """

    __slots__ = ("group_id", "group_type", "name", "of")
    __match_args__ = ("of", "group_id", "name")

    def __init__(self, of: type[TypedRecord], group_id: str, name: str = "") -> None:
        self.of = of
        self.group_type = of.group_type
        self.group_id = group_id
        self.name = name


Record = OffsetCommit | OffsetTombstone | GroupMetadata | GroupTombstone | PendingOffsets | TypedRecord
"""What the coordinator appends to `__consumer_offsets` and what it is restored from."""
