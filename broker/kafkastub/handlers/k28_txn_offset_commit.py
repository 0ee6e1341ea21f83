"""TxnOffsetCommit (key 28), versions 0-6.

TO-1   Offsets are pending until the transaction's marker: then they are committed, or never were. In
       __consumer_offsets they are the producer's transactional records.    KIP-98
TO-2   A missing topic or partition answers UNKNOWN_TOPIC_OR_PARTITION, before anybody else is asked; such partitions
       come first in the answer. When there are any, a topic is answered once, else as often as it is named.
       KafkaApis.handleTxnOffsetCommitRequest
TO-3   Version 6: topics by id; an unknown one answers UNKNOWN_TOPIC_ID.    KIP-1319
TO-4   The empty group id: INVALID_GROUP_ID.    GroupCoordinatorService.commitTransactionalOffsets
TO-5   Below version 5, the group's partition of __consumer_offsets must have been added to the transaction
       (AddOffsetsToTxn), else INVALID_TXN_STATE, in version 4 TRANSACTION_ABORTABLE; not so if
       transaction.partition.verification.enable is off.    KIP-890
TO-6   From version 5 on the partition joins the transaction.    KIP-890, part 2
TO-7   An epoch below that of what the producer wrote there: INVALID_PRODUCER_EPOCH, whatever the transactional id;
       another producer id than that of the transactional id: INVALID_PRODUCER_ID_MAPPING; another epoch:
       INVALID_PRODUCER_EPOCH; while an earlier transaction ends: CONCURRENT_TRANSACTIONS. Where its transaction is open
       in the partition, the transactional id is not looked at.    UnifiedLog.maybeStartTransactionVerification
TO-8   Versions 3 and later: the member's id, instance and generation are checked as in OffsetCommit (UNKNOWN_MEMBER_ID,
       FENCED_INSTANCE_ID, ILLEGAL_GENERATION); who names none may commit, whatever the group's state.    KIP-447
TO-9   An unknown group with a generation: ILLEGAL_GENERATION, in version 6 GROUP_ID_NOT_FOUND; without one a group that
       only stores offsets is made.    OffsetMetadataManager.validateTransactionalOffsetCommit
TO-10  Metadata longer than offset.metadata.max.bytes: OFFSET_METADATA_TOO_LARGE; the other partitions are committed.
TO-11  Versions 0 and 1 say COORDINATOR_NOT_AVAILABLE where later ones say COORDINATOR_LOAD_IN_PROGRESS.   KAFKA-7296
TO-12  Of two commits the one whose record is behind the other's stands, whatever comes first: a commit without
       transaction, or the marker.    OffsetMetadataManager.replayEndTransactionMarker
TO-13  While offsets are pending they and their group do not expire; deleting the offset, the group or the topic deletes
       them.    OffsetMetadataManager
TO-14  Neither a member's session nor a retention time is concerned.
TO-15  A member of a consumer group commits in its epoch, or an earlier one, as in OffsetCommit (OC-18), in any
       version; what is wrong is ILLEGAL_GENERATION, in version 6 STALE_MEMBER_EPOCH.    KIP-848, KIP-1251, KIP-1319
TO-16  A request that names very many topics is served part by part, others between; each part is a batch of its own.
       An error is told of all of it.
TO-17  A member of a streams group: as in OffsetCommit (OC-19), and TO-15.                           KIP-1071
Not done: -
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from kafkastub.coordinator import Refused, TopicCommit
from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import CONSUMER_OFFSETS
from kafkastub.state.deferred import Steps, in_parts
from kafkastub.state.groups import coordinator_of
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafkawire.messages.txn_offset_commit_response import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

TOPIC_IDS_FROM = 6
_KNOWS_LOADING_FROM = 2
_AT_ONCE: Final = 4_000
"""Partitions that are committed before others have their turn; each topic counts as several."""
_TOPIC: Final = 8

_Answers = dict[str | bytes, TxnOffsetCommitResponseTopic]
"""By the topic's name or id, whichever the version has."""


