"""AddPartitionsToTxn (key 24), versions 0-5; from 4 on brokers ask, of several transactions at once.

AP-1  The partitions are in the transaction; with the first of them it is open.    KIP-98
AP-2  An epoch that is not the current one: PRODUCER_FENCED, below version 2 INVALID_PRODUCER_EPOCH.    KIP-588
AP-3  An unknown transactional id, or another producer's: INVALID_PRODUCER_ID_MAPPING; an empty one: INVALID_REQUEST.
AP-4  While markers are under way: CONCURRENT_TRANSACTIONS.
AP-5  A topic or partition that does not exist: UNKNOWN_TOPIC_OR_PARTITION, and all others OPERATION_NOT_ATTEMPTED;
      the coordinator is not asked.    Kafka: KafkaApis.handleAddPartitionsToTxnRequest
AP-6  Below version 4 an internal topic, existing or not: TOPIC_AUTHORIZATION_FAILED.
AP-7  From version 4 on a transaction may only be verified: what is in it NONE, else TRANSACTION_ABORTABLE. Nothing is
      added.    KIP-890
AP-8  From version 4 on the transaction is one of a client whose epoch each end raises (transaction version 2).
AP-9  A request that names very much is looked at part by part, others are served between; it is added at once.
Not done: a transactional id that is named twice in a request; Kafka mixes up their partitions. Where none is named,
Kafka never answers; here the answer is empty.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import INTERNAL_TOPICS
from kafkastub.security import Operation
from kafkastub.state.deferred import Steps, in_parts
from kafkastub.state.transactional_ids import existing_coordinator, without_fencing
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kafkawire.messages.add_partitions_to_txn_response import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)
from kafkawire.rows import Rows

if TYPE_CHECKING:
    from kafkastub.transaction_coordinator import TopicPartition

KNOWS_FENCED_FROM = 2
ASKED_BY_BROKERS_FROM = 4
"""From this version on several transactions are named."""
_V1, _V2 = 0, 2
"""Transaction versions; Kafka counts clients below the second as 0."""

_AT_ONCE: Final = 2_000
"""Partitions that are looked at before others have their turn; each topic counts as several."""
_TOPIC: Final = 8
_FEW_ROWS: Final = 16
"""As many are encoded sooner one by one than by columns."""

_Codes = dict[str, dict[int, ErrorCode]]
"""Topic, partition, code."""


def error_response(request: AddPartitionsToTxnRequest, code: ErrorCode, version: int) -> AddPartitionsToTxnResponse:
    """At the top; below version 4 at each partition."""
    if version >= ASKED_BY_BROKERS_FROM:
        return AddPartitionsToTxnResponse(error_code=code)
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_alike(request.v3_and_below_topics, code))


@handles(ApiKey.ADD_PARTITIONS_TO_TXN, 0, 5, error_response=error_response)
def add_partitions_to_txn(ctx: RequestContext, request: AddPartitionsToTxnRequest) -> Outcome:
    by_client = ctx.api_version < ASKED_BY_BROKERS_FROM
    transactions = [_by_client(request)] if by_client else request.transactions
    if _weight(transactions) > _AT_ONCE:

        def failed(code: ErrorCode) -> AddPartitionsToTxnResponse:
            return error_response(request, code, ctx.api_version)

        return in_parts(_in_parts(ctx, transactions, by_client), _AT_ONCE, ctx.state.transactions.turns.add, failed)
    return _answer(by_client, transactions, [_results(ctx, one, by_client) for one in transactions])


def _by_client(request: AddPartitionsToTxnRequest) -> AddPartitionsToTxnTransaction:
    return AddPartitionsToTxnTransaction(
        request.v3_and_below_transactional_id,
        request.v3_and_below_producer_id,
        request.v3_and_below_producer_epoch,
        False,
        request.v3_and_below_topics,
    )


def _answer(
    by_client: bool,
    transactions: Sequence[AddPartitionsToTxnTransaction],
    results: Sequence[list[AddPartitionsToTxnTopicResult]],
) -> AddPartitionsToTxnResponse:
    if by_client:
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results[0])
    each = zip(transactions, results, strict=True)
    return AddPartitionsToTxnResponse(
        results_by_transaction=[AddPartitionsToTxnResult(one.transactional_id, found) for one, found in each]
    )


def _results(
    ctx: RequestContext, transaction: AddPartitionsToTxnTransaction, by_client: bool
) -> list[AddPartitionsToTxnTopicResult]:
    refused = _refused(ctx, transaction.topics, by_client)
    if any(refused.values()):
        untouched: _Codes = {}
        for topic in transaction.topics:
            untouched.setdefault(topic.name, {}).update(
                dict.fromkeys(topic.partitions, ErrorCode.OPERATION_NOT_ATTEMPTED)
            )
        return _each({name: codes | refused[name] for name, codes in untouched.items()})
    try:
        with without_fencing(ctx.api_version < KNOWS_FENCED_FROM):
            if transaction.verify_only:
                return _each(_verified(ctx, transaction))
            _add(ctx, transaction, _V1 if by_client else _V2)
    except KafkaError as error:
        return _alike(transaction.topics, error.code)
    return _alike(transaction.topics, ErrorCode.NONE)


# What names very much.


def _weight(transactions: Sequence[AddPartitionsToTxnTransaction]) -> int:
    """How much a request names."""
    weight = 0
    for one in transactions:
        weight += _TOPIC
        for topic in one.topics:
            weight += _TOPIC + len(topic.partitions)
    return weight


def _in_parts(ctx: RequestContext, transactions: Sequence[AddPartitionsToTxnTransaction], by_client: bool) -> Steps:
    refusal = ctx.state.refusal  # that of this call
    results = []
    for one in transactions:
        results.append((yield from _results_in_parts(ctx, one, by_client, refusal)))
        yield _TOPIC
    return _answer(by_client, transactions, results)


def _results_in_parts(
    ctx: RequestContext, transaction: AddPartitionsToTxnTransaction, by_client: bool, refusal: ErrorCode | None
) -> Generator[int, None, list[AddPartitionsToTxnTopicResult]]:
    """As `_results`. Whatever is named again and again, the coordinator is asked of once."""
    refused: _Codes = {}
    named: dict[str, dict[int, None]] = {}
    for topic in _pieces(transaction.topics):
        for name, found in _refused(ctx, (topic,), by_client).items():
            if found:
                refused.setdefault(name, {}).update(found)
        named.setdefault(topic.name, {}).update(dict.fromkeys(topic.partitions))
        yield _TOPIC + len(topic.partitions)
    if refused:
        return (yield from _untouched(named, refused))
    distinct = [AddPartitionsToTxnTopic(name, list(indexes)) for name, indexes in named.items()]
    code = ErrorCode.NONE
    try:
        if refusal is not None:
            raise KafkaError(refusal)
        once = AddPartitionsToTxnTransaction(
            transaction.transactional_id,
            transaction.producer_id,
            transaction.producer_epoch,
            transaction.verify_only,
            distinct,
        )
        with without_fencing(ctx.api_version < KNOWS_FENCED_FROM):
            if transaction.verify_only:
                return _each(_verified(ctx, once))
            _add(ctx, once, _V1 if by_client else _V2)
    except KafkaError as error:
        code = error.code
    results = []
    for topic in transaction.topics:
        results += _alike((topic,), code)
        yield _TOPIC
    return results


def _pieces(topics: Iterable[AddPartitionsToTxnTopic]) -> Iterator[AddPartitionsToTxnTopic]:
    """The same, with fewer partitions at a time."""
    for topic in topics:
        if len(topic.partitions) <= _AT_ONCE:
            yield topic
        else:
            for at in range(0, len(topic.partitions), _AT_ONCE):
                yield AddPartitionsToTxnTopic(topic.name, topic.partitions[at : at + _AT_ONCE])


def _untouched(
    named: Mapping[str, dict[int, None]], refused: _Codes
) -> Generator[int, None, list[AddPartitionsToTxnTopicResult]]:
    """Some cannot be added: none of the others is."""
    codes: _Codes = {}
    for name, indexes in named.items():
        codes[name] = dict.fromkeys(indexes, ErrorCode.OPERATION_NOT_ATTEMPTED) | refused.get(name, {})
        yield _TOPIC + len(indexes)
    if _is_ordered(codes):
        return _each(codes)
    results = []
    for name, found in codes.items():
        results.append(_result(name, found))
        yield _TOPIC
    return results


def _refused(ctx: RequestContext, topics: Iterable[AddPartitionsToTxnTopic], by_client: bool) -> _Codes:
    """Of each topic the partitions that cannot be in a transaction, or not in this client's."""
    access = None if ctx.state.authorizer is None or not by_client else ctx.access
    refused: _Codes = {}
    for asked in topics:
        if by_client and asked.name in INTERNAL_TOPICS:
            may_write = False
        else:
            may_write = access is None or access.to_topic(Operation.WRITE, asked.name)
        topic = ctx.state.cluster.topic(asked.name)
        codes = refused.setdefault(asked.name, {})
        if not may_write:
            codes.update(dict.fromkeys(asked.partitions, ErrorCode.TOPIC_AUTHORIZATION_FAILED))
        else:
            count = 0 if topic is None else len(topic.partitions)
            for index in asked.partitions:
                if not 0 <= index < count:
                    codes[index] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return refused


