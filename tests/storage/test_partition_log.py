"""PartitionLog: what goes in comes out, by offset and by time."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkastub.steps import Steps, at_once
from kafkastub.storage import AppendError, LeaderEpochs, LogManager, LogSettings, PartitionLog, Read
from kafkastub.storage.unpacker import A_TURN, Unpacker
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.records import (
    HEADER_SIZE,
    Compression,
    NewRecord,
    build_batch,
    compute_crc,
    parse_header,
    read_batch,
)


class Sent(NamedTuple):
    """A batch as it was sent, and as it has to come back."""

    base_offset: int
    last_offset: int
    stored: bytes


BATCHES = st.lists(
    st.tuples(
        st.lists(st.binary(max_size=50) | st.just(bytes(3000)), min_size=1, max_size=5),
        st.sampled_from([Compression.NONE, Compression.GZIP]),
        st.integers(0, 100),
    ),
    min_size=1,
    max_size=12,
)


def fill(log: PartitionLog, batches: list[tuple[list[bytes], int, int]]) -> list[Sent]:
    sent = []
    for values, codec, timestamp in batches:
        records = [NewRecord(None, value, timestamp + n) for n, value in enumerate(values)]
        batch = build_batch(records, compression=codec)
        appended = log.append(batch, leader_epoch=3, now_ms=0)
        header = parse_header(batch)._replace(base_offset=appended.first_offset, leader_epoch=3)
        sent.append(Sent(appended.first_offset, appended.last_offset, header.encode() + batch[61:]))
    return sent


def joined(read: Read) -> bytes:
    data = b"".join(read.chunks)
    assert len(data) == read.size
    return data


@given(BATCHES, st.sampled_from([1 << 30, 8000, 4000]), st.data())
def test_whatever_is_appended_comes_back_from_every_offset_under_every_limit(
    batches: list[tuple[list[bytes], int, int]], segment_bytes: int, data: st.DataObject
):
    log = PartitionLog("t-0", LogSettings(segment_bytes=max(segment_bytes, 16000)))
    sent = fill(log, batches)
    offset = data.draw(st.integers(0, log.log_end_offset), label="offset")
    wanted = b"".join(batch.stored for batch in sent if batch.last_offset >= offset)
    first = next((batch.stored for batch in sent if batch.last_offset >= offset), b"")
    limit = data.draw(st.integers(0, len(wanted) + 10), label="limit")
    for at_least_one in (False, True):
        got = joined(log.read(offset, limit, at_least_one=at_least_one))
        if limit >= len(first):
            assert got == wanted[: len(got)]
            assert got[: len(first)] == first
        else:
            assert got == (first if at_least_one else b"")


@given(BATCHES, st.data())
def test_in_one_segment_a_read_gives_all_that_the_limit_allows(
    batches: list[tuple[list[bytes], int, int]], data: st.DataObject
):
    log = PartitionLog("t-0", LogSettings())
    sent = fill(log, batches)
    offset = data.draw(st.integers(0, log.log_end_offset - 1), label="offset")
    wanted = b"".join(batch.stored for batch in sent if batch.last_offset >= offset)
    first = next(batch.stored for batch in sent if batch.last_offset >= offset)
    limit = data.draw(st.integers(len(first), len(wanted) + 10), label="limit")
    assert joined(log.read(offset, limit)) == wanted[:limit]
    assert log.bytes_after(offset) == len(wanted)


@given(BATCHES)
def test_a_consumer_that_goes_on_where_it_stopped_sees_every_batch_once(batches: list[tuple[list[bytes], int, int]]):
    log = PartitionLog("t-0", LogSettings(segment_bytes=16000))
    sent = fill(log, batches)
    offset, seen = 0, []
    while offset < log.log_end_offset:
        (batch,) = [joined(log.read(offset, 1, at_least_one=True))]
        seen.append(batch)
        offset = parse_header(batch).last_offset + 1
    assert seen == [batch.stored for batch in sent]


@given(BATCHES, st.integers(0, 110), st.data())
def test_a_search_by_time_finds_what_a_walk_finds(
    batches: list[tuple[list[bytes], int, int]], timestamp: int, data: st.DataObject
):
    log = PartitionLog("t-0", LogSettings())
    sent = fill(log, batches)
    start = data.draw(st.integers(0, log.log_end_offset), label="log start")
    log.delete_records_before(start)
    records = [record for batch in sent for record in read_batch(batch.stored)]
    late = [(r.timestamp, r.offset) for r in records if r.timestamp >= timestamp and r.offset >= start]
    found = log.offset_for_timestamp(timestamp)
    assert (found and found[:2]) == (late[0] if late else None)
    largest = max(records, key=lambda record: record.timestamp)
    assert at_once(log.search(None, Unpacker())) == (largest.timestamp, largest.offset, 3)


def test_batches_were_unpacked_anew_for_every_search(monkeypatch: pytest.MonkeyPatch):
    log = PartitionLog("t-0", LogSettings())
    for timestamp in (10, 20, 30):
        late = parse_header(batch := build_batch([NewRecord(b"k", bytes(3 << 20), timestamp)], compression=4))
        late = late._replace(max_timestamp=100)
        late = late._replace(crc=compute_crc(late.encode() + batch[HEADER_SIZE:]))
        log.append(late.encode() + batch[HEADER_SIZE:], leader_epoch=0, now_ms=0)
    unpacker, unpacked = Unpacker(), []
    monkeypatch.setattr(unpacker, "beside", lambda work, use: unpacked.append(1) or (yield from use(work())))
    for _ in range(3):
        assert at_once(log.search(25, unpacker)) == (30, 2, 0)
        assert at_once(log.search(50, unpacker)) is None
        assert at_once(log.search(None, unpacker)) is None
    assert len(unpacked) == 3 + 3 + 1
    log.rewrite({0: None})
    assert at_once(log.search(0, unpacker)) == (20, 1, 0)


def test_an_unpacker_was_busy_for_good_when_nobody_waited_any_more():
    payload = build_batch([NewRecord(None, bytes(8 << 20), 0)], compression=4)[HEADER_SIZE:]
    unpacker = Unpacker()

    def sizes(data: bytes | bytearray | memoryview) -> Steps[int]:
        yield 1
        return len(data)

    first = unpacker.with_records(4, payload, sizes)
    next(first)
    second = unpacker.with_records(4, payload, sizes)
    assert next(second) == A_TURN  # one after the other
    first.close()
    assert at_once(second) > 8 << 20


def test_a_read_stays_in_its_segment():
    log = PartitionLog("t-0", LogSettings(segment_bytes=250))
    batch = build_batch([NewRecord(None, bytes(30), 0)])
    for _ in range(4):
        log.append(batch, leader_epoch=0, now_ms=0)
    assert log.read(0, 10_000).size == 2 * len(batch)
    assert log.bytes_after(0) is None
    assert log.bytes_after(2) == 2 * len(batch)
    assert log.size == 4 * len(batch)
    assert [stored.base_offset for stored in log.batches_from(1)] == [1, 2, 3]


def test_a_large_payload_is_not_copied():
    batch = build_batch([NewRecord(None, bytes(100_000), 0)])
    log = PartitionLog("t-0", LogSettings())
    log.append(batch, leader_epoch=0, now_ms=0)
    _, payload = log.read(0, 1 << 20).chunks
    assert isinstance(payload, memoryview)
    assert payload.obj is batch


def test_the_log_knows_where_it_ends():
    log = PartitionLog("t-0", LogSettings())
    assert log.read(0, 100).size == 0
    for wrong in (-1, 1):
        with pytest.raises(KafkaError) as caught:
            log.read(wrong, 100)
        assert caught.value.code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_negative_limit_is_an_error_where_there_is_something_to_read():
    log = PartitionLog("t-0", LogSettings())
    assert log.read(0, -1).size == 0
    log.append(build_batch([NewRecord(None, b"v", 0)]), leader_epoch=0, now_ms=0)
    with pytest.raises(KafkaError) as caught:
        log.read(0, -1, at_least_one=True)
    assert caught.value.code == ErrorCode.UNKNOWN_SERVER_ERROR


def test_a_refused_batch_leaves_no_trace():
    log = PartitionLog("t-0", LogSettings())
    good = build_batch([NewRecord(None, b"v", 0)], producer_id=1, producer_epoch=0, base_sequence=0)
    gap = build_batch([NewRecord(None, b"v", 0)], producer_id=1, producer_epoch=0, base_sequence=2)
    log.append(good, leader_epoch=0, now_ms=0)
    for bad in (good[:-1], gap, good[:-1] + b"x"):
        with pytest.raises(AppendError):
            log.append(bad, leader_epoch=0, now_ms=0)
    assert (log.log_end_offset, log.size) == (1, len(good))
    assert [entry.last_sequence for entry in log.producers()] == [0]


def test_leader_epochs_that_lie_before_the_start_are_forgotten():
    epochs = LeaderEpochs()
    for epoch, start in ((0, 0), (3, 10), (3, 15), (1, 16), (4, 20)):
        epochs.assign(epoch, start)
    assert [epochs.end_offset(epoch, 30) for epoch in (0, 2, 3, 4, 5)] == [(0, 10), (0, 10), (3, 20), (4, 30), (-1, -1)]
    epochs.truncate_from_start(12)
    assert epochs.earliest() == (3, 12)
    assert epochs.end_offset(0, 30) == (0, 12)


def test_logs_belong_to_topics():
    logs = LogManager()
    log = logs.create(b"t" * 16, 0, {"max.message.bytes": 5}, name="orders-0")
    assert logs.log(b"t" * 16, 0) is log
    assert log.settings == LogSettings(max_message_bytes=5)
    logs.configure(b"t" * 16, LogSettings(compact=True))
    assert log.settings.compact
    with pytest.raises(ValueError, match="exists"):
        logs.create(b"t" * 16, 0)
    logs.delete(b"t" * 16)
    assert logs.log(b"t" * 16, 0) is None


def test_a_segment_is_rolled_by_the_time_in_its_records():
    """A read stays in its segment."""
    log = PartitionLog("t-0", LogSettings(segment_ms=1000, timestamp_after_max_ms=10000))
    for timestamp in (500, 1500, 400, 1501):
        log.append(build_batch([NewRecord(None, b"v", timestamp)]), leader_epoch=0, now_ms=0)
    assert [len(log.read(offset, 1 << 20).chunks[0]) // 69 for offset in range(4)] == [3, 2, 1, 1]


def test_a_segment_without_timestamps_is_rolled_by_the_time_of_the_append():
    log = PartitionLog("t-0", LogSettings(segment_ms=1000))
    for now in (0, 1000, 1001):
        log.append(build_batch([NewRecord(None, b"v", -1)]), leader_epoch=0, now_ms=now)
    assert log.read(0, 1 << 20).size == 2 * log.read(2, 1 << 20).size
