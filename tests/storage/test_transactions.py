"""Transactions of one partition: what is open, what was aborted, what readers of committed records see."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkastub.storage import AppendError, LogSettings, Marker, PartitionLog
from kafkastub.storage.log_transactions import AbortedTransaction, AbortedTransactions
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.records import EndMarker, NewRecord, build_batch, iterate_records, parse_header, read_marker
from kafkawire.records.batch import HEADER_SIZE

TRANSACTIONAL = 0x10


def sent(producer_id: int, sequence: int, *, epoch: int = 0, count: int = 1, attributes: int = TRANSACTIONAL) -> bytes:
    return build_batch(
        [NewRecord(b"k", b"v", 5)] * count,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        attributes=attributes,
    )


class Writer:
    """A log, and what its producers have sent to it in their epochs."""

    def __init__(self, **settings: int) -> None:
        self.log = PartitionLog("t-0", LogSettings(**settings))
        self.now_ms = 0
        self._next: dict[int, int] = {}

    def send(self, producer_id: int, *, count: int = 1, epoch: int = 0) -> int:
        sequence = self._next.get(producer_id, 0)
        self._next[producer_id] = sequence + count
        batch = sent(producer_id, sequence, epoch=epoch, count=count)
        return self.log.append(batch, leader_epoch=0, now_ms=self.now_ms).first_offset

    def plain(self) -> int:
        batch = build_batch([NewRecord(None, b"plain", 5)])
        return self.log.append(batch, leader_epoch=0, now_ms=self.now_ms).first_offset

    def end(
        self, producer_id: int, commit: bool, *, epoch: int = 0, coordinator_epoch: int = 0, version: int = 1
    ) -> int:
        marker = Marker(producer_id, epoch, commit, coordinator_epoch, version)
        return self.log.append_marker(marker, leader_epoch=0, now_ms=self.now_ms)


@pytest.fixture
def writer() -> Writer:
    return Writer()


def test_the_last_stable_offset_is_where_the_oldest_open_transaction_begins(writer: Writer):
    log = writer.log
    writer.plain()
    assert log.last_stable_offset == 1
    writer.send(7, count=2)
    writer.send(8)
    writer.plain()
    assert (log.last_stable_offset, log.high_watermark) == (1, 5)
    writer.end(8, True)
    assert log.last_stable_offset == 1
    writer.end(7, False)
    assert log.last_stable_offset == log.high_watermark == 7
    assert log.aborted_transactions(0, 7) == [AbortedTransaction(7, 1, 6, 7)]


def test_a_marker_is_a_control_batch_of_its_producer(writer: Writer):
    writer.send(7)
    writer.now_ms = 99
    assert writer.end(7, True, coordinator_epoch=3) == 1
    whole = b"".join(writer.log.read(1, 1 << 20).chunks)
    header = parse_header(whole)
    assert (header.producer_id, header.producer_epoch, header.base_sequence, header.max_timestamp) == (7, 0, -1, 99)
    assert header.control
    assert header.transactional
    (record,) = iterate_records(whole[HEADER_SIZE:], header)
    assert (record.offset, read_marker(record)) == (1, EndMarker(True, 3))


def test_has_ongoing_is_of_one_epoch(writer: Writer):
    writer.send(7)
    assert writer.log.has_ongoing(7, 0)
    assert not writer.log.has_ongoing(7, 1)
    assert not writer.log.has_ongoing(8, 0)
    writer.end(7, True)
    assert not writer.log.has_ongoing(7, 0)


def refused(call: object) -> ErrorCode:
    with pytest.raises(KafkaError) as error:
        call()  # type: ignore[operator]
    return error.value.code


def test_which_markers_are_refused(writer: Writer):
    writer.send(7, epoch=5)
    fenced, epoch = ErrorCode.TRANSACTION_COORDINATOR_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH
    assert refused(lambda: writer.end(7, True, epoch=4)) == epoch
    assert refused(lambda: writer.end(7, True, epoch=5, version=2)) == epoch
    assert writer.end(7, True, epoch=6, version=2, coordinator_epoch=2) == 1
    assert refused(lambda: writer.end(7, True, epoch=6, coordinator_epoch=1)) == fenced
    assert writer.log.log_end_offset == 2


def test_a_marker_that_comes_again_is_written_again(writer: Writer):
    writer.send(7)
    for offset in (1, 2):
        assert writer.end(7, False, epoch=1, version=2) == offset
    assert writer.log.aborted_transactions(0, 3) == [AbortedTransaction(7, 0, 1, 2)]


def test_a_marker_of_an_unknown_producer_makes_it_known(writer: Writer):
    writer.end(7, True, epoch=4, coordinator_epoch=1)
    (entry,) = writer.log.producers()
    assert (entry.producer_id, entry.epoch, entry.last_sequence, entry.coordinator_epoch) == (7, 4, -1, 1)
    assert refused(lambda: writer.send(7, epoch=3)) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_sequences_go_on_behind_a_marker_of_the_same_epoch_and_begin_anew_behind_one_of_the_next(writer: Writer):
    log = writer.log
    writer.send(7, count=2)
    writer.end(7, True)
    out_of_order = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert refused(lambda: log.append(sent(7, 1), leader_epoch=0, now_ms=0)) == out_of_order
    log.append(sent(7, 2), leader_epoch=0, now_ms=0)
    writer.end(7, True, epoch=1, version=2)
    assert refused(lambda: log.append(sent(7, 3, epoch=1), leader_epoch=0, now_ms=0)) == out_of_order
    log.append(sent(7, 0, epoch=1), leader_epoch=0, now_ms=0)


def test_in_a_transaction_other_batches_of_the_producer_are_refused(writer: Writer):
    writer.send(7)
    for batch in (sent(7, 1, attributes=0), sent(7, 0, epoch=1, attributes=0)):
        assert refused(lambda b=batch: writer.log.append(b, leader_epoch=0, now_ms=0)) == ErrorCode.INVALID_TXN_STATE
    writer.plain()


def test_a_client_cannot_write_a_marker(writer: Writer):
    with pytest.raises(AppendError, match="control records"):
        writer.log.append(sent(7, 0, attributes=0x30), leader_epoch=0, now_ms=0)


def test_a_producer_with_an_open_transaction_never_expires():
    writer = Writer(producers_expire_ms=1000)
    writer.send(7)
    writer.log.append(sent(8, 0, attributes=0), leader_epoch=0, now_ms=0)
    writer.now_ms = 5000
    assert [entry.producer_id for entry in writer.log.producers(writer.now_ms)] == [7]
    writer.end(7, True)
    assert [entry.producer_id for entry in writer.log.producers(5999)] == [7]
    assert not list(writer.log.producers(6000))


def test_the_last_stable_offset_was_not_that_of_the_batch_that_the_log_starts_in(writer: Writer):
    """Kafka looks up where the log start is, and gets the batch: below the log start, if that is inside of one."""
    writer.send(7, count=4)
    writer.send(7, count=3)
    stable = {}
    for start in range(8):
        writer.log.delete_records_before(start)
        stable[start] = writer.log.last_stable_offset
    assert stable == {0: 0, 1: 0, 2: 0, 3: 0, 4: 4, 5: 4, 6: 4, 7: 7}


def test_records_that_are_deleted_below_an_open_transaction_take_the_last_stable_offset_along(writer: Writer):
    writer.send(7, count=4)
    writer.log.delete_records_before(3)
    assert writer.log.last_stable_offset == 0
    assert writer.log.read(3, 1000, upto=0).chunks == []
    assert writer.log.bytes_after(3, upto=0) == 0
    writer.end(7, False)
    assert writer.log.last_stable_offset == 5
    assert told_with(writer.log, 3, 1000) == [(7, 0)]


def told_with(log: PartitionLog, offset: int, size: int) -> list[tuple[int, int]]:
    """Producer and first offset of what a reader is told."""
    told = log.aborted_in_read(offset, size)
    return [] if told is None else list(zip(*told, strict=True))


class Ended(NamedTuple):
    first: int
    marker: int
    producer_id: int
    commit: bool


STEPS = st.lists(
    st.tuples(st.sampled_from(["send", "send", "commit", "abort", "plain"]), st.integers(1, 4)), max_size=60
)


@given(STEPS, st.data())
def test_what_is_stable_and_what_was_aborted_is_what_a_plain_history_says(
    steps: list[tuple[str, int]], data: st.DataObject
):
    writer, opened, ended = Writer(segment_bytes=700), {}, []
    for step, producer_id in steps:
        if step == "plain":
            writer.plain()
        elif step == "send":
            opened.setdefault(producer_id, writer.send(producer_id))
        else:
            first, marker = opened.pop(producer_id, None), writer.end(producer_id, step == "commit")
            if first is not None:
                ended.append(Ended(first, marker, producer_id, step == "commit"))
    log = writer.log
    assert log.last_stable_offset == min(opened.values(), default=log.log_end_offset)
    start = data.draw(st.integers(0, log.log_end_offset))
    end = data.draw(st.integers(start, log.log_end_offset))
    wanted = [one for one in ended if not one.commit and one.marker >= start and one.first < end]
    assert [one[:3] for one in log.aborted_transactions(start, end)] == [
        (one.producer_id, one.first, one.marker) for one in wanted
    ]
    if log.producer_states.aborted is not None:
        told = log.producer_states.aborted.for_reader(start, end)
        assert list(zip(*told, strict=True)) == [(one.producer_id, one.first) for one in wanted]
    if start < log.last_stable_offset:
        read = log.read(start, 300, at_least_one=True, upto=log.last_stable_offset)
        told = told_with(log, start, read.size)
        seen = list(_whole_batches(b"".join(read.chunks)))
        assert seen
        assert all(header.last_offset < log.last_stable_offset for header in seen)
        for header in seen:
            for one in ended:
                if one.producer_id == header.producer_id and one.first <= header.base_offset < one.marker:
                    assert one.commit or (one.producer_id, one.first) in told


def _whole_batches(data: bytes):
    while len(data) >= HEADER_SIZE and len(data) >= parse_header(data).size:
        header = parse_header(data)
        yield header
        data = data[header.size :]


def test_one_that_was_open_all_the_time_is_found_beside_the_few_that_are_near():
    aborted = AbortedTransactions()
    for number in range(1, 100_001):
        aborted.add(AbortedTransaction(number, 2 * number, 2 * number + 1, 0))
    aborted.add(AbortedTransaction(0, 0, 300_000, 300_001))
    assert aborted.between(0, 3) == [AbortedTransaction(1, 2, 3, 0), AbortedTransaction(0, 0, 300_000, 300_001)]


def test_those_before_an_offset_are_forgotten():
    aborted = AbortedTransactions()
    rows = [AbortedTransaction(number, 2 * number, 2 * number + 1, 2 * number + 2) for number in range(200)]
    for row in rows:
        aborted.add(row)
    aborted.remove_before(301)
    assert aborted.between(301, 1000) == rows[150:]
    assert len(aborted) < 120
