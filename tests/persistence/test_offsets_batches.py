"""Batches of the offsets topic are read fast, and as if they had been read slowly."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kafkastub.coordinator import OffsetCommit
from kafkastub.state.internal_topics.contract import Loaded
from kafkastub.state.internal_topics.offsets_batches import read_offsets
from kafkastub.state.internal_topics.offsets_codec import coordinator_record
from kafkawire.offsets_topic import decode_record, group_key, offset_key, offset_value
from kafkawire.records import NewRecord, build_batch, parse_header, read_batch

NAMES = st.sampled_from(["", "g", "orders", "a-group-with-a-longer-name-" * 3, "ü"])
OFFSETS = st.integers(0, 2**63 - 1) | st.integers(0, 3)
TEXTS = st.sampled_from(["", "", "", "m", "x" * 200])
IDS = st.sampled_from([bytes(16), b"0123456789abcdef"])


def _record(group: str, topic: str, partition: int, value: bytes | None, timestamp: int) -> NewRecord:
    return NewRecord(offset_key(group, topic, partition), value, timestamp)


@st.composite
def commits(draw: st.DrawFn) -> list[NewRecord]:
    """What one commit leaves: neighbours or not, with or without metadata, of any version."""
    group, topic, version = draw(NAMES), draw(NAMES), draw(st.sampled_from([4, 4, 4, 3, 2, 1, 0]))
    timestamp, topic_id, text = draw(st.integers(0, 2**40)), draw(IDS), draw(TEXTS)
    count = draw(st.integers(1, 6) | st.integers(60, 140))
    start, step = draw(st.integers(0, 1000)), draw(st.sampled_from([1, 1, 1, 3]))
    odd = draw(st.integers(0, 200))
    records = []
    for number in range(count):
        metadata = "odd" if number == odd else text
        expiry = timestamp + 5 if version == 1 else -1
        value = offset_value(version, draw(OFFSETS), draw(st.integers(-1, 3)), metadata, timestamp, expiry, topic_id)
        records.append(_record(group, topic, start + number * step, value, timestamp))
    return records


OTHERS = st.sampled_from(
    [
        [_record("g", "orders", 1, None, 5)],
        [NewRecord(group_key("g"), None, 7)],
        [NewRecord(b"\x00\x63?", b"?", 7)],
        [NewRecord(b"", b"", 7)],
        [_record("g", "orders", 1, b"\x00\x04", 5)],
    ]
)


def _each(found: Loaded) -> list[object]:
    """Offset, and what it stands for, record by record."""
    record = found.record
    if not isinstance(record, OffsetCommit):
        return [(found.offset, found.timestamp, record)]
    common = record.group_id, record.topic
    return [(found.offset + number, found.timestamp, *common, *one) for number, one in enumerate(record.each())]


@settings(deadline=None)
@given(st.lists(commits() | OTHERS, min_size=1, max_size=3), st.integers(0, 2), st.booleans())
def test_a_batch_read_fast_is_the_batch(parts: list[list[NewRecord]], compression: int, holes: bool):
    records = [record for part in parts for record in part]
    deltas = [number * 2 if holes else number for number in range(len(records))]
    batch = build_batch(records, base_offset=7, compression=compression % 2, offset_deltas=deltas)
    skipped_fast: list[int] = []
    fast = list(
        read_offsets(parse_header(batch), memoryview(batch), lambda record, why: skipped_fast.append(record.offset))
    )
    slow = []
    skipped_slow = []
    for record in read_batch(batch):
        try:
            decoded = coordinator_record(decode_record(record.key, record.value))
        except ValueError:
            decoded = None
            skipped_slow.append(record.offset)
        slow.append(Loaded(record.offset, 1, record.timestamp, decoded))
    assert [one for found in fast for one in _each(found)] == [one for found in slow for one in _each(found)]
    assert sum(found.records for found in fast) == len(records)
    assert skipped_fast == skipped_slow


def test_a_commit_of_a_thousand_is_few_records():
    value = offset_value(4, 1, -1, "", 9, -1, bytes(16))
    records = [_record("g", "orders", partition, value, 9) for partition in range(1000)]
    batch = build_batch(records)
    found = list(read_offsets(parse_header(batch), memoryview(batch), lambda record, why: None))
    assert [one.records for one in found] == [64, 936]
