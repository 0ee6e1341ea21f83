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

from collections.abc import Iterable

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.transactions.markers import Marker, TopicPartition, write_marker
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

_Found = dict[int, dict[TopicPartition, ErrorCode]]


def error_response(request: WriteTxnMarkersRequest, code: ErrorCode, version: int) -> WriteTxnMarkersResponse:
    """The code at every partition of every producer."""
    found: _Found = {}
    for marker in request.markers:
        if marker.topics:
            found.setdefault(marker.producer_id, {}).update(dict.fromkeys(_partitions(marker), code))
    return _answer(found)


@handles(ApiKey.WRITE_TXN_MARKERS, 1, 2, error_response=error_response)
def write_txn_markers(ctx: RequestContext, request: WriteTxnMarkersRequest) -> Outcome:
    found: _Found = {}
    for one in request.markers:
        if one.topics and (one.producer_id < 0 or one.producer_epoch < 0):
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        marker = Marker(
            one.producer_id,
            one.producer_epoch,
            one.transaction_result,
            tuple(dict.fromkeys(_partitions(one))),
            one.coordinator_epoch,
            one.transaction_version,
        )
        answers = sorted(write_marker(ctx.state, marker, ctx.broker_ms, node_id=ctx.node_id), key=_comes_late)
        if answers:
            found.setdefault(one.producer_id, {}).update(answers)
    return _answer(found)


def _partitions(marker: WritableTxnMarker) -> Iterable[TopicPartition]:
    return ((topic.name, index) for topic in marker.topics for index in topic.partition_indexes)


def _comes_late(answer: tuple[TopicPartition, ErrorCode]) -> bool:
    """Kafka knows first what it does not have."""
    return answer[1] != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _answer(found: _Found) -> WriteTxnMarkersResponse:
    producers = hash_map_order(((one ^ one >> 32) & 0xFFFFFFFF, one) for one in found)
    return WriteTxnMarkersResponse(markers=[WritableTxnMarkerResult(one, _topics(found[one])) for one in producers])


def _topics(codes: dict[TopicPartition, ErrorCode]) -> list[WritableTxnMarkerTopicResult]:
    hashes = {name: string_hash(name) for name, _ in codes}
    ordered = hash_map_order(((31 * (31 + one[1]) + hashes[one[0]]) & 0xFFFFFFFF, one) for one in codes)
    by_topic: dict[str, list[WritableTxnMarkerPartitionResult]] = {}
    for name, index in ordered:
        by_topic.setdefault(name, []).append(WritableTxnMarkerPartitionResult(index, codes[name, index]))
    return [WritableTxnMarkerTopicResult(name, by_topic[name]) for name in string_map_order(by_topic)]
