"""Which batches retention takes: a table of ages and sizes."""

from __future__ import annotations

import pytest

from kafkastub.storage import LogManager, LogSettings, PartitionLog
from kafkastub.storage.retention import expired
from kafkastub.storage.segment import StoredBatch
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.records import NewRecord, build_batch, parse_header

SIZE = 61 + 9
"""Of a batch of one record, as `stored` makes it."""


def stored(offset: int, appended_ms: int, records: int = 1) -> StoredBatch:
    # the records' own timestamps say nothing: retention goes by the append
    whole = build_batch([NewRecord(b"k", b"v", 5_000_000)] * records, base_offset=offset)
    return StoredBatch(parse_header(whole), whole[61:], appended_ms)


@pytest.mark.parametrize(
    ("retention_ms", "retention_bytes", "now_ms", "last"),
    [
        (-1, -1, 1 << 60, None),
        (100, -1, 0, None),
        (100, -1, 100, None),  # as old as allowed
        (100, -1, 101, 0),
        (100, -1, 110, 0),
        (100, -1, 111, 3),
        (100, -1, 1000, 4),
        (0, -1, 0, None),
        (0, -1, 1, 0),
        (-1, 3 * SIZE, 0, None),
        (-1, 2 * SIZE, 0, 0),
        (-1, SIZE, 0, 3),
        (-1, 2 * SIZE + 1, 0, None),  # what stays has at least so many bytes
        (-1, 0, 0, 4),
        (100, 2 * SIZE, 0, 0),
        (100, 2 * SIZE, 111, 3),
        (100, 10 * SIZE, 111, 3),
    ],
)
def test_what_retention_takes(retention_ms: int, retention_bytes: int, now_ms: int, last: int | None):
    batches = [stored(0, 0), stored(1, 10), stored(4, 20)]
    batches[1].last_offset = 3
    settings = LogSettings(retention_ms=retention_ms, retention_bytes=retention_bytes)
    assert [batch.size for batch in batches] == [SIZE] * 3
    assert expired(batches, 3 * SIZE, settings, now_ms) == last


def test_a_younger_batch_protects_none_before_it_and_an_empty_log_none_at_all():
    assert expired([], 0, LogSettings(retention_ms=1), 100) is None
    assert expired([stored(0, 0), stored(1, 50)], 2 * SIZE, LogSettings(retention_ms=60), 100) == 0


def filled(manager: LogManager, *appended_ms: int, **settings: int | bool) -> PartitionLog:
    log = manager.create(b"t" * 16, 0, LogSettings(**settings), name="t-0")  # type: ignore[arg-type]
    for now_ms in appended_ms:
        log.append(build_batch([NewRecord(b"k", b"v", 0)] * 2), leader_epoch=0, now_ms=now_ms)
    return log


@pytest.mark.parametrize("segment_bytes", [1 << 30, 100])
def test_the_log_starts_later_and_is_smaller(segment_bytes: int):
    manager = LogManager()
    log = filled(manager, 0, 10, 20, retention_ms=100, segment_bytes=segment_bytes)
    whole = log.size
    manager.clean(111)
    assert (log.log_start_offset, log.log_end_offset) == (4, 6)
    assert log.size == whole // 3
    with pytest.raises(KafkaError) as refused:
        log.read(3, 1000)
    assert refused.value.code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert log.read(4, 1000).size == log.size
    manager.clean(121)
    assert (log.log_start_offset, log.log_end_offset, log.size) == (6, 6, 0)
    assert log.read(6, 1000).chunks == []
    log.append(build_batch([NewRecord(b"k", b"v", 0)]), leader_epoch=0, now_ms=200)
    assert log.read(6, 1000).size == log.size > 0
    assert log.offset_for_timestamp(0) is not None


def test_records_deleted_by_a_client_stay_deleted():
    manager = LogManager()
    log = filled(manager, 0, 10, retention_ms=100)
    log.delete_records_before(3)
    manager.clean(101)
    assert log.log_start_offset == 3


def test_the_policy_decides():
    manager = LogManager()
    log = filled(manager, 0, 10, retention_ms=1, delete=False, compact=False)
    manager.clean(1000)
    assert log.log_start_offset == 0
    assert not manager.perishable
    manager.configure(b"t" * 16, LogSettings(retention_ms=1))
    assert manager.perishable
    manager.clean(1000)
    assert log.log_start_offset == 4
    manager.delete(b"t" * 16)
    assert not manager.perishable


def test_without_finite_retention_there_is_nothing_to_look_after():
    manager = LogManager()
    filled(manager, 0, retention_ms=-1)
    assert not manager.perishable


def test_a_log_made_elsewhere_is_left_alone():
    manager = LogManager()
    log = PartitionLog("t-0", LogSettings(retention_ms=1))
    log.append(build_batch([NewRecord(b"k", b"v", 0)]), leader_epoch=0, now_ms=0)
    manager.add(b"t" * 16, 0, log)
    manager.configure(b"t" * 16, LogSettings(retention_ms=1))
    manager.clean(1000)
    assert log.log_start_offset == 0
