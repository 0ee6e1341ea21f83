"""What compaction leaves: a table of logs, and the same by way of the log."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkastub.state.cleaning import Cleaning
from kafkastub.state.turns import Turns
from kafkastub.steps import at_once
from kafkastub.storage import LogManager, LogSettings, Marker, PartitionLog, Unpacking, compaction
from kafkastub.storage.compaction import Compaction
from kafkastub.storage.segment import StoredBatch
from kafkastub.storage.unpacker import Unpacker
from kafkawire.records import (
    Compression,
    NewRecord,
    build_batch,
    check_crc,
    parse_header,
    read_batch,
    split_batches,
)

HOUR = 3_600_000
TOPIC = b"t" * 16
T0 = 1_700_000_000_000

Entry = tuple[str | None, str | None]
ENTRIES = st.tuples(st.sampled_from("abcd"), st.booleans())
"""A key, and whether it has a value."""


def batch_of(*entries: Entry, codec: int = Compression.NONE, **header: int) -> bytes:
    records = [
        NewRecord(key.encode() if key else None, value.encode() if value else None, T0 + n, ((b"h", b"x"),))
        for n, (key, value) in enumerate(entries)
    ]
    return build_batch(records, compression=codec, **header)


def made(manager: LogManager, **settings: int | bool) -> PartitionLog:
    chosen = {"compact": False, "delete": False} | settings
    return manager.create(TOPIC, 0, LogSettings(**chosen), name="t-0")  # type: ignore[arg-type]


def left(log: PartitionLog) -> list[tuple[int, str | None, str | None]]:
    """Offset, key and value of every record, each batch's crc checked."""
    result = []
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        data = b"".join(log.read(offset, 1 << 20).chunks)
        for _, batch in split_batches(data):
            assert check_crc(batch)
            for record in read_batch(batch):
                assert record.headers == ((b"h", b"x"),)
                key, value = (None if field is None else field.decode() for field in (record.key, record.value))
                result.append((record.offset, key, value))
            offset = parse_header(batch).last_offset + 1
    return result


CASES: list[tuple[str, list[tuple[int, list[Entry]]], dict[str, int], int, list[int]]] = [
    # title, batches with their append times, settings, now, offsets that stay
    ("the last of each key", [(0, [("a", "1"), ("b", "1"), ("a", "2")]), (0, [("b", "2")])], {}, 0, [2, 3]),
    ("nothing to do", [(0, [("a", "1"), ("b", "1")])], {}, 0, [0, 1]),
    ("within one batch", [(0, [("a", "1"), ("a", "2"), ("a", "3")])], {}, 0, [2]),
    ("a whole batch", [(0, [("a", "1")]), (0, [("a", "2")]), (0, [("b", "1")])], {}, 0, [1, 2]),
    ("no key", [(0, [(None, "1"), ("a", "1"), (None, "2"), ("b", "1")])], {}, 0, [1, 3]),
    ("no key, at the end", [(0, [(None, "1"), (None, "2")])], {}, 0, [1]),
    ("too young", [(0, [("a", "1")]), (0, [("a", "2")])], {"min_compaction_lag_ms": 10}, 9, [0, 1]),
    ("just old enough", [(0, [("a", "1")]), (0, [("a", "2")])], {"min_compaction_lag_ms": 10}, 10, [1]),
    (
        "superseded by a young one only",
        [(0, [("a", "1"), ("b", "1")]), (0, [("b", "2")]), (5, [("a", "2")])],
        {"min_compaction_lag_ms": 10},
        14,
        [0, 2, 3],
    ),
    ("a fresh tombstone", [(0, [("a", "1"), ("a", None), ("b", "1")])], {"delete_retention_ms": HOUR}, HOUR, [1, 2]),
    ("an old tombstone", [(0, [("a", "1"), ("a", None), ("b", "1")])], {"delete_retention_ms": HOUR}, HOUR + 1, [2]),
    (
        "a tombstone's time begins when it may be compacted",
        [(0, [("a", None), ("b", "1")])],
        {"delete_retention_ms": 100, "min_compaction_lag_ms": 50},
        150,
        [0, 1],
    ),
    ("a tombstone at the end", [(0, [("a", "1"), ("a", None)])], {"delete_retention_ms": 0}, HOUR, [1]),
    ("a tombstone that was revoked", [(0, [("a", None), ("a", "1")])], {"delete_retention_ms": 0}, HOUR, [1]),
]


