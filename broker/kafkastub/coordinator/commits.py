"""Committing offsets. Kafka: OffsetMetadataManager.commitOffset."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from kafkastub.coordinator.group import Group, PartitionCheck
from kafkastub.coordinator.groups import Groups
from kafkastub.coordinator.records import (
    NO_TIMESTAMP,
    CommittedPartition,
    OffsetCommit,
    PackedRun,
    Partitions,
    PendingOffsets,
    RequestedRun,
)
from kafkastub.coordinator.turn import Turn
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.offset_commit_request import OffsetCommitRequest
from kafkawire.messages.txn_offset_commit_request import TxnOffsetCommitRequest
from kafkawire.rows import Run

MAX_TIMESTAMP = 2**63 - 1
DEFAULT_RETENTION = -1
"""The retention time that means the broker's."""

TopicCommit = tuple[str, bytes, Partitions]
"""Name, id, and the partitions of it, which exist."""


Refused = set[tuple[int, int]]
"""(position of the topic, position of the partition) of what could not be committed."""


def commit_offsets(
    groups: Groups,
    request: OffsetCommitRequest,
    topics: Sequence[TopicCommit],
    version: int,
    turn: Turn,
) -> Turn:
    """Commit these topics of a request. Raises what speaks against the whole commit.

    The reply is None where every partition is committed, else a `Refused`: those have too large metadata, the others
    are committed.
    """
    group_id = request.group_id
    group = groups.groups.get(group_id)
    created, empty_since, check = group is None, None, None
    if group is None:
        group = _group_to_be(groups, request, version, turn)
    else:
        generation = request.generation_id_or_member_epoch
        check = group.validate_offset_commit(request.member_id, request.group_instance_id, generation, version=version)
        empty_since = group.keep_alive(request.member_id, groups.deadlines, turn.timer_ms)
    now = turn.broker_ms
    expiry, value_version = NO_TIMESTAMP, 4
    if request.retention_time_ms != DEFAULT_RETENTION:
        overflow_is_never = groups.profile.overflowing_retention_never_expires
        expiry, value_version = _expiry(now + request.retention_time_ms, overflow_is_never), 1
    taken = _taken(groups, topics, turn)
    if check is not None:
        _check_each(check, taken)
    for topic, topic_id, partitions in taken:
        groups.log(turn, OffsetCommit(group.group_id, topic, partitions, now, expiry, topic_id, value_version))
    committed = sum(len(partitions) for _, _, partitions in taken)
    groups.meters.offset_commits += committed
    if created and not committed:
        groups.index.touch(group, now)
        groups.unseen.add(group_id)
    soon = now + groups.expiry.retention_ms < group.check_at
    if soon or value_version == 1 or empty_since is not None:
        _touch(groups, group, now if empty_since is None else empty_since, expiry)
    return turn


def commit_run(
    groups: Groups,
    request: OffsetCommitRequest,
    topic: str,
    topic_id: bytes,
    run: RequestedRun,
    version: int,
    broker_ms: int,
    timer_ms: int,
) -> OffsetCommit | None:
    """The same for neighbours of one topic, in a group that exists: what most commits are, with less ado.

    The record, which is applied and has to be written. None, and nothing has happened: there is no such group.
    """
    group = groups.groups.get(request.group_id)
    if group is None:
        return None
    generation = request.generation_id_or_member_epoch
    check = group.validate_offset_commit(request.member_id, request.group_instance_id, generation, version=version)
    if check is not None:
        _check_each(check, [(topic, topic_id, run)])
    empty_since = group.keep_alive(request.member_id, groups.deadlines, timer_ms)
    record = OffsetCommit(group.group_id, topic, run, broker_ms, NO_TIMESTAMP, topic_id)
    groups.hard.offsets.apply_commit(record)
    groups.meters.offset_commits += run.size
    if empty_since is not None or broker_ms + groups.expiry.retention_ms < group.check_at:
        _touch(groups, group, broker_ms if empty_since is None else empty_since, NO_TIMESTAMP)
    return record


