"""What is kept of share partitions: batches put over each other."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kafkastub.share_coordinator.combiner import combine, merge
from kafkastub.share_coordinator.state_batches import StateBatch


@st.composite
def batches(draw: st.DrawFn) -> list[StateBatch]:
    found = []
    for _ in range(draw(st.integers(0, 6))):
        first = draw(st.integers(0, 40))
        state, count = draw(st.sampled_from([0, 2, 4])), draw(st.integers(1, 3))
        found.append(StateBatch(first, first + draw(st.integers(0, 12)), state, count))
    return found


def by_offset(some: list[StateBatch], start_offset: int) -> dict[int, tuple[int, int]]:
    """The naive way: of each offset the highest delivery count, and of those the highest state."""
    found: dict[int, tuple[int, int]] = {}
    for one in some:
        for offset in range(max(one.first_offset, start_offset), one.last_offset + 1):
            found[offset] = max(found.get(offset, (-1, -1)), (one.delivery_count, one.delivery_state))
    return found


def is_smallest(some: list[StateBatch]) -> bool:
    """Ascending, apart, and no neighbours that could be one."""
    return all(
        one.last_offset < two.first_offset and (one.last_offset + 1 < two.first_offset or one[2:] != two[2:])
        for one, two in pairwise(some)
    )


@given(batches(), st.integers(-1, 50))
def test_of_each_offset_the_batch_counts_that_was_delivered_most(some: list[StateBatch], start_offset: int) -> None:
    found = combine(some, start_offset)
    assert by_offset(found, -1) == by_offset(some, start_offset)
    assert is_smallest(found)


@given(st.lists(st.tuples(batches(), st.integers(0, 9)), max_size=6))
def test_merging_bit_by_bit_is_combining_everything(steps: list[tuple[list[StateBatch], int]]) -> None:
    known: list[StateBatch] = []
    start_offset = -1
    for new, further in steps:
        start_offset += further
        expected = combine((*known, *new), start_offset)
        merge(known, combine(new, start_offset), start_offset)
        assert known == expected


def test_an_acknowledgement_costs_what_it_has() -> None:
    known = [StateBatch(offset, offset, 2, 1) for offset in range(0, 20_000, 2)]
    asked = 0

    class Counted(list[StateBatch]):
        def __getitem__(self, index: object) -> StateBatch:  # type: ignore[override]
            nonlocal asked
            asked += 1
            return super().__getitem__(index)  # type: ignore[index, no-any-return]

    counted = Counted(known)
    merge(counted, [StateBatch(10_001, 10_001, 2, 1)], 0)
    assert StateBatch(10_000, 10_002, 2, 1) in counted
    assert asked < 100