@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP, Compression.ZSTD], ids=str)
@pytest.mark.parametrize("segment_bytes", [1 << 30, 200])
@pytest.mark.parametrize(
    ("batches", "settings", "now_ms", "stay"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_what_compaction_leaves(
    batches: list[tuple[int, list[Entry]]],
    settings: dict[str, int],
    now_ms: int,
    stay: list[int],
    segment_bytes: int,
    codec: int,
):
    manager = LogManager()
    log = made(manager, segment_bytes=segment_bytes)
    whole = []
    for appended_ms, entries in batches:
        written = batch_of(*entries, codec=codec)
        first = log.append(written, leader_epoch=0, now_ms=appended_ms, bounds_ms=T0).first_offset
        whole += [(first + n, key, value) for n, (key, value) in enumerate(entries)]
    assert left(log) == whole
    manager.configure(TOPIC, LogSettings(compact=True, delete=False, segment_bytes=segment_bytes, **settings))
    manager.clean(now_ms)
    assert left(log) == [record for record in whole if record[0] in stay]
    assert log.log_end_offset == len(whole)
    manager.clean(now_ms)
    assert [record[0] for record in left(log)] == stay


def test_every_offset_can_still_be_read_from():
    manager = LogManager()
    log = made(manager, compact=True)
    for n in range(20):
        log.append(batch_of(("a", str(n)), ("b", str(n))), leader_epoch=0, now_ms=0, bounds_ms=T0)
    manager.clean(0)
    assert left(log) == [(38, "a", "19"), (39, "b", "19")]
    for offset in range(40):
        assert log.read(offset, 1 << 20).size == log.size
    found = log.offset_for_timestamp(0)
    assert found is not None
    assert found.offset == 38


def test_a_batch_keeps_what_it_stands_for():
    whole = batch_of(("a", "1"), ("b", "1"), ("a", "2"), ("b", "2"), base_offset=7, producer_id=5, producer_epoch=1,
                     base_sequence=3)  # fmt: skip
    header = parse_header(whole)
    batches = [StoredBatch(header, whole[61:], 0), StoredBatch(header._replace(base_offset=11), whole[61:], 9)]
    pass_ = Compaction(batches, LogSettings(compact=True, min_compaction_lag_ms=5), 5, Unpacker())
    changes, _, clean_to = at_once(pass_.steps())
    assert clean_to == 11
    changed = changes[7]
    assert changed is not None
    after = changed.header()
    assert (after.base_offset, after.last_offset, after.last_sequence) == (7, 10, header.last_sequence)
    assert (after.producer_id, after.base_timestamp, after.max_timestamp) == (5, T0, T0 + 3)
    assert [record.offset for record in changed.records()] == [9, 10]
    assert (changed.appended_ms, after.record_count) == (0, 2)


def test_a_batch_that_can_not_be_unpacked_stays_whole(monkeypatch: pytest.MonkeyPatch):
    manager = LogManager()
    log = made(manager)
    log.append(batch_of(("a", "1"), ("a", "2"), codec=Compression.ZSTD), leader_epoch=0, now_ms=0, bounds_ms=T0)
    log.append(batch_of(("a", "3"), ("a", "4")), leader_epoch=0, now_ms=0, bounds_ms=T0)
    manager.configure(TOPIC, LogSettings(compact=True))
    import kafkawire.records.compression as compression

    def missing() -> None:
        raise compression.UnavailableCodecError("not installed")

    with monkeypatch.context() as patched:
        patched.setattr(compression, "_cramjam", missing)
        manager.clean(0)
    assert [offset for offset, _, _ in left(log)] == [0, 1, 3]


def test_a_batch_that_is_large_once_unpacked_stays_whole_and_the_log_says_so_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Unpacking, "MOST_RECORDS", 2)
    manager = LogManager()
    said: list[str] = []
    manager.say = said.append
    log = made(manager)
    for _ in range(2):
        log.append(batch_of(("a", "1"), ("a", "2"), ("b", "1"), codec=4), leader_epoch=0, now_ms=0, bounds_ms=T0)
        log.append(batch_of(("a", "3"), ("a", "4")), leader_epoch=0, now_ms=0, bounds_ms=T0)
    manager.configure(TOPIC, LogSettings(compact=True, delete=False))
    for _ in range(2):
        manager.clean(0)
        assert [offset for offset, _, _ in left(log)] == [0, 1, 2, 5, 6, 7, 9]
    (why,) = said
    assert "the batch at offset 0 of t-0" in why


@given(st.lists(st.lists(ENTRIES, min_size=1, max_size=4), min_size=1, max_size=12), st.integers(1, 4))
def test_a_map_that_is_full_makes_more_rounds_and_no_other_log(batches: list[list[tuple[str, bool]]], keys: int):
    logs = []
    for most in (keys, 1000):
        manager = LogManager()
        log = made(manager)
        for entries in batches:
            written = batch_of(*((40 * key, "v" if has_value else None) for key, has_value in entries))
            log.append(written, leader_epoch=0, now_ms=0, bounds_ms=T0)
        manager.configure(TOPIC, LogSettings(compact=True, delete=False, delete_retention_ms=5))
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(compaction, "_MOST_KEYS", most)
            manager.clean(0)
            fresh = left(log)
            manager.clean(6)
        logs.append((fresh, left(log)))
    assert logs[0] == logs[1]


def test_a_log_was_rewritten_after_its_topic_was_deleted_or_configured_anew():
    manager = LogManager()
    for change in ("delete", "configure", "clean"):
        log = made(manager, compact=True)
        for value in "12":
            log.append(batch_of(("a", value)), leader_epoch=0, now_ms=0, bounds_ms=T0)
        rewritten: list[object] = []
        log.rewrite = rewritten.append  # type: ignore[method-assign, assignment]
        steps = manager._kept[log].steps(0, Unpacker())
        next(steps)
        if change == "configure":
            manager.configure(TOPIC, LogSettings())
        elif change == "clean":
            manager.clean(0)
        if change != "configure":
            manager.delete(TOPIC)
        at_once(steps)
        assert len(rewritten) == (1 if change == "clean" else 0)
        manager.delete(TOPIC)


def test_a_round_of_cleaning_holds_nobody_up_and_is_one_at_a_time():
    manager = LogManager()
    log = made(manager, compact=True)
    for _ in range(3):
        log.append(batch_of(*[(str(n), "1") for n in range(600)]), leader_epoch=0, now_ms=0, bounds_ms=T0)
    turns = Turns(lambda: None)
    cleaning = Cleaning(manager, turns)
    cleaning.begin(0)
    cleaning.begin(0)
    taken = 0
    while turns:
        assert len(left(log)) == 1800
        turns.expire()
        taken += 1
    assert taken >= 3
    assert len(left(log)) == 600
    assert not turns
    cleaning.begin(0)
    assert not turns


def test_a_tombstone_goes_in_its_time_without_a_new_record():
    manager = LogManager()
    log = made(manager, compact=True, delete_retention_ms=HOUR)
    log.append(batch_of(("a", "1"), ("a", None), ("b", "1")), leader_epoch=0, now_ms=0, bounds_ms=T0)
    manager.clean(0)
    assert [offset for offset, _, _ in left(log)] == [1, 2]
    manager.clean(HOUR)
    assert [offset for offset, _, _ in left(log)] == [1, 2]
    manager.clean(HOUR + 1)
    assert [offset for offset, _, _ in left(log)] == [2]


def test_both_policies_together():
    manager = LogManager()
    log = made(manager, compact=True, delete=True, retention_ms=100)
    log.append(batch_of(("a", "1"), ("b", "1")), leader_epoch=0, now_ms=0, bounds_ms=T0)
    log.append(batch_of(("a", "2"), ("c", "1")), leader_epoch=0, now_ms=50, bounds_ms=T0)
    manager.clean(50)
    assert [offset for offset, _, _ in left(log)] == [1, 2, 3]
    manager.clean(101)
    assert log.log_start_offset == 2
    assert [offset for offset, _, _ in left(log)] == [2, 3]


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.lists(ENTRIES, min_size=1, max_size=8)),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from([(0, 0), (0, 6), (4, 0), (3, 5)]),
    st.integers(0, 1 << 30),
)
def test_looking_often_leaves_what_looking_once_leaves(
    batches: list[tuple[int, list[tuple[str, bool]]]], lag_and_retention: tuple[int, int], seed: int
):
    lag, tombstones = lag_and_retention
    configured = {
        "compact": True,
        "min_compaction_lag_ms": lag,
        "delete_retention_ms": tombstones,
        "segment_bytes": 400,
    }
    often, once = LogManager(), LogManager()
    logs = made(often, **configured), made(once, **configured)
    now_ms, chance = 0, random.Random(seed)
    for wait_ms, entries in batches:
        if chance.random() < 0.7:
            often.clean(now_ms)
        now_ms += wait_ms
        written = batch_of(*((key, "v" if filled else None) for key, filled in entries))
        for log in logs:
            log.append(written, leader_epoch=0, now_ms=now_ms, bounds_ms=T0)
    for manager in (often, once):
        manager.clean(now_ms + 20)
    assert left(logs[0]) == left(logs[1])
    offsets = [offset for offset, _, _ in left(logs[0])]
    assert all(one < other for one, other in pairwise(offsets))
    assert offsets[-1] == logs[0].log_end_offset - 1


