"""Ranges against a set of numbers that keeps everything."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafkastub.guarantees.ranges import MOST, Ranges, left_over

PAIRS = st.tuples(st.integers(0, 60), st.integers(0, 12)).map(lambda one: (one[0], one[0] + one[1]))


def numbers(ranges: list[tuple[int, int]]) -> set[int]:
    return {number for start, end in ranges for number in range(start, end)}


@given(st.lists(PAIRS, max_size=30), PAIRS)
def test_it_is_a_set_of_numbers(added: list[tuple[int, int]], asked: tuple[int, int]):
    ranges, wanted = Ranges(added), numbers(added)
    assert numbers(list(ranges)) == wanted
    assert all(a[1] < b[0] for a, b in zip(list(ranges), list(ranges)[1:], strict=False)), (
        "they neither touch nor overlap"
    )
    assert ranges.end == max(wanted, default=-1) + 1
    assert ranges.count == len(wanted)
    assert numbers(ranges.within(*asked)) == numbers([asked]) & wanted
    assert numbers(ranges.without(*asked)) == numbers([asked]) - wanted


@given(st.lists(PAIRS, max_size=10), st.lists(PAIRS, max_size=10), st.lists(PAIRS, max_size=10))
def test_what_is_left_over_is_in_none(
    of: list[tuple[int, int]], one: list[tuple[int, int]], two: list[tuple[int, int]]
):
    assert numbers(left_over(of, Ranges(one), Ranges(two))) == numbers(of) - numbers(one) - numbers(two)


def test_it_is_bounded_and_what_was_forgotten_counts_as_in_it():
    ranges = Ranges((2 * number, 2 * number + 1) for number in range(MOST + 10))
    assert len(ranges) == MOST
    assert ranges.forgotten == 19
    assert ranges.without(0, 24) == [(19, 20), (21, 22), (23, 24)]