def _add(ctx: RequestContext, transaction: AddPartitionsToTxnTransaction, transaction_version: int) -> None:
    if not transaction.transactional_id:
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    coordinator = existing_coordinator(ctx.state)
    turn = coordinator.turn(ctx.broker_ms, ctx.timer_ms)
    coordinator.add_partitions(
        transaction.transactional_id,
        transaction.producer_id,
        transaction.producer_epoch,
        _partitions(transaction.topics),
        transaction_version,
        turn,
    )
    ctx.state.transactions.settle(turn)


def _verified(ctx: RequestContext, transaction: AddPartitionsToTxnTransaction) -> _Codes:
    if not transaction.transactional_id:
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    found = existing_coordinator(ctx.state).verify_partitions(
        transaction.transactional_id,
        transaction.producer_id,
        transaction.producer_epoch,
        _partitions(transaction.topics),
    )
    codes: _Codes = {}
    for (topic, index), code in found.items():
        codes.setdefault(topic, {})[index] = code
    return codes


def _partitions(topics: Iterable[AddPartitionsToTxnTopic]) -> list[TopicPartition]:
    """Each that is there; a request may name one a million times."""
    return [(topic.name, index) for topic in topics for index in dict.fromkeys(topic.partitions)]


def _alike(topics: Iterable[AddPartitionsToTxnTopic], code: ErrorCode) -> list[AddPartitionsToTxnTopicResult]:
    """As it was asked for, each partition with the code."""
    same = {"partition_error_code": code}
    return [
        AddPartitionsToTxnTopicResult(topic.name, _rows({"partition_index": topic.partitions}, same))
        for topic in topics
    ]