def sent(log: PartitionLog, producer_id: int, now_ms: int, *entries: Entry) -> None:
    """A transactional batch that goes on where its producer is."""
    entry = log.producer_states.entry(producer_id)
    sequence = 0 if entry is None else entry.last_sequence + 1
    log.append(
        batch_of(*entries, producer_id=producer_id, producer_epoch=0, base_sequence=sequence, attributes=0x10),
        leader_epoch=0,
        now_ms=now_ms,
        bounds_ms=T0,
    )


def ended(log: PartitionLog, producer_id: int, now_ms: int, *, commit: bool) -> None:
    log.append_marker(Marker(producer_id, 0, commit), leader_epoch=0, now_ms=now_ms)


def offsets(log: PartitionLog) -> list[int]:
    return [batch.base_offset for batch in log.batches_from(0)]


def test_what_was_aborted_goes_and_supersedes_nothing():
    manager = LogManager()
    log = made(manager, compact=True, delete_retention_ms=HOUR)
    sent(log, 7, 0, ("a", "committed"))
    ended(log, 7, 0, commit=True)
    sent(log, 7, 0, ("a", "aborted"), ("b", "aborted"))
    ended(log, 7, 0, commit=False)
    log.append(batch_of(("c", "1")), leader_epoch=0, now_ms=0, bounds_ms=T0)
    manager.clean(0)
    assert offsets(log) == [0, 1, 4, 5]
    assert [one.first_offset for one in log.aborted_transactions(0, 6)] == [2]


