"""Markers: control batches that end a producer's transaction in a partition (WriteTxnMarkers).

Kafka: KafkaApis.handleWriteTxnMarkersRequest.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkastub.state.transactions.whole import Whole
from kafkawire.errors import ErrorCode


class Marker(NamedTuple):
    """The end of one producer's transaction in some partitions.

    Attributes:
        partitions: (topic, partition); those of `__consumer_offsets` too.
    """

    producer_id: int
    producer_epoch: int
    commit: bool
    partitions: tuple[tuple[str, int], ...]
    coordinator_epoch: int
    transaction_version: int


def write_marker(
    state: Whole, marker: Marker, broker_ms: int, timer_ms: int, *, node_id: int | None = None
) -> dict[tuple[str, int], ErrorCode]:
    """Write a marker into its partitions: user topics' logs, and `__consumer_offsets` with its pending offsets.

    With a `node_id`, only into what that node leads. Returns an error code a partition, in order:
    UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER, INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED,
    KAFKA_STORAGE_ERROR, UNSUPPORTED_FOR_MESSAGE_FORMAT.
    """
    raise NotImplementedError
