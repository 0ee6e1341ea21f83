"""The judges of the programs: each has to see what is wrong, or a tick in their table says nothing."""

from __future__ import annotations

import pytest

from tests.programs.judging import Record, Wrong, aborted, each_once, in_order, same


def records(*values: str, partition: int = 0) -> list[Record]:
    return [Record(partition, offset, "", value) for offset, value in enumerate(values)]


def test_what_is_lost_and_what_is_too_many_is_told() -> None:
    assert each_once("abc", "cab", "letters") == "3 letters, each once"
    with pytest.raises(Wrong, match=r"1 letters are lost \(b\); 2 letters are too many \(a, x\)"):
        each_once("abc", "acax", "letters")
    with pytest.raises(Wrong, match=r"26 records are lost \(a, b, c, d, e, …\)"):
        each_once("abcdefghijklmnopqrstuvwxyz", "")


def test_records_that_changed_places_are_told() -> None:
    seen = records("a", "b", "c")
    assert in_order(seen, {0: ["a", "b", "c"]}) == "in order in each of 1 partitions"
    with pytest.raises(Wrong, match="partition 0 is out of order from its record 1 on"):
        in_order(seen, {0: ["a", "c", "b"]})
    with pytest.raises(Wrong, match="partition 1 is out of order from its record 0 on"):
        in_order(seen, {0: ["a", "b", "c"], 1: ["d"]})


def test_a_log_without_aborted_records_shows_nothing() -> None:
    everything = records("a", "b", "c")
    assert "read_committed shows none" in aborted(everything[:2], everything)
    with pytest.raises(Wrong, match="no transaction was interrupted"):
        aborted(everything, everything)
    with pytest.raises(Wrong, match="shows what is not there"):
        aborted(records("a", "b", "c", partition=1), everything)


def test_what_is_not_as_said_is_told_with_both() -> None:
    assert same({0: 1}, {0: 1}, "offsets are equal") == "offsets are equal"
    with pytest.raises(Wrong, match=r"not so: offsets are equal, but \{0: 1\} instead of \{0: 2\}"):
        same({0: 1}, {0: 2}, "offsets are equal")