def error_response(request: TxnOffsetCommitRequest, code: ErrorCode, version: int) -> TxnOffsetCommitResponse:
    """The code at every partition."""
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                topic.name,
                topic.topic_id,
                [TxnOffsetCommitResponsePartition(one.partition_index, code) for one in topic.partitions],
            )
            for topic in request.topics
        ]
    )


@handles(ApiKey.TXN_OFFSET_COMMIT, 0, 6, error_response=error_response)
def txn_offset_commit(ctx: RequestContext, request: TxnOffsetCommitRequest) -> Outcome:
    if _weight(request.topics) > _AT_ONCE:

        def failed(code: ErrorCode) -> TxnOffsetCommitResponse:
            return error_response(request, code, ctx.api_version)

        return in_parts(_in_parts(ctx, request), _AT_ONCE, ctx.state.transactions.turns.add, failed)
    answers: _Answers = {}
    known = _sorted_out(ctx, request.topics, answers)
    codes = _commit(ctx, request, known) if known else []
    topics = [_told(topic, each) for topic, each in zip(known, codes, strict=True)]
    return _merged(ctx.api_version >= TOPIC_IDS_FROM, answers, topics)


def _sorted_out(
    ctx: RequestContext, topics: Sequence[TxnOffsetCommitRequestTopic], answers: _Answers
) -> list[TopicCommit]:
    """What is there; the rest is answered."""
    taken = (_sort_out(ctx, requested, answers) for requested in topics)
    return [one for one in taken if one is not None]


def _merged(by_id: bool, answers: _Answers, topics: list[TxnOffsetCommitResponseTopic]) -> TxnOffsetCommitResponse:
    """What is not there, and what became of the rest."""
    if not answers:
        return TxnOffsetCommitResponse(topics=topics)
    for topic in topics:
        _answer(answers, by_id, topic.name, topic.topic_id, topic.partitions)
    return TxnOffsetCommitResponse(topics=list(answers.values()))


def _told(topic: TopicCommit, codes: list[ErrorCode]) -> TxnOffsetCommitResponseTopic:
    name, topic_id, partitions = topic
    rows = zip(partitions, codes, strict=True)
    found = [TxnOffsetCommitResponsePartition(one.partition_index, code) for one, code in rows]
    return TxnOffsetCommitResponseTopic(name, topic_id, found)


# What names very much.


def _weight(topics: Sequence[TxnOffsetCommitRequestTopic]) -> int:
    """How much a request names."""
    weight = 0
    for topic in topics:
        weight += _TOPIC + len(topic.partitions)
    return weight


def _in_parts(ctx: RequestContext, request: TxnOffsetCommitRequest) -> Steps:
    refusal = ctx.state.refusal  # that of this call
    answers: _Answers = {}
    known: list[TopicCommit] = []
    for topic in request.topics:
        known += _sorted_out(ctx, (topic,), answers)
        yield _TOPIC // 2 + len(topic.partitions)
    codes: list[list[ErrorCode]] = [[] for _ in known]
    try:
        for some in _runs(known):
            commits = [commit for _, commit in some]
            refused = _pend(ctx, request, commits, refusal)
            for (position, _), found in zip(some, _codes(commits, refused), strict=True):
                codes[position] += found
            yield _AT_ONCE
    except KafkaError as error:
        code = _called(ctx, error.code)
        for position, (_, _, partitions) in enumerate(known):
            codes[position] = [code] * len(partitions)
            yield 1
    topics = []
    for one, each in zip(known, codes, strict=True):
        topics.append(_told(one, each))
        yield _TOPIC + len(each)
    return _merged(ctx.api_version >= TOPIC_IDS_FROM, answers, topics)


def _runs(known: Iterable[TopicCommit]) -> Iterator[list[tuple[int, TopicCommit]]]:
    """The same in parts, with the place that each had."""
    run: list[tuple[int, TopicCommit]] = []
    weight = 0
    for position, (name, topic_id, partitions) in enumerate(known):
        every = tuple(partitions)
        for at in range(0, len(every), _AT_ONCE):
            some = every[at : at + _AT_ONCE]
            run.append((position, (name, topic_id, some)))
            weight += _TOPIC + len(some)
            if weight >= _AT_ONCE:
                yield run
                run, weight = [], 0
    if run:
        yield run


