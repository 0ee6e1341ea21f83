"""Reading `__consumer_offsets` of a broker's state without a server, as any client would: Fetch by Fetch."""

from __future__ import annotations

from typing import Any, NamedTuple

from kafkastub.coordinator import OffsetCommit, OffsetTombstone, Record
from kafkastub.state.internal_topics.offsets_codec import coordinator_record
from kafkawire.api import ApiKey
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.offsets_topic import decode_record
from kafkawire.records import BatchHeader, parse_header, read_batch, split_batches
from tests.coordinator.context import CoordinatorTestContext

TOPIC = "__consumer_offsets"


class Batch(NamedTuple):
    """One batch; `records` are (offset, timestamp, record). Those of a control batch are left out."""

    header: BatchHeader
    records: list[tuple[int, int, Record]]


def fetch_request(
    partition: int, offset: int, *, wait_ms: int = 0, limit: int = 1 << 20, **request: Any
) -> FetchRequest:
    wanted = [FetchTopic(TOPIC, partitions=[FetchPartition(partition, -1, offset, partition_max_bytes=limit)])]
    settings = {"min_bytes": 1, "max_bytes": 1 << 26, **request}
    return FetchRequest(max_wait_ms=wait_ms, topics=wanted, **settings)


def fetched(context: CoordinatorTestContext, partition: int, offset: int, **request: Any) -> Any:
    """One partition's answer."""
    return context.call(ApiKey.FETCH, 11, fetch_request(partition, offset, **request)).responses[0].partitions[0]


def list_offset(context: CoordinatorTestContext, partition: int, timestamp: int) -> tuple[int, int]:
    """(timestamp, offset) that ListOffsets answers."""
    request = ListOffsetsRequest(-1, 0, [ListOffsetsTopic(TOPIC, [ListOffsetsPartition(partition, -1, timestamp)])])
    answer = context.call(ApiKey.LIST_OFFSETS, 7, request).topics[0].partitions[0]
    assert answer.error_code == 0
    return answer.timestamp, answer.offset


def batches(context: CoordinatorTestContext, partition: int = 0, limit: int = 1 << 20) -> list[Batch]:
    """All batches of a partition, read from the beginning with a limit to each fetch."""
    offset, (_, end) = list_offset(context, partition, -2)[1], list_offset(context, partition, -1)
    found = []
    while offset < end:
        answer = fetched(context, partition, offset, limit=limit)
        assert answer.error_code == 0
        assert answer.high_watermark == end >= answer.last_stable_offset
        before = offset
        for _, batch in split_batches(answer.records):
            header = parse_header(batch)
            records = []
            for record in read_batch(bytes(batch)) if not header.control else ():
                meant = coordinator_record(decode_record(record.key, record.value))
                assert meant is not None
                records.append((record.offset, record.timestamp, meant))
            offset = header.last_offset + 1
            found.append(Batch(header, records))
        assert offset > before, "a reader would stand still"
    return found


def records(context: CoordinatorTestContext, partition: int = 0, limit: int = 1 << 20) -> list[tuple[int, Any]]:
    """(offset, record in short) of a partition."""
    return [(at, short(record)) for batch in batches(context, partition, limit) for at, _, record in batch.records]


def short(record: Record) -> Any:
    """A record as a test writes it down."""
    if isinstance(record, OffsetCommit):
        ((partition, value),) = record.each()
        return record.group_id, record.topic, partition, value.offset
    if isinstance(record, OffsetTombstone):
        return record.group_id, record.topic, record.partition, None
    return record