def commit_transactional_offsets(
    groups: Groups,
    request: TxnOffsetCommitRequest,
    topics: Sequence[TopicCommit],
    version: int,
    check_producer: Callable[[], None],
    turn: Turn,
) -> Turn:
    """The same within a transaction: pending, until its marker comes. Kafka: commitTransactionalOffset.

    It keeps no session alive.
    """
    group = groups.groups.get(request.group_id)
    generation, check = request.generation_id_or_member_epoch, None
    if group is not None:
        member = request.member_id, request.group_instance_id
        with _older_errors(version):
            check = group.validate_offset_commit(*member, generation, version=version, transactional=True)
    elif generation >= 0:
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND if version >= 6 else ErrorCode.ILLEGAL_GENERATION)
    taken = _taken(groups, topics, turn)
    if check is not None:
        with _older_errors(version):
            _check_each(check, taken)
    if taken:
        check_producer()
    if group is None:
        group = groups.create(request.group_id, turn.broker_ms)
        if not taken:
            groups.index.touch(group, turn.broker_ms)
            groups.unseen.add(group.group_id)
    for topic, topic_id, partitions in taken:
        commit = OffsetCommit(group.group_id, topic, partitions, turn.broker_ms, NO_TIMESTAMP, topic_id)
        groups.log(turn, PendingOffsets(request.producer_id, request.producer_epoch, commit))
        groups.meters.offset_commits += len(partitions)
    return turn


def _check_each(check: PartitionCheck, topics: Sequence[TopicCommit]) -> None:
    """Raises what speaks against one of the partitions, and so against the whole commit."""
    for topic, topic_id, partitions in topics:
        if isinstance(partitions, Run):
            for partition in range(partitions.first, partitions.first + partitions.size):
                check(topic, topic_id, partition)
        else:
            for committed in partitions:
                check(topic, topic_id, committed.partition_index)


@contextmanager
def _older_errors(version: int) -> Iterator[None]:
    """TxnOffsetCommit knows STALE_MEMBER_EPOCH from version 6 on. Kafka: supportsStaleMemberEpochError."""
    try:
        yield
    except KafkaError as error:
        if error.code is ErrorCode.STALE_MEMBER_EPOCH and version < 6:
            raise KafkaError(ErrorCode.ILLEGAL_GENERATION) from None
        raise


def _taken(groups: Groups, topics: Sequence[TopicCommit], turn: Turn) -> list[TopicCommit]:
    """What of a commit is not too large; where anything is, the turn's reply says so."""
    taken: list[TopicCommit] = []
    for position, (topic, topic_id, partitions) in enumerate(topics):
        if isinstance(partitions, Run):
            pass  # has no metadata
        elif isinstance(partitions, PackedRun):
            if any(partitions.metadata):
                partitions = _without_large(groups, position, tuple(partitions), turn)
        else:
            for p in partitions:
                if p.committed_metadata:
                    partitions = _without_large(groups, position, partitions, turn)
                    break
        if partitions:
            taken.append((topic, topic_id, partitions))
    return taken


def _without_large(
    groups: Groups, position: int, partitions: Sequence[CommittedPartition], turn: Turn
) -> Sequence[CommittedPartition]:
    """The partitions whose metadata is not too large; the others are noted in the turn's reply."""
    limit = groups.settings.offset_metadata_max
    large = [i for i, p in enumerate(partitions) if p.committed_metadata and utf16_length(p.committed_metadata) > limit]
    if not large:
        return partitions
    refused: Refused = turn.reply or set()
    turn.reply = refused | {(position, i) for i in large}
    return [p for i, p in enumerate(partitions) if i not in large]


def _group_to_be(groups: Groups, request: OffsetCommitRequest, version: int, turn: Turn) -> Group:
    """A commit without a generation makes a group that only stores offsets; any other needs the group."""
    if request.generation_id_or_member_epoch >= 0:
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND if version >= 9 else ErrorCode.ILLEGAL_GENERATION)
    return groups.create(request.group_id, turn.broker_ms)


def _expiry(at: int, overflow_is_never: bool) -> int:
    """The expiry timestamp, which has 64 bits."""
    if at <= MAX_TIMESTAMP:
        return at
    return MAX_TIMESTAMP if overflow_is_never else at - 2**64


def utf16_length(text: str) -> int:
    """The length of a string in Java."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _touch(groups: Groups, group: Group, since: int, expiry: int) -> None:
    """Let the sweep look at the group when the first of these offsets, whose age counts from `since`, can be due."""
    retention = groups.expiry.retention_ms
    if retention < 0:
        return
    at = since + retention
    if expiry != NO_TIMESTAMP:
        at = min(at, expiry)
    groups.index.touch(group, at)
