"""A walk that reads little finds what reading everything finds, window by window."""

from __future__ import annotations

from collections.abc import Generator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkawire.records import HEADER_SIZE, InvalidRecordError, NewRecord, build_batch, iterate_records, parse_header
from kafkawire.records.heads import Head, first_head, keyed_records

SIZES = st.sampled_from([None, 0, 1, 63, 64, 200, 8000, 8192, 20_000])
RECORDS = st.lists(st.tuples(SIZES, SIZES, st.integers(-50, 50)), min_size=1, max_size=40)
T0 = 1_700_000_000_000


def built(records: list[tuple[int | None, int | None, int]]) -> bytes:
    return build_batch(
        [
            NewRecord(None if key is None else b"k" * key, None if value is None else bytes(value), T0 + delta)
            for key, value, delta in records
        ],
        base_offset=100,
    )


def outcome(steps: Generator[int, None, Head | None]) -> Head | None:
    while True:
        try:
            assert next(steps) >= 0
        except StopIteration as end:
            found: Head | None = end.value
            return found


@given(RECORDS, st.integers(-60, 60), st.integers(90, 145), st.booleans())
def test_the_first_head_is_that_of_the_first_record(
    records: list[tuple[int | None, int | None, int]], time: int, start: int, exactly: bool
):
    batch = built(records)
    header, data = parse_header(batch), batch[HEADER_SIZE:]
    every = [Head(one.timestamp, one.offset) for one in iterate_records(data, header) if one.offset >= start]
    wanted = [one for one in every if one.timestamp == T0 + time or (not exactly and one.timestamp > T0 + time)]
    steps = first_head(data, header, T0 + time, start_offset=start, exactly=exactly)
    assert outcome(steps) == (wanted[0] if wanted else None)


@given(RECORDS)
def test_keys_and_places_are_those_of_the_records(records: list[tuple[int | None, int | None, int]]):
    batch = built(records)
    header, data = parse_header(batch), batch[HEADER_SIZE:]
    found = [one for window in keyed_records(data, header) for one in window]
    assert [
        (header.base_offset + one.offset_delta, header.base_timestamp + one.timestamp_delta, one.key, one.tombstone)
        for one in found
    ] == [(one.offset, one.timestamp, one.key, one.value is None) for one in iterate_records(data, header)]
    assert b"".join(data[one.start : one.end] for one in found) == data


@pytest.mark.parametrize("count", [-1, 1])
def test_other_records_than_declared_are_told(count: int):
    batch = built([(5, 5, 0)] * 3)
    header = parse_header(batch)
    header = header._replace(record_count=header.record_count + count)
    with pytest.raises(InvalidRecordError):
        list(keyed_records(batch[HEADER_SIZE:], header))
    with pytest.raises(InvalidRecordError):
        list(first_head(batch[HEADER_SIZE:], header, T0 + 1))
    with pytest.raises(InvalidRecordError):
        list(keyed_records(batch[HEADER_SIZE:-3], parse_header(batch)))