def _answer(
    answers: _Answers, by_id: bool, name: str, topic_id: bytes, found: Sequence[TxnOffsetCommitResponsePartition]
) -> None:
    """Add to what is answered for a topic."""
    answer = answers.setdefault(topic_id if by_id else name, TxnOffsetCommitResponseTopic(name, topic_id, []))
    assert isinstance(answer.partitions, list)
    answer.partitions += found  # in place: somebody may name the same topic a million times


def _sort_out(ctx: RequestContext, requested: TxnOffsetCommitRequestTopic, answers: _Answers) -> TopicCommit | None:
    """The partitions of a topic that exist, None where there is none; the others are answered."""
    by_id, cluster = ctx.api_version >= TOPIC_IDS_FROM, ctx.state.cluster
    topic = cluster.topic_by_id(requested.topic_id) if by_id else cluster.topic(requested.name)
    count = 0 if topic is None else len(topic.partitions)
    present: list[TxnOffsetCommitRequestPartition] = []
    missing: list[TxnOffsetCommitResponsePartition] = []
    code = ErrorCode.UNKNOWN_TOPIC_ID if topic is None and by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    for one in requested.partitions:
        if 0 <= one.partition_index < count:
            present.append(one)
        else:
            missing.append(TxnOffsetCommitResponsePartition(one.partition_index, code))
    if missing:
        _answer(answers, by_id, requested.name if topic is None else topic.name, requested.topic_id, missing)
    return None if topic is None or not present else (topic.name, topic.topic_id, present)


def _commit(ctx: RequestContext, request: TxnOffsetCommitRequest, known: list[TopicCommit]) -> list[list[ErrorCode]]:
    """Commit partitions that exist; an error code for each."""
    try:
        return _codes(known, _pend(ctx, request, known, ctx.state.refusal))
    except KafkaError as error:
        code = _called(ctx, error.code)
        return [[code] * len(partitions) for _, _, partitions in known]


def _called(ctx: RequestContext, code: ErrorCode) -> ErrorCode:
    """An error as the version knows it."""
    if code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS and ctx.api_version < _KNOWS_LOADING_FROM:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return code


def _codes(known: Sequence[TopicCommit], refused: Refused) -> list[list[ErrorCode]]:
    large = ErrorCode.OFFSET_METADATA_TOO_LARGE
    return [
        [large if (position, i) in refused else ErrorCode.NONE for i in range(len(partitions))]
        for position, (_, _, partitions) in enumerate(known)
    ]


def _pend(
    ctx: RequestContext, request: TxnOffsetCommitRequest, known: list[TopicCommit], refusal: ErrorCode | None
) -> Refused:
    """Make the offsets pending; those whose metadata is too large are given back. KafkaError."""
    if not request.group_id:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID)
    if refusal is not None:
        raise KafkaError(refusal)
    state = ctx.state
    coordinator = coordinator_of(state)
    _join(ctx, request)

    def check_producer() -> None:
        state.offsets_topic.check_producer(request.group_id, request.producer_id, request.producer_epoch)

    turn = coordinator.commit_transactional_offsets(
        request, known, ctx.api_version, check_producer, ctx.broker_ms, ctx.timer_ms
    )
    return state.settle(turn).reply or set()


def _join(ctx: RequestContext, request: TxnOffsetCommitRequest) -> None:
    """See that the group's partition is in the transaction, unless its log knows so. KafkaError."""
    log = ctx.state.offsets_topic.log_of(request.group_id)
    producer = request.producer_id, request.producer_epoch
    if log.has_ongoing(*producer):
        return
    ctx.state.offsets_topic.check_producer(request.group_id, *producer)
    place = CONSUMER_OFFSETS, log.partition
    codes = ctx.state.transactions.join(
        request.transactional_id,
        *producer,
        [place],
        api_key=ApiKey.TXN_OFFSET_COMMIT,
        api_version=ctx.api_version,
        broker_ms=ctx.broker_ms,
        timer_ms=ctx.timer_ms,
    )
    if codes[place]:
        raise KafkaError(codes[place])
