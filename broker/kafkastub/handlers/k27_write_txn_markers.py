"""WriteTxnMarkers (key 27), versions 1-2.

WM-1  A marker of each producer is written into each partition that the asked node leads: it ends the producer's
      transaction there, or stands for itself.    KIP-98
WM-2  In `__consumer_offsets` the producer's pending offsets are committed, or gone.
      Kafka: GroupCoordinatorService.completeTransaction
WM-3  UNKNOWN_TOPIC_OR_PARTITION for what is not there or led by another node; its neighbours are served.
      Kafka: ReplicaManager.onlinePartition
WM-4  INVALID_PRODUCER_EPOCH for an epoch below the producer's, with transaction version 2 (which version 2 of the
      request can tell) for the same one too; TRANSACTION_COORDINATOR_FENCED for a coordinator epoch below the last
      marker's.    Kafka: ProducerAppendInfo.checkProducerEpoch, appendEndTxnMarker; KIP-1228
WM-5  The answer has each producer id once, whatever its markers were; one without partitions is not in it.
      Kafka: WriteTxnMarkersResponse
WM-6  A negative producer id or epoch: UNKNOWN_SERVER_ERROR at everything that is asked.
      Kafka: MemoryRecords.withEndTransactionMarker
Not done: markers in __transaction_state and __share_group_state, where Kafka takes them and nobody reads them:
UNSUPPORTED_FOR_MESSAGE_FORMAT. Kafka never answers a request that names a partition twice.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from itertools import repeat
from typing import Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.deferred import Steps, in_parts
from kafkastub.state.transaction_coordinator.markers import TopicPartition, write_marker
from kafkastub.storage import Marker
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.java_order import hash_map_order, string_hash, string_map_order
from kafkawire.messages.write_txn_markers_request import WritableTxnMarker, WriteTxnMarkersRequest
from kafkawire.messages.write_txn_markers_response import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)

_Answers = tuple[tuple[TopicPartition, ErrorCode], ...]
_AT_ONCE: Final = 200
"""Partitions, each marker counting as one more, that are written to before others have their turn."""
_MOST_ORDERED: Final = 1000
"""Nobody looks at the order of more, and their hashes take long."""
_ANSWERS_FOR_ONE: Final = 10
"""So many are told in the time that one takes to be written."""


class _Found:
    """What became of the partitions, by producer; of very many producers most are answered alike."""

    def __init__(self) -> None:
        self.producers: dict[int, _Answers | dict[TopicPartition, ErrorCode]] = {}
        self._alike: dict[_Answers, _Answers] = {}

    def add(self, producer_id: int, answers: _Answers) -> None:
        """Behind those that are there; the last one counts."""
        known = self.producers.get(producer_id)
        if known is None:
            self.producers[producer_id] = self._alike.setdefault(answers, answers) if len(answers) == 1 else answers
            return
        if isinstance(known, tuple):
            known = self.producers[producer_id] = dict(known)
        known.update(answers)


def error_response(request: WriteTxnMarkersRequest, code: ErrorCode, version: int) -> WriteTxnMarkersResponse:
    """The code at every partition of every producer."""
    found = _Found()
    for marker in request.markers:
        if marker.topics:
            found.add(marker.producer_id, tuple(zip(dict.fromkeys(_partitions(marker)), repeat(code))))
    steps = _answer(found)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


@handles(ApiKey.WRITE_TXN_MARKERS, 1, 2, error_response=error_response)
def write_txn_markers(ctx: RequestContext, request: WriteTxnMarkersRequest) -> Outcome:
    def failed(code: ErrorCode) -> WriteTxnMarkersResponse:
        return error_response(request, code, ctx.api_version)

    return in_parts(_written(ctx, request), _AT_ONCE, ctx.state.transactions.turns.add, failed)


def _written(ctx: RequestContext, request: WriteTxnMarkersRequest) -> Steps:
    """Write, partition by partition. KafkaError."""
    found = _Found()
    for one in request.markers:
        if one.topics and (one.producer_id < 0 or one.producer_epoch < 0):
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        partitions: dict[TopicPartition, None] = {}
        for place in _partitions(one):
            partitions[place] = None
            if len(partitions) % _ANSWERS_FOR_ONE == 0:
                yield 1
        marker = Marker(
            one.producer_id,
            one.producer_epoch,
            one.transaction_result,
            one.coordinator_epoch,
            one.transaction_version,
        )
        answers: list[tuple[TopicPartition, ErrorCode]] = []
        unknown: list[tuple[TopicPartition, ErrorCode]] = []  # Kafka knows first what it does not have
        for answer in write_marker(ctx.state, marker, partitions, ctx.broker_ms, node_id=ctx.node_id):
            (unknown if answer[1] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION else answers).append(answer)
            yield 1
        if unknown or answers:
            found.add(one.producer_id, (*unknown, *answers))
        yield 1
    return (yield from _answer(found))


def _partitions(marker: WritableTxnMarker) -> Iterable[TopicPartition]:
    return ((topic.name, index) for topic in marker.topics for index in topic.partition_indexes)


def _answer(found: _Found) -> Steps:
    producers: Iterable[int] = found.producers
    if len(found.producers) <= _MOST_ORDERED:
        producers = hash_map_order(((one ^ one >> 32) & 0xFFFFFFFF, one) for one in found.producers)
    alike: dict[int, list[WritableTxnMarkerTopicResult]] = {}
    markers = []
    for one in producers:
        answers = found.producers[one]
        topics = alike.get(id(answers))
        if topics is None:
            topics = yield from _topics(answers if isinstance(answers, dict) else dict(answers))
            alike[id(answers)] = topics
        markers.append(WritableTxnMarkerResult(one, topics))
        if len(markers) % _ANSWERS_FOR_ONE == 0:
            yield 1
    return WriteTxnMarkersResponse(markers=markers)


def _topics(
    codes: Mapping[TopicPartition, ErrorCode],
) -> Generator[int, None, list[WritableTxnMarkerTopicResult]]:
    ordered: Iterable[TopicPartition] = codes
    few = len(codes) <= _MOST_ORDERED
    if few:
        hashes = {name: string_hash(name) for name, _ in codes}
        ordered = hash_map_order(((31 * (31 + one[1]) + hashes[one[0]]) & 0xFFFFFFFF, one) for one in codes)
    by_topic: dict[str, list[WritableTxnMarkerPartitionResult]] = {}
    for at, (name, index) in enumerate(ordered):
        if at % _ANSWERS_FOR_ONE == 0:
            yield 1
        by_topic.setdefault(name, []).append(WritableTxnMarkerPartitionResult(index, codes[name, index]))
    names = string_map_order(by_topic) if few else by_topic
    return [WritableTxnMarkerTopicResult(name, by_topic[name]) for name in names]