def _each(codes: _Codes) -> list[AddPartitionsToTxnTopicResult]:
    """Each partition with its own code, in the order of Kafka's maps, very many as they are."""
    if _is_ordered(codes):
        from kafkastub.transaction_coordinator.records import by_topic

        ordered = by_topic((topic, index) for topic, each in codes.items() for index in each)
        codes = {topic: {index: codes[topic][index] for index in indexes} for topic, indexes in ordered.items()}
    return [_result(topic, each) for topic, each in codes.items()]


def _is_ordered(codes: _Codes) -> bool:
    from kafkastub.transaction_coordinator.records import MOST_ORDERED

    return sum(map(len, codes.values())) <= MOST_ORDERED


def _result(topic: str, codes: Mapping[int, ErrorCode]) -> AddPartitionsToTxnTopicResult:
    columns: dict[str, list[int]] = {"partition_index": list(codes), "partition_error_code": [*codes.values()]}
    return AddPartitionsToTxnTopicResult(topic, _rows(columns, {}))


def _rows(
    columns: Mapping[str, Sequence[int]], constants: Mapping[str, int]
) -> Sequence[AddPartitionsToTxnPartitionResult]:
    found = Rows(AddPartitionsToTxnPartitionResult, len(columns["partition_index"]), columns, constants)
    return found if len(found) > _FEW_ROWS else list(found)
