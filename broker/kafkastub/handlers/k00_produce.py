"""Produce (key 0), versions 3-13; 0-2 are advertised for old clients' sake, and close the connection (KAFKA-18659).

PR-1   A batch is stored as it came; base offset and leader epoch are written into its header.    KIP-98
PR-2   The answer has the first record's offset, log append time -1 (CreateTime) and, from version 5 on, the log
       start offset.    KIP-98, KIP-107
PR-3   acks=0 is never answered; an error closes the connection instead.    KafkaApis.handleProduceRequest
PR-4   acks other than -1, 0 and 1: INVALID_REQUIRED_ACKS for every partition that could be written.    ReplicaManager
PR-5   An unknown topic or partition: UNKNOWN_TOPIC_OR_PARTITION; an unknown topic id (version 13): UNKNOWN_TOPIC_ID.
PR-6   An internal topic: INVALID_TOPIC_EXCEPTION, except for the client id `__admin_client`.    ReplicaManager
PR-7   No batch, a torn one, several, or one of magic 0 or 1: INVALID_RECORD, without log start offset. Torn bytes
       after one whole batch are ignored.    ProduceRequest.validateRecords
PR-8   A first batch of impossible length or magic, or one too short to tell its producer, fails the whole request:
       CORRUPT_MESSAGE with a text, UNKNOWN_SERVER_ERROR without.    RequestUtils.hasTransactionalRecords
PR-9   A wrong CRC, or a batch smaller than its header: CORRUPT_MESSAGE.    UnifiedLog.analyzeAndValidateRecords
PR-10  A batch over max.message.bytes: MESSAGE_TOO_LARGE; over segment.bytes: RECORD_LIST_TOO_LARGE.
PR-11  A base offset other than 0, counts that disagree, control batches, producer ids without sequence and payloads
       that are not the declared records: INVALID_RECORD with the log start offset.    LogValidator
PR-12  Keyless records on a compacted topic: INVALID_RECORD naming each record (version 8).    KIP-467
PR-13  Timestamps out of message.timestamp.before/after.max.ms, measured on the wall clock, and LogAppendTime set by a
       client on such a topic: INVALID_TIMESTAMP naming each record.    KIP-467, KIP-937
PR-32  Where broker time was moved, the bounds go from the earlier of both clocks to the later one: who reads what was
       stamped with broker time writes with that timestamp, as Kafka Streams does. Kafka has one clock.
PR-14  message.timestamp.type=LogAppendTime: the broker's time in batch and answer.    KIP-32
PR-15  CreateTime: a max timestamp that is not its records' is put right (and the CRC with it).    LogValidator
PR-16  Compressed batches pass untouched, any codec. They are unpacked only for a compacted topic, for timestamps that
       may be out of bounds, for a client's LogAppendTime and for a topic's own compression.type; an unknown codec then
       or always is UNKNOWN_SERVER_ERROR, zstd below version 7 UNSUPPORTED_COMPRESSION_TYPE.    KIP-110
PR-26  A compressed batch with a record over max.decompressed.message.bytes: INVALID_RECORD without a text. By
       itself there is no limit, and the batch not unpacked for it.                    Kafka: DefaultRecord.readFrom
PR-17  Idempotent producers: one of the last five batches again is answered with its first offset (and its timestamp as
       log append time); a gap OUT_OF_ORDER_SEQUENCE_NUMBER; an old epoch INVALID_PRODUCER_EPOCH; a new epoch begins at
       sequence 0; an unknown producer id anywhere, and one that has not written for producer.id.expiration.ms (of
       broker time; in Kafka of its records' time) is unknown.    KIP-98, KIP-360
PR-18  Transactional batches without transactional id: TRANSACTIONAL_ID_AUTHORIZATION_FAILED for the whole request; of
       several producers: INVALID_PRODUCER_ID_MAPPING, for all of it too.    KafkaApis, ReplicaManager
PR-27  The first batch of a transaction in a partition asks the coordinator: up to version 11 whether the partition was
       added (not, if transaction.partition.verification.enable is off), from version 12 on the partition joins. What
       it refuses is refused with its code: INVALID_PRODUCER_ID_MAPPING, INVALID_PRODUCER_EPOCH, INVALID_TXN_STATE with
       a text (version 11: TRANSACTION_ABORTABLE). One that cannot answer: NOT_ENOUGH_REPLICAS with a text; and
       CONCURRENT_TRANSACTIONS, from version 12 on as it is.    KIP-890; ReplicaManager.handleProduceAppend
PR-31  From version 12 on, while the transaction before it is being ended, a batch waits for its last marker, for as
       long as add.partitions.to.txn.retry.backoff.max.ms; then it is CONCURRENT_TRANSACTIONS. With acks=0 it waits for
       nothing.    ReplicaManager.handleProduceAppend, maybeRetryOnConcurrentTransactions
PR-28  A transaction begins with its first batch and ends with its marker; until then its producer's other batches there
       must be transactional too: INVALID_TXN_STATE.    ProducerAppendInfo.appendDataBatch
PR-29  A batch behind one that was not verified: OUT_OF_ORDER_SEQUENCE_NUMBER, until that one was written; and from
       version 12 on any first sequence but 0 of a producer whose transactions are unknown.    KIP-890;
       Kafka: VerificationStateEntry, ProducerAppendInfo.checkSequence
PR-30  A producer with an open transaction does not expire.    ProducerStateManager.isProducerExpired
PR-19  A topic named twice is answered once, with all its partitions; of a partition named twice the last mention is
       written, or the last one that may be; the answer tells why another was refused.    KafkaApis
PR-20  From version 10 on, NOT_LEADER_OR_FOLLOWER comes with the leader's id, epoch and endpoint.    KIP-951
PR-21  compression.type of the topic other than producer: the batch is recompressed.    LogValidator
PR-22  An append wakes fetches that wait for it, when all of the request is appended.
PR-23  With acks=-1 and fewer replicas in sync than min.insync.replicas (or than there are, if these are fewer):
       NOT_ENOUGH_REPLICAS.    Partition.appendRecordsToLeader
PR-24  Under a producer_byte_rate: throttle_time_ms by the sizes of requests, and the connection waits for so long; with
       acks=0, which is not answered, too.    ClientQuotaManager, KIP-219
PR-25  Compressed batches of one request that have to be unpacked may hold 32 MB and 250,000 records together:
       MESSAGE_TOO_LARGE with a text, on which producers split a batch. Kafka has no such limit.
PR-33  An answer names 10,000 bad records at most, all its batches together, and the first one of each; Kafka names
       them all. Between the partitions of a large request others are served.
Not done: Kafka unpacks every compressed batch; here one that nothing needs unpacked is taken as its header says: a
payload that does not unpack (UNKNOWN_SERVER_ERROR there) or holds other records than declared (INVALID_RECORD) is
accepted, and a wrong max timestamp is not put right, which ListOffsets by time then goes by.
Null records are taken for an empty field (Kafka never answers them).
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import NamedTuple

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import CLOSE, NO_REPLY, Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import Topic
from kafkastub.state.deferred import in_parts
from kafkastub.state.in_sync import check_in_sync
from kafkastub.state.pace import paced
from kafkastub.state.partitions import leader_hint, led_log, partition_of
from kafkastub.state.transactional_appends import Place, refused_appends
from kafkastub.state.transactional_retries import StillEnding, may_wait, once_ended
from kafkastub.steps import at_once
from kafkastub.storage import AppendError, PartitionLog, TooMuchToUnpack, Unpacking
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.produce_request import ProduceRequest, TopicProduceData
from kafkawire.messages.produce_response import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from kafkawire.records import HEADER_SIZE, MAGIC, Compression, parse_header, sole_batch, split_batches

TOPIC_IDS_FROM = 13
LEADER_HINTS_FROM = 10
ZSTD_FROM = 7
NO_OFFSET = -1
_LARGE = 1 << 20
"""Bytes of records in a request of which parts are made: many small ones take 50 ms."""
_AT_ONCE = 1 << 17
"""Bytes of records that are appended before others have their turn: those of a thousand small records, or 130 large."""
ADMIN_CLIENT_ID = "__admin_client"
_TRANSACTIONAL = 0x10
_UP_TO_PRODUCER_ID = 51


class _Asked(NamedTuple):
    """One partition of the request, with its topic where that exists."""

    name: str
    topic_id: bytes
    topic: Topic | None
    partition: int
    records: bytes
    batch: memoryview
    """The first whole batch in `records`."""
    fault: KafkaError | None
    """Why `records` is not one batch of this format."""


def error_response(request: ProduceRequest, code: ErrorCode, version: int) -> ProduceResponse:
    """The same code for every partition."""
    return whole_error(request, code, None)


# What producers send every day goes the fast path, and never comes here: see `layers.fast_paths`.
@handles(ApiKey.PRODUCE, 3, 13, error_response=error_response, advertised_first=0)
def produce(ctx: RequestContext, request: ProduceRequest) -> Outcome:
    if request.acks != 0 and request.transactional_id is None and _is_large(ctx, request):
        whole = partial(error_response, request, version=ctx.api_version)
        return in_parts(_tried(ctx, request, last=True), _AT_ONCE, ctx.state.turns.add, whole)
    try:
        response = at_once(_tried(ctx, request, last=request.acks == 0))
    except StillEnding:
        assert request.transactional_id is not None
        again = _tried(ctx, request, last=True)
        return once_ended(ctx.state, request.transactional_id, ctx.timer_ms, partial(at_once, again))
    if request.acks != 0:
        return response
    failed = any(partition.error_code for topic in response.responses for partition in topic.partition_responses)
    return CLOSE if failed else NO_REPLY


def _is_large(ctx: RequestContext, request: ProduceRequest) -> bool:
    """Whether others have their turn between its partitions; not in a transaction, which might be over by then."""
    size = count = 0
    for topic in paced(request.topic_data, ctx.pace):
        for one in paced(topic.partition_data, ctx.pace):
            size += len(one.records or b"")
            count += 1
            if count > 1 and size > _LARGE:
                return True
    return False


def _tried(ctx: RequestContext, request: ProduceRequest, *, last: bool) -> Generator[int, None, ProduceResponse]:
    """The answer; StillEnding where it is not the last try. Gives the size of each partition's records."""
    try:
        return (yield from _produced(ctx, request, last))
    except KafkaError as refused:
        return whole_error(request, refused.code, refused.message)


