"""Records, written to any broker and read from it, without a producer or a consumer: for tests that look.

Results are plain data. Errors are BrokerError with the broker's text, or ClientError.
"""

from __future__ import annotations

import time
from typing import Any, Final, NamedTuple

from kafkastub.client.errors import BrokerError, TimedOut
from kafkastub.client.routing import Client, Node
from kafkastub.client.topics import EARLIEST, LATEST, list_offsets
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.records import (
    NewRecord,
    build_batch,
    parse_header,
    read_batch,
    read_marker,
    split_batches,
)
from kafkawire.schema import Message

_NAMED_UPTO: Final = 12
"""The last version of Produce and of Fetch that names topics."""
_MOST_AT_ONCE: Final = 1 << 20
_ELSEWHERE: Final = frozenset(
    {ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.LEADER_NOT_AVAILABLE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
)
_PAUSE: Final = 0.05
COMMITTED, ABORTED, OPEN = "committed", "aborted", "open"
_LOG_APPEND_TIME: Final = 0x08


class Found(NamedTuple):
    """A record as a broker gives it; the attributes are those of `kafkastub.views.records.LogRecord`."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    timestamp_type: str
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    producer_id: int
    producer_epoch: int
    transaction: str | None


def partitions(client: Client, topic: str) -> dict[int, Node | None]:
    """The leader of each partition. Raises BrokerError for a topic that there is not."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
    answer = client.ask(request)
    nodes = {node.node_id: Node(node.node_id, node.host, node.port) for node in answer.brokers}
    (partition_answer,) = answer.topics
    if partition_answer.error_code:
        raise BrokerError(partition_answer.error_code)
    return {one.partition_index: nodes.get(one.leader_id) for one in partition_answer.partitions}


def produce(client: Client, topic: str, partition: int, records: list[NewRecord]) -> tuple[int, int]:
    """Write a batch: (first offset, log append time or -1). Raises BrokerError."""
    data = PartitionProduceData(index=partition, records=build_batch(records))
    request = ProduceRequest(
        acks=-1, timeout_ms=10_000, topic_data=[TopicProduceData(name=topic, partition_data=[data])]
    )

    def partition_answer(answer: Any) -> Any:
        return answer.responses[0].partition_responses[0]

    found = _at_leader(client, topic, partition, request, ApiKey.PRODUCE, partition_answer)
    return found.base_offset, found.log_append_time_ms


def read(
    client: Client,
    topic: str,
    partition: int,
    start: int = 0,
    *,
    committed: bool = False,
    most: int | None = None,
    most_bytes: int | None = None,
) -> list[Found]:
    """What a partition has from an offset on: with `committed`, what a consumer of that isolation gets.

    Once there are `most` records, or `most_bytes` of batches, it ends. Raises BrokerError.
    """
    read_bytes = 0
    place = topic, partition
    start = max(start, list_offsets(client, {place: EARLIEST})[place])
    end = list_offsets(client, {place: LATEST})[place]
    found: list[Found] = []
    stable = end
    for isolation in (1, 0):
        while start < end:
            request = FetchRequest(
                max_wait_ms=0,
                min_bytes=0,
                max_bytes=_MOST_AT_ONCE,
                isolation_level=isolation,
                topics=[
                    FetchTopic(
                        topic=topic,
                        partitions=[
                            FetchPartition(partition=partition, fetch_offset=start, partition_max_bytes=_MOST_AT_ONCE)
                        ],
                    )
                ],
            )
            partition_answer = _at_leader(client, topic, partition, request, ApiKey.FETCH, _of_fetch)
            stable = partition_answer.last_stable_offset
            some, behind = _decoded(topic, partition, start, stable, partition_answer)
            found += some
            if behind == start:
                break
            start = behind
            read_bytes += len(partition_answer.records or b"")
            if (most is not None and len(found) >= most) or (most_bytes is not None and read_bytes >= most_bytes):
                end = start
        if committed:
            return [one for one in found if one.transaction != ABORTED and one.offset < stable]
    return found


def _of_fetch(answer: Any) -> Any:
    return answer.responses[0].partitions[0]


def _decoded(topic: str, partition: int, start: int, stable: int, partition_answer: Any) -> tuple[list[Found], int]:
    """(records, the offset behind them)."""
    records = b"" if partition_answer.records is None else bytes(partition_answer.records)
    aborted = sorted((one.first_offset, one.producer_id) for one in partition_answer.aborted_transactions or ())
    gone: set[int] = set()
    found: list[Found] = []
    behind = start
    for _, batch in split_batches(records):
        header = parse_header(batch)
        while aborted and aborted[0][0] <= header.last_offset:
            gone.add(aborted.pop(0)[1])
        behind = header.last_offset + 1
        if header.control:
            marker = next((read_marker(one) for one in read_batch(batch)), None)
            if marker is not None and not marker.commit:
                gone.discard(header.producer_id)
            continue
        kind = "LogAppendTime" if header.attributes & _LOG_APPEND_TIME else "CreateTime"
        transaction = None
        if header.transactional:
            transaction = ABORTED if header.producer_id in gone else COMMITTED
            if header.base_offset >= stable:
                transaction = OPEN
        for record in read_batch(batch):
            if record.offset >= start:
                headers = tuple((name.decode(errors="backslashreplace"), value) for name, value in record.headers)
                found.append(
                    Found(
                        topic, partition, record.offset, record.timestamp, kind, record.key, record.value, headers,
                        header.producer_id, header.producer_epoch, transaction,
                    )
                )  # fmt: skip
    return found, behind


def _at_leader(client: Client, topic: str, partition: int, request: Message, key: ApiKey, partition_answer: Any) -> Any:
    """What the partition's leader says. Raises BrokerError, TimedOut."""
    deadline = time.monotonic() + client.timeout
    while True:
        leaders = partitions(client, topic)
        if partition not in leaders:
            raise BrokerError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                f"topic {topic!r} has partitions 0 to {len(leaders) - 1}, not {partition}",
            )
        leader = leaders[partition]
        code: int = ErrorCode.LEADER_NOT_AVAILABLE
        text = None
        if leader is not None:
            version = client.connection(leader).common_version(key, _NAMED_UPTO)
            found = partition_answer(client.ask(request, leader, version))
            code, text = found.error_code, getattr(found, "error_message", None)
            if not code:
                return found
        if code not in _ELSEWHERE:
            raise BrokerError(code, text)
        if time.monotonic() + _PAUSE > deadline:
            raise TimedOut(f"{topic}-{partition} has no leader")
        time.sleep(_PAUSE)
