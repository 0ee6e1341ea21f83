"""OffsetCommit (key 8), versions 2-10.

OC-1   A commit without a generation makes a group that only stores offsets.        Kafka: OffsetMetadataManager
OC-2   A member commits in its generation; another one answers ILLEGAL_GENERATION.  Kafka: ClassicGroup
OC-3   Who is no member answers UNKNOWN_MEMBER_ID, without an id in a live group too.
OC-4   A static member that was replaced answers FENCED_INSTANCE_ID.                KIP-345
OC-5   While the group awaits its assignment: REBALANCE_IN_PROGRESS; while it collects joins, the last generation
       commits.
OC-6   An unknown group with a generation: ILLEGAL_GENERATION, from version 9 on GROUP_ID_NOT_FOUND.
OC-7   A missing topic or partition answers UNKNOWN_TOPIC_OR_PARTITION, before the coordinator sees the request: where
       all are missing no group is made and no generation is checked.               Kafka: KafkaApis.handleOffsetCommit
OC-8   Such partitions come first in the answer; a topic is answered once when there are any.
OC-9   Version 10: topics by id; an unknown one answers UNKNOWN_TOPIC_ID.           KIP-848
OC-10  Metadata longer than offset.metadata.max.bytes, in UTF-16 code units, answers OFFSET_METADATA_TOO_LARGE; the
       other partitions are committed.
OC-11  Group "" is refused with the profile's code from the profile's version on.   KIP-289
OC-12  A commit for group "" in an older version is accepted; the log warns once per client and minute.  KIP-289
OC-13  Versions 2-4: retention_time other than -1 fixes the expiry timestamp; the record is then version 1. KIP-211
OC-14  A retention_time that overflows means never, or at once, as the profile says.
OC-15  A member's commit keeps its session alive.
OC-16  Null metadata is stored as empty; the leader epoch (version 6+) and the topic id are stored.
OC-17  A member of a consumer group that uses the new protocol: below version 9 UNSUPPORTED_VERSION.        KIP-848
OC-18  It commits in its epoch; in an earlier one if every partition is its own since then, or before, else
       STALE_MEMBER_EPOCH at all of them.                                                          KIP-848, KIP-1251
OC-19  So a member of a streams group, whose tasks count: an active task of the subtopology that reads the topic, be it
       one that it has to let go of.                        KIP-1071; Kafka: StreamsGroup.createAssignmentEpochValidator
Not done: -
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache

from kafkastub.coordinator import Refused, TopicCommit
from kafkastub.coordinator.records import PackedRun, Partitions
from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import Topic
from kafkastub.state.groups import coordinator_of
from kafkastub.state.pace import no_pause, paced
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kafkawire.rows import Rows, Run

_Key = str | bytes

_NO_ERROR = {"error_code": 0}
_ANSWER_BY_COLUMNS_FROM = 64
_PIECE = 5_000
"""Partitions of a large request that are committed at once."""

_COMMITTED = [OffsetCommitResponsePartition(i) for i in range(1000)]
"""The answer for a committed partition, by index: shared between responses, so never to be changed."""
_INDEXES = array("i", range(len(_COMMITTED)))


def error_response(request: OffsetCommitRequest, code: ErrorCode, version: int) -> OffsetCommitResponse:
    """The code at every partition."""
    return OffsetCommitResponse(topics=_failed([(t.name, t.topic_id, t.partitions) for t in request.topics], code))


# What consumers commit over and over goes the fast path, and never comes here: see `layers.fast_paths`.
@handles(ApiKey.OFFSET_COMMIT, 2, 10, error_response=error_response)
def offset_commit(ctx: RequestContext, request: OffsetCommitRequest) -> Outcome:
    unknown: dict[_Key, OffsetCommitResponseTopic] = {}
    known: list[TopicCommit] = []
    by_id = ctx.api_version >= 10
    cluster = ctx.state.cluster
    for requested in paced(request.topics, ctx.pace):
        topic = cluster.topic_by_id(requested.topic_id) if by_id else cluster.topics.get(requested.name)
        if topic is None:
            _sort_out(requested, None, by_id, unknown)
            continue
        partitions = requested.partitions
        count = len(topic.partitions)
        if isinstance(partitions, Run):
            if partitions.first + partitions.size <= count:
                known.append((topic.name, topic.topic_id, partitions))
                continue
        elif type(partitions) is Rows:
            run = _run(partitions, count)
            if run is not None:
                known.append((topic.name, topic.topic_id, run))
                continue
        partitions = requested.partitions = tuple(partitions)
        for p in partitions:
            if not 0 <= p.partition_index < count:
                partitions = _sort_out(requested, topic, by_id, unknown)
                break
        if partitions:
            known.append((topic.name, topic.topic_id, partitions))
    if not known:
        return OffsetCommitResponse(topics=list(unknown.values()))
    topics = _commit(ctx, request, known) if ctx.pace is no_pause else _commit_pieces(ctx, request, known)
    if topics is None:
        name, topic_id, only = known[0]
        if isinstance(only, Run) and len(known) == 1 and not unknown:
            return _answer_to_one(name, topic_id, only.first, only.size)
        topics = _all_committed(known)
    return OffsetCommitResponse(topics=_merged(unknown, topics, by_id) if unknown else topics)


def _run(rows: Rows[OffsetCommitRequestPartition], count: int) -> PackedRun | None:
    """The partitions as columns, where they are neighbours that exist, without metadata: what most commits are.

    Measured, us for 10, 100, 1000 partitions in this handler: 6.6, 24, 176 one by one; 6.6, 8, 21 by columns.
    """
    indexes = rows.column("partition_index")
    first, end = indexes[0], indexes[0] + len(rows)
    if first < 0 or end > count or rows.constant("committed_metadata"):
        return None
    if len(_INDEXES) < end:
        _more_answers(end)
    neighbours = _INDEXES[first:end]  # arrays of one type are compared without making integers
    if indexes != (neighbours if isinstance(indexes, array) else tuple(neighbours)):
        return None
    offsets, epochs = rows.column("committed_offset"), rows.column("committed_leader_epoch")
    return PackedRun(first, array("q", offsets), array("i", epochs), [""] * len(rows))


def _commit_pieces(
    ctx: RequestContext, request: OffsetCommitRequest, known: list[TopicCommit]
) -> list[OffsetCommitResponseTopic] | None:
    """As `_commit`, so many partitions at once, that others are served between them. Each piece is a commit of its own:
    what happens to the group meanwhile can refuse those that follow.
    """
    answers: list[OffsetCommitResponseTopic] | None = None
    at = 0
    while at < len(known):
        first, size = at, 0
        while at < len(known) and size < _PIECE:
            size += len(known[at][2])
            at += 1
        piece = known[first:at]
        answered = _commit(ctx, request, piece)
        if answered is not None and answers is None:
            answers = _all_committed(known[:first])
        if answers is not None:
            answers += _all_committed(piece) if answered is None else answered
        ctx.pace(size)
    return answers


def _commit(
    ctx: RequestContext, request: OffsetCommitRequest, known: list[TopicCommit]
) -> list[OffsetCommitResponseTopic] | None:
    """Commit partitions that exist; the answer for each topic, None where all of them are committed."""
    state, version = ctx.state, ctx.api_version
    if not request.group_id:
        refused_from = state.profile.empty_group_commit_refused_from
        if refused_from is not None and version >= refused_from:
            return _failed(known, state.profile.illegal_offset_commit_code)
        client = ctx.client_id, ctx.client_host
        if state.profile.empty_group_commit_warns and state.empty_group_warnings.allows(client, ctx.timer_ms):
            state.log.warning(
                "offsets committed for the empty group id, which is deprecated (KIP-289)",
                client_id=ctx.client_id,
                peer=ctx.connection.peer,
                version=version,
            )
    try:
        coordinator = coordinator_of(state)
        turn = state.settle(coordinator.commit_offsets(request, known, version, ctx.broker_ms, ctx.timer_ms))
    except KafkaError as error:
        return _failed(known, error.code)
    return None if turn.reply is None else _with_refused(known, turn.reply)


@lru_cache(maxsize=256)
def _answer_to_one(name: str, topic_id: bytes, first: int, size: int) -> OffsetCommitResponse:
    """All partitions of a run of one topic are committed: what most commits are told, and so the same object."""
    topic = OffsetCommitResponseTopic(name, topic_id, _rows(first, first + size))
    return OffsetCommitResponse(topics=[topic])


def _rows(first: int, end: int) -> Rows[OffsetCommitResponsePartition]:
    if len(_INDEXES) < end:
        _more_answers(end)
    return Rows(OffsetCommitResponsePartition, end - first, {"partition_index": _INDEXES[first:end]}, _NO_ERROR)


def _all_committed(topics: Iterable[TopicCommit]) -> list[OffsetCommitResponseTopic]:
    return [OffsetCommitResponseTopic(name, topic_id, _committed(some)) for name, topic_id, some in topics]


def _committed(partitions: Partitions) -> Sequence[OffsetCommitResponsePartition]:
    """The answer for partitions of which every one is committed."""
    if isinstance(partitions, PackedRun):
        first, end = partitions.first, partitions.first + len(partitions)
        return _COMMITTED[first:end] if end - first < _ANSWER_BY_COLUMNS_FROM else _rows(first, end)
    if isinstance(partitions, Run):
        return _rows(partitions.first, partitions.first + partitions.size)
    try:
        return [_COMMITTED[p.partition_index] for p in partitions]
    except IndexError:
        _more_answers(max(p.partition_index for p in partitions) + 1)
        return [_COMMITTED[p.partition_index] for p in partitions]


def _more_answers(end: int) -> None:
    _COMMITTED.extend(OffsetCommitResponsePartition(i) for i in range(len(_COMMITTED), end))
    _INDEXES.extend(range(len(_INDEXES), end))


def _with_refused(known: list[TopicCommit], refused: Refused) -> list[OffsetCommitResponseTopic]:
    """Answers where some of the metadata was too large."""
    return [
        OffsetCommitResponseTopic(
            name,
            topic_id,
            [
                OffsetCommitResponsePartition(
                    p.partition_index, ErrorCode.OFFSET_METADATA_TOO_LARGE if (position, i) in refused else 0
                )
                for i, p in enumerate(partitions)
            ],
        )
        for position, (name, topic_id, partitions) in enumerate(known)
    ]


def _failed(topics: Iterable[TopicCommit], code: int) -> list[OffsetCommitResponseTopic]:
    return [
        OffsetCommitResponseTopic(
            name, topic_id, [OffsetCommitResponsePartition(p.partition_index, code) for p in partitions]
        )
        for name, topic_id, partitions in topics
    ]


def _sort_out(
    requested: OffsetCommitRequestTopic,
    topic: Topic | None,
    by_id: bool,
    unknown: dict[_Key, OffsetCommitResponseTopic],
) -> list[OffsetCommitRequestPartition]:
    """The partitions of a topic that exist; the others are added to the answer."""
    count = 0 if topic is None else len(topic.partitions)
    code = ErrorCode.UNKNOWN_TOPIC_ID if topic is None and by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    missing = [p.partition_index for p in requested.partitions if not 0 <= p.partition_index < count]
    if missing or topic is None:
        key: _Key = requested.topic_id if by_id else requested.name
        name = requested.name if topic is None else topic.name
        answer = unknown.setdefault(key, OffsetCommitResponseTopic(name, requested.topic_id, []))
        answer.partitions = [*answer.partitions, *(OffsetCommitResponsePartition(i, code) for i in missing)]
    return [p for p in requested.partitions if 0 <= p.partition_index < count]


def _merged(
    unknown: dict[_Key, OffsetCommitResponseTopic], topics: list[OffsetCommitResponseTopic], by_id: bool
) -> list[OffsetCommitResponseTopic]:
    """Missing partitions first, then the coordinator's answers, those of a topic together."""
    for topic in topics:
        key: _Key = topic.topic_id if by_id else topic.name
        first = unknown.setdefault(key, topic)
        if first is not topic:
            first.partitions = [*first.partitions, *topic.partitions]
    return list(unknown.values())
