"""What is read of batches: ordinary ones that follow each other are one stretch, all others stay what they are."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kafkastub.guarantees.reading import batches_in, spans_in
from kafkawire.records import NewRecord, build_batch, build_marker

KINDS = st.lists(st.tuples(st.sampled_from(["ordinary", "marker"]), st.integers(1, 3), st.integers(0, 2)), max_size=12)


@given(KINDS, st.integers(0, 80))
def test_stretches_cover_the_batches(kinds: list[tuple[str, int, int]], cut: int):
    data, offset = b"", 0
    for kind, count, gap in kinds:
        offset += gap
        if kind == "ordinary":
            batch = build_batch([NewRecord(None, b"x", 1)] * count)
            data += offset.to_bytes(8) + batch[8:]
            offset += count
        else:
            data += build_marker(7, 0, count > 1, 0, 1, base_offset=offset)
            offset += 1
    data = data[: len(data) - cut] if cut else data
    one_by_one, spans = list(batches_in(data)), list(spans_in(data))

    def offsets(found: list[object], control: bool) -> set[int]:
        return {n for one in found if one.control is control for n in range(one.first, one.end)}  # type: ignore[attr-defined]

    assert offsets(list(spans), False) == offsets(list(one_by_one), False)
    assert [one for one in spans if one.control] == [one for one in one_by_one if one.control]
    assert [one.aborts for one in spans if one.control] == [one.aborts for one in one_by_one if one.control]
    ordinary = [one for one in spans if not one.control]
    assert all(one.end <= two.first for one, two in pairwise(ordinary))
