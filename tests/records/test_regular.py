"""The quick look at records that are built alike finds what the walk finds, or leaves it to the walk."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafkawire.records import HEADER_SIZE, NewRecord, RecordScan, build_batch
from kafkawire.records.record import _scan
from kafkawire.records.regular import LEAST, scan_regular

NOW = 1_700_000_000_000


def payload_of(records: list[NewRecord]) -> bytes:
    return build_batch(records)[HEADER_SIZE:]


@pytest.mark.parametrize("count", [LEAST, 64, 65, 100, 8192, 8200])
@pytest.mark.parametrize("size", [None, 0, 1, 100, 1024])
@pytest.mark.parametrize("key", [None, b"", b"key"])
def test_records_of_one_size_are_regular(count: int, size: int | None, key: bytes | None) -> None:
    value = None if size is None else b"\xff" * size
    records = [NewRecord(key, value, NOW - number % 3) for number in range(count)]
    assert scan_regular(payload_of(records), count) == (-2, 0, count if key is None else 0)


@given(
    st.lists(st.integers(-70, 70) | st.integers(-9000, 9000), min_size=1, max_size=80),
    st.sampled_from([None, b"", b"k" * 70]),
    st.sampled_from([None, b"", b"v" * 9000]),
    st.data(),
)
def test_what_it_finds_is_what_the_walk_finds(
    deltas: list[int], key: bytes | None, value: bytes | None, data: st.DataObject
) -> None:
    payload = bytearray(payload_of([NewRecord(key, value, NOW + delta) for delta in deltas]))
    for _ in range(data.draw(st.integers(0, 2), "how many bytes are changed")):
        place = data.draw(st.integers(0, min(len(payload), 200) - 1), "which one")
        payload[place if data.draw(st.booleans()) else -1 - place] = data.draw(st.integers(0, 255), "to what")
    count = len(deltas) + data.draw(st.sampled_from([0, 0, 0, 1, -1]), "wrong by")
    if count < 1:
        return
    found = scan_regular(payload, count)
    if found is not None:
        assert (RecordScan(*found), len(payload)) == _scan(bytes(payload), count)


@given(st.binary(max_size=100), st.integers(1, 60))
@example(bytes.fromhex("0c000000010100") * 30, 30)
def test_bytes_that_never_were_records_are_no_trouble(payload: bytes, count: int) -> None:
    found = scan_regular(payload, count)
    if found is not None:
        assert (RecordScan(*found), len(payload)) == _scan(payload, count)