def test_nothing_is_cleaned_from_the_last_stable_offset_on():
    manager = LogManager()
    log = made(manager, compact=True)
    log.append(batch_of(("a", "1")), leader_epoch=0, now_ms=0, bounds_ms=T0)
    log.append(batch_of(("a", "2")), leader_epoch=0, now_ms=0, bounds_ms=T0)
    sent(log, 7, 0, ("a", "3"))
    for value in "45":
        log.append(batch_of(("a", value)), leader_epoch=0, now_ms=0, bounds_ms=T0)
    manager.clean(HOUR)
    assert offsets(log) == [1, 2, 3, 4]
    ended(log, 7, HOUR, commit=False)
    manager.clean(HOUR)
    assert offsets(log) == [4, 5]


def test_a_marker_goes_when_nothing_is_left_of_its_transaction_and_a_tombstone_would():
    manager = LogManager()
    log = made(manager, compact=True, delete_retention_ms=HOUR)
    for producer_id, key, commit in ((1, "a", True), (2, "b", True), (3, "c", False)):
        sent(log, producer_id, 0, (key, "1"))
        ended(log, producer_id, 0, commit=commit)
    log.append(batch_of(("a", "2")), leader_epoch=0, now_ms=0, bounds_ms=T0)
    manager.clean(0)
    assert offsets(log) == [1, 2, 3, 5, 6]
    manager.clean(HOUR)
    assert offsets(log) == [1, 2, 3, 5, 6]
    manager.clean(HOUR + 1)
    assert offsets(log) == [2, 3, 6]
    assert not log.aborted_transactions(0, 7)