def _produced(ctx: RequestContext, request: ProduceRequest, last: bool) -> Generator[int, None, ProduceResponse]:
    """Append partition by partition; gives the size of each. KafkaError for what fails the request as a whole;
    StillEnding.
    """
    judged: dict[tuple[str, bytes, int], tuple[_Asked | None, KafkaError | None]] = {}
    for one in paced(_asked(ctx, request), ctx.pace):
        place = one.name, one.topic_id, one.partition
        refusal = _refuse(ctx, one)
        if refusal is None and len(one.batch) < _UP_TO_PRODUCER_ID:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        written, refused = judged.get(place, (None, None))
        judged[place] = (one, refused) if refusal is None else (written, refusal)
    not_joined: dict[Place, KafkaError] = {}
    if request.transactional_id is not None:
        not_joined = _join(ctx, request.transactional_id, [one for one, _ in judged.values() if one is not None])
        if not_joined and not last and _is_still_ending(ctx, not_joined):
            raise StillEnding
    grown: list[tuple[bytes, int]] = []
    try:
        return (yield from _written(ctx, request, judged, not_joined, grown))
    finally:  # whoever waits for several of these partitions is given what all of them have
        ctx.state.fetch_purgatory.happened(grown)


def _written(
    ctx: RequestContext,
    request: ProduceRequest,
    judged: dict[tuple[str, bytes, int], tuple[_Asked | None, KafkaError | None]],
    not_joined: dict[Place, KafkaError],
    grown: list[tuple[bytes, int]],
) -> Generator[int, None, ProduceResponse]:
    """Append what may be; `grown` has topic ids and partitions of that then. Gives the size of each."""
    answers: list[TopicProduceResponse] = []
    endpoints: dict[int, NodeEndpoint] = {}
    whose: tuple[str, bytes] | None = None
    unpacking = Unpacking()
    written: dict[tuple[str, bytes, int], PartitionProduceResponse] = {}
    if request.transactional_id is not None:  # whom a transaction has taken in writes at once: it might be over later
        for place, (accepted, _) in judged.items():
            if accepted is not None and not _is_not_joined(accepted, not_joined):
                written[place] = _append(ctx, accepted, request, unpacking, grown)
    for (name, topic_id, index), (accepted, refusal) in paced(judged.items(), ctx.pace):
        if whose != (name, topic_id):
            whose = name, topic_id
            partitions: list[PartitionProduceResponse] = []
            answers.append(TopicProduceResponse(name, topic_id, partitions))
        if accepted is not None:
            not_now = _is_not_joined(accepted, not_joined)
            if not_now is not None:
                answer = _error(index, not_now)
            elif request.transactional_id is None:
                answer = _append(ctx, accepted, request, unpacking, grown)
            else:
                answer = written[name, topic_id, index]
            if ctx.api_version >= LEADER_HINTS_FROM and answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
                _add_leader_hint(ctx, accepted, answer, endpoints)
        if refusal is not None:
            answer = _error(index, refusal)
        partitions.append(answer)
        yield 1 if accepted is None else len(accepted.records)
    return ProduceResponse(responses=answers, node_endpoints=list(endpoints.values()))


