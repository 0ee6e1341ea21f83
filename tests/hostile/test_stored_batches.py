"""Batches that were taken as they came, and are looked into later: by whoever asks for a time, or when a topic is
compacted. A little of them stands for a lot.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.fetch_response import FetchResponse
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.list_offsets_response import ListOffsetsResponse
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.produce_response import ProduceResponse
from kafkawire.records import HEADER_SIZE, NewRecord, build_batch, compress, compute_crc, parse_header
from tests.hostile.prober import LONGEST_MS, probing
from tests.hostile.test_hostile import linux, memory_mb
from tests.hostile.test_unpacked import alter
from tests.hostile.waits import shortest_wait
from tests.process.serving import Serving
from tests.rawclient import RawClient

T0 = 1_700_000_000_000
FLAT_MB = 300
"""One batch, of 256 MB at most, and little else."""


def many_records(count: int, codec: int = 4) -> bytes:
    """A batch of records without key and value, all of them of T0, that says it has later ones."""
    whole = build_batch([NewRecord(None, None, T0)], compression=0)
    header = parse_header(whole)
    packed = compress(codec, whole[HEADER_SIZE:] * count)
    header = header._replace(
        length=HEADER_SIZE - 12 + len(packed),
        attributes=codec,
        last_offset_delta=count - 1,
        record_count=count,
        max_timestamp=T0 + 1000,
    )
    header = header._replace(crc=compute_crc(header.encode() + packed))
    return header.encode() + packed


def one_record(size: int, codec: int = 4) -> bytes:
    """A batch of one large record of T0, that says it has a later one."""
    whole = build_batch([NewRecord(b"k", bytes(size), T0)], compression=codec)
    header = parse_header(whole)._replace(max_timestamp=T0 + 1000)
    header = header._replace(crc=compute_crc(header.encode() + whole[HEADER_SIZE:]))
    return header.encode() + whole[HEADER_SIZE:]


def produce(client: RawClient, batch: bytes, times: int, topic: str = "orders") -> None:
    request = ProduceRequest(None, -1, 1000, [TopicProduceData(topic, partition_data=[PartitionProduceData(0, batch)])])
    for _ in range(times):
        answer = decode(ProduceResponse, 9, client.exchange(ApiKey.PRODUCE, 9, encode(request, 9)))
        assert answer.responses[0].partition_responses[0].error_code == ErrorCode.NONE


def keyed_records(count: int, value: bytes, codec: int = 4) -> bytes:
    """A batch of so many keys."""
    return build_batch([NewRecord(b"%d" % number, value, T0) for number in range(count)], compression=codec)


def first_offset(client: RawClient) -> int:
    """Where the first batch begins that is left."""
    asked = FetchRequest(max_wait_ms=0, topics=[FetchTopic("orders", partitions=[FetchPartition(0)])])
    answer = decode(FetchResponse, 11, client.exchange(ApiKey.FETCH, 11, encode(asked, 11)))
    (found,) = answer.responses[0].partitions
    return int.from_bytes(bytes(found.records)[:8])


def place_of(client: RawClient, timestamp: int) -> tuple[int, int, int]:
    """Error code, timestamp and offset."""
    asked = ListOffsetsRequest(-1, 0, [ListOffsetsTopic("orders", [ListOffsetsPartition(0, -1, timestamp)])])
    data = client.exchange(ApiKey.LIST_OFFSETS, 7, encode(asked, 7))
    found = decode(ListOffsetsResponse, 7, data).topics[0].partitions[0]
    return found.error_code, found.timestamp, found.offset


LARGE: dict[str, tuple[Callable[[], bytes], int]] = {
    "20 of 100 MB": (lambda: one_record(100 << 20), 20),
    "20 of 60 MB, gzip": (lambda: one_record(60 << 20, 1), 20),
    "3 of a million records": (lambda: many_records(1_000_000), 3),
}


@linux
@pytest.mark.behaviour("LO-14")
@pytest.mark.parametrize("name", LARGE)
def test_a_search_by_time_held_everybody_up_while_stored_batches_were_unpacked(name: str):
    made, times = LARGE[name]
    options = "--topic", "orders:1", "--config", "message.timestamp.after.max.ms=9223372036854775807"
    with Serving(*options) as process, RawClient(process.servers) as client:
        produce(client, made(), times)
        before = memory_mb(process)

        def attack() -> None:
            assert place_of(client, T0 + 1) == (0, -1, -1)
            assert place_of(client, -3) == (0, -1, -1)
            assert place_of(client, T0) == (0, T0, 0)

        assert shortest_wait(process.servers, attack) <= LONGEST_MS
        assert memory_mb(process) - before < FLAT_MB
        begin = time.perf_counter()
        for _ in range(10):
            attack()
        assert time.perf_counter() - begin < 1  # what was found is remembered


COMPACTED: dict[str, tuple[Callable[[], bytes], int]] = {
    "3 of 200 MB": (lambda: one_record(200 << 20), 3),
    "20 of 240 MB": (lambda: one_record(240 << 20), 20),
    "5 of a million records": (lambda: many_records(1_000_000), 5),
}


@linux
@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
@pytest.mark.parametrize("name", COMPACTED)
def test_compaction_held_everybody_up_while_it_unpacked_what_was_there_before(name: str, disk: bool, tmp_path: Path):
    """It leaves what a compacted topic would not have taken, and says so once."""
    made, times = COMPACTED[name]
    with compacting(tmp_path if disk else None) as process, RawClient(process.servers) as client:
        produce(client, made(), times)
        before = memory_mb(process)

        def attack() -> None:
            assert alter(client, 2, "orders", "cleanup.policy", "delete") == (0, None)
            assert alter(client, 2, "orders", "cleanup.policy", "compact") == (0, None)
            reached(lambda: process.stderr.count("compaction leaves the batch at offset 0 of orders-0") == 1)

        assert shortest_wait(process.servers, attack) <= LONGEST_MS
        assert memory_mb(process) - before < FLAT_MB
        assert first_offset(client) == 0


@linux
@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
@pytest.mark.parametrize("codec", [0, 1, 4])
def test_compaction_held_everybody_up_while_it_went_through_many_records(codec: int, disk: bool, tmp_path: Path):
    batch = keyed_records(60_000, bytes(0 if codec == 0 else 400), codec)
    with compacting(tmp_path if disk else None) as process, RawClient(process.servers) as client:
        produce(client, batch, 6)
        before = memory_mb(process)
        with probing(process.servers) as prober:
            assert alter(client, 2, "orders", "cleanup.policy", "compact") == (0, None)
            reached(lambda: first_offset(client) == 300_000)
        assert prober.longest_ms <= LONGEST_MS
        assert memory_mb(process) - before < FLAT_MB


@linux
@pytest.mark.behaviour("PR-33")
@pytest.mark.parametrize("key", [None, b"k"])
def test_uncompressed_records_for_a_compacted_topic_held_everybody_up(key: bytes | None):
    batch = build_batch([NewRecord(key, None, T0 + number % 3) for number in range(80_000)])
    with Serving("--topic", "orders:24") as process, RawClient(process.servers) as client:
        assert alter(client, 2, "orders", "cleanup.policy", "compact") == (0, None)
        data = [PartitionProduceData(index, batch) for index in range(24)]
        asked = encode(ProduceRequest(None, -1, 1000, [TopicProduceData("orders", partition_data=data)]), 9)
        before = memory_mb(process)

        def attack() -> None:
            answer = decode(ProduceResponse, 9, client.exchange(ApiKey.PRODUCE, 9, asked))
            rows = answer.responses[0].partition_responses
            if key is None:
                assert {row.error_code for row in rows} == {ErrorCode.INVALID_RECORD}
                assert all("due to 80000 record errors in total" in (row.error_message or "") for row in rows)
                assert [len(row.record_errors) for row in rows] == [10_000] + [1] * 23
            else:
                assert {row.error_code for row in rows} == {ErrorCode.NONE}

        assert shortest_wait(process.servers, attack) <= LONGEST_MS
        assert memory_mb(process) - before < FLAT_MB


def compacting(directory: Path | None) -> Serving:
    """A broker that looks after its logs all the time."""
    options = ["--topic", "orders:1", "--config", "log.retention.check.interval.ms=50"]
    return Serving(*options, *(() if directory is None else ("--data-dir", str(directory / "data"))))


def reached(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