def committed(log: PartitionLog) -> dict[bytes | None, tuple[int, bytes]]:
    """Offset and value by key, as a reader of committed records has it in the end."""
    end, offset = log.last_stable_offset, 0
    table: dict[bytes | None, tuple[int, bytes]] = {}
    while offset < end:
        read = log.read(offset, 1 << 20, upto=end)
        found = log.aborted_in_read(offset, read.size)
        told = [] if found is None else sorted(zip(found.first_offsets, found.producer_ids, strict=True))
        leave_out: set[int] = set()
        for _, batch in split_batches(b"".join(read.chunks)):
            header = parse_header(batch)
            while told and told[0][0] <= header.last_offset:
                leave_out.add(told.pop(0)[1])
            if header.control:
                leave_out.discard(header.producer_id)
            elif not (header.transactional and header.producer_id in leave_out):
                for record in read_batch(batch):
                    if record.value is None:
                        table.pop(record.key, None)
                    else:
                        table[record.key] = record.offset, record.value
            offset = header.last_offset + 1
        if not read.chunks:
            break
    return table


@given(
    st.lists(
        st.tuples(st.sampled_from(["send", "send", "plain", "commit", "abort", "clean"]), st.integers(1, 3), ENTRIES),
        max_size=40,
    ),
    st.integers(0, 3),
)
def test_what_committed_readers_end_up_with_is_as_if_nobody_had_cleaned(
    steps: list[tuple[str, int, tuple[str, bool]]], lag: int
):
    manager = LogManager()
    settings = {"min_compaction_lag_ms": lag, "delete_retention_ms": 5, "segment_bytes": 500}
    cleaned, whole = made(manager, compact=True, **settings), PartitionLog("t-0", LogSettings())
    for now_ms, (step, producer_id, (key, has_value)) in enumerate(steps):
        entry = (key, f"v{now_ms}" if has_value else None)
        if step == "clean":
            manager.clean(now_ms)
            continue
        for log in (cleaned, whole):
            if step == "send":
                sent(log, producer_id, now_ms, entry)
            elif step == "plain":
                log.append(batch_of(entry), leader_epoch=0, now_ms=now_ms, bounds_ms=T0)
            else:
                ended(log, producer_id, now_ms, commit=step == "commit")
        assert cleaned.last_stable_offset == whole.last_stable_offset
    manager.clean(len(steps) + 10)
    assert committed(cleaned) == committed(whole)