def _is_not_joined(accepted: _Asked, not_joined: dict[Place, KafkaError]) -> KafkaError | None:
    """Why it is not in the transaction; None where it is, or where there is none."""
    assert accepted.topic is not None
    return not_joined.get((accepted.topic.name, accepted.partition)) if not_joined else None


def _asked(ctx: RequestContext, request: ProduceRequest) -> list[_Asked]:
    """Every mention of a partition, topic by topic.

    KafkaError for a first batch that can't be read, or is transactional by nobody's id: Kafka looks for transactional
    records before anything else, and all partitions suffer where it can't.
    """
    cluster = ctx.state.cluster
    by_id = ctx.api_version >= TOPIC_IDS_FROM
    topics: dict[tuple[str, bytes], list[TopicProduceData]] = {}
    for data in paced(request.topic_data, ctx.pace):
        topics.setdefault((data.name, data.topic_id), []).append(data)
    asked = []
    for (name, topic_id), mentions in paced(topics.items(), ctx.pace):
        topic = cluster.topic_by_id(topic_id) if by_id else cluster.topic(name)
        for data in mentions:
            for one in paced(data.partition_data, ctx.pace):
                records = one.records or b""
                batch, fault = _inspect(records)
                if request.transactional_id is None and _is_transactions(batch):
                    raise KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
                asked.append(_Asked(name, topic_id, topic, one.index, records, batch, fault))
    return asked


def is_transactional(records: bytes) -> bool:
    """Whether the first batch is a transaction's. KafkaError where it can't be read.

    Kafka asks so for each partition in turn before it asks who may write there (RequestUtils.hasTransactionalRecords).
    """
    return _is_transactions(_inspect(records)[0])


def _is_transactions(batch: memoryview) -> bool:
    return len(batch) > 22 and batch[16] == MAGIC and bool(batch[22] & _TRANSACTIONAL)


def _inspect(records: bytes) -> tuple[memoryview, KafkaError | None]:
    """The one batch, and what is wrong with there being none, several, or another format (validateRecords).

    KafkaError where already the first one is corrupt.
    """
    first = sole_batch(records)
    if first is not None:
        return first, None
    fault: KafkaError | None = None
    try:
        for magic, batch in split_batches(records):
            if first is not None or magic != MAGIC:
                fault = KafkaError(ErrorCode.INVALID_RECORD)
            first = batch if first is None else first
    except KafkaError as error:
        if first is None:
            raise
        fault = KafkaError(error.code)
    if first is None:
        return memoryview(b""), KafkaError(ErrorCode.INVALID_RECORD)
    return first, fault


def _refuse(ctx: RequestContext, one: _Asked) -> KafkaError | None:
    """What is refused before any log is asked (KafkaApis, ProduceRequest.validateRecords).

    Before zstd was known, its check trips over a codec that does not exist, and the whole request fails: KafkaError.
    """
    if one.topic is None and ctx.api_version >= TOPIC_IDS_FROM:
        return KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
    try:
        partition_of(one.topic, one.partition)
    except KafkaError as error:
        return error
    # Of several batches the first is looked at before it is seen that there are more.
    readable = one.fault is None or (len(one.batch) > 22 and one.batch[16] == MAGIC)
    if readable and ctx.api_version < ZSTD_FROM and one.batch[22] & 7 >= Compression.ZSTD:
        if one.batch[22] & 7 > Compression.ZSTD:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        return KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
    return one.fault


def _append(
    ctx: RequestContext, one: _Asked, request: ProduceRequest, unpacking: Unpacking, grown: list[tuple[bytes, int]]
) -> PartitionProduceResponse:
    log: PartitionLog | None = None
    try:
        if request.acks not in (-1, 0, 1):
            raise KafkaError(ErrorCode.INVALID_REQUIRED_ACKS)
        topic = one.topic
        assert topic is not None
        if topic.internal and ctx.client_id != ADMIN_CLIENT_ID:
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION)
        if ctx.state.cluster.topic_by_id(topic.topic_id) is not topic:  # it was deleted between two parts
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        log = led_log(ctx.state, ctx.node_id, topic, one.partition)
        state, partition = ctx.state, topic.partitions[one.partition]
        if request.acks == -1 and len(partition.isr) < len(partition.replicas):
            check_in_sync(state.config, topic, partition)
        appended = state.logs.append(
            log,
            one.records,
            leader_epoch=topic.partitions[one.partition].leader_epoch,
            now_ms=ctx.broker_ms,
            unpacking=unpacking,
        )
    except AppendError as refused:
        assert log is not None
        ctx.state.log.debug(
            "append refused", partition=log.name, error=refused.code.name, why=refused.message, client_id=ctx.client_id
        )
        return _refused(one.partition, log, refused)
    except KafkaError as refused:
        return _error(one.partition, refused)
    if not appended.duplicate:
        grown.append((topic.topic_id, one.partition))
    return PartitionProduceResponse(
        index=one.partition,
        base_offset=appended.first_offset,
        log_append_time_ms=appended.log_append_time_ms,
        log_start_offset=appended.log_start_offset,
    )


def _join(ctx: RequestContext, transactional_id: str, accepted: list[_Asked]) -> dict[Place, KafkaError]:
    """What the transaction does not take. KafkaError where that fails the request as a whole."""
    batches = {
        (one.topic.name, one.partition): (one.topic, parse_header(one.batch))
        for one in accepted
        if one.topic is not None and len(one.batch) >= HEADER_SIZE
    }
    return refused_appends(
        ctx.state, ctx.node_id, ctx.api_version, transactional_id, batches, ctx.broker_ms, ctx.timer_ms
    )


def _is_still_ending(ctx: RequestContext, not_joined: dict[Place, KafkaError]) -> bool:
    concurrent = any(error.code == ErrorCode.CONCURRENT_TRANSACTIONS for error in not_joined.values())
    return concurrent and may_wait(ctx.state)


def _error(index: int, error: KafkaError) -> PartitionProduceResponse:
    return PartitionProduceResponse(
        index=index, error_code=error.code, base_offset=NO_OFFSET, error_message=error.message
    )


def _refused(index: int, log: PartitionLog, error: AppendError) -> PartitionProduceResponse:
    """A log's refusal; its text is for the client only where it names records."""
    return PartitionProduceResponse(
        index=index,
        error_code=error.code,
        base_offset=NO_OFFSET,
        log_start_offset=log.log_start_offset if error.tells_log_start else NO_OFFSET,
        record_errors=[
            BatchIndexAndErrorMessage(batch_index=one.batch_index, batch_index_error_message=one.message)
            for one in error.record_errors
        ],
        error_message=error.message if error.record_errors or isinstance(error, TooMuchToUnpack) else None,
    )


def _add_leader_hint(
    ctx: RequestContext, one: _Asked, answer: PartitionProduceResponse, endpoints: dict[int, NodeEndpoint]
) -> None:
    leader, epoch, node = leader_hint(ctx.state, ctx.listener, one.topic, one.partition)
    answer.current_leader = LeaderIdAndEpoch(leader_id=leader, leader_epoch=epoch)
    if node is not None:
        endpoints[leader] = NodeEndpoint(node_id=leader, host=node.host, port=node.port, rack=node.rack)


def whole_error(request: ProduceRequest, code: ErrorCode, message: str | None) -> ProduceResponse:
    """The same for every partition."""
    error = KafkaError(code, message)
    topics: dict[tuple[str, bytes], dict[int, PartitionProduceResponse]] = {}
    for topic in request.topic_data:
        answered = topics.setdefault((topic.name, topic.topic_id), {})
        answered.update((partition.index, _error(partition.index, error)) for partition in topic.partition_data)
    return ProduceResponse(
        responses=[
            TopicProduceResponse(name=name, topic_id=topic_id, partition_responses=list(answered.values()))
            for (name, topic_id), answered in topics.items()
        ]
    )
