"""Alerts are raised once and cleared once; what they say is what is so."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkastub_pipeline.live.alerts import (
    FLAPPING,
    GRACE_MS,
    HANGING,
    MOST,
    Found,
    Open,
    Subject,
    changes,
    expiring,
    flapping,
    hanging,
    unowned,
)

SOON = expiring("g", "orders", 0, 3_700, 12, "h:1")
LOST = unowned("g", "orders", 1, 1, "h:1")


def test_an_alert_is_raised_once_and_cleared_once() -> None:
    rows, after = changes({}, [SOON, SOON], 1_000)
    assert [(row.subject, row.state, row.since_ms) for row in rows] == [(SOON.subject, "raised", 1_000)]
    rows, after = changes(after, [SOON], 2_000)
    assert rows == []
    rows, after = changes(after, [], 3_000)
    assert [(row.subject, row.state, row.at_ms, row.since_ms) for row in rows] == [
        (SOON.subject, "cleared", 3_000, 1_000)
    ]
    assert after == {}
    assert changes(after, [], 4_000) == ([], {})


def test_a_partition_without_an_owner_has_a_moment() -> None:
    rows, after = changes({}, [LOST], 1_000)
    assert rows == []
    assert changes(after, [], 2_000) == ([], {}), "a rebalance is no alert"
    rows, after = changes(after, [LOST], 1_000 + GRACE_MS)
    assert [(row.state, row.since_ms) for row in rows] == [("raised", 1_000)]


@given(st.lists(st.sets(st.integers(0, 5)), max_size=12))
def test_rows_say_what_is_so_at_each_look(looks: list[set[int]]) -> None:
    """Who applies the rows knows what is so, as if he had looked himself."""
    state: dict[Subject, Open] = {}
    told: set[Subject] = set()
    for number, look in enumerate(looks):
        found = [Found(Subject(HANGING, None, "orders", partition), "", "") for partition in look]
        rows, state = changes(state, found, number)
        for row in rows:
            assert (row.state == "raised") == (row.subject not in told)
            told ^= {row.subject}
        assert told == {one.subject for one in found} == set(state)


def test_sentences() -> None:
    assert SOON.detail == "The offset of group 'g' for orders-0 expires in 1 h 1 min, and 12 records are behind it."
    assert expiring("g", "t", 0, -3, 1, "h:1").detail == (
        "The offset of group 'g' for t-0 has expired: the next sweep deletes it, and one record is behind it."
    )
    assert LOST.detail == "No member of group 'g' has orders-1, and one record is behind its offset."
    assert hanging("orders", 0, None, 7, 1_200, "h:1").detail == (
        "A transaction of nobody that the coordinator knows holds orders-0 at offset 7: 1,200 records are behind it."
    )


def test_a_group_that_flaps() -> None:
    minute = 60_000
    rebalances = [("calm", 4, 20 * minute), ("g", 3, 20 * minute), ("g", 2, 19 * minute), ("past", 9, minute)]
    (found,) = flapping(rebalances, 21 * minute, "h:1")
    assert found.subject == Subject(FLAPPING, "g")
    assert found.detail == "Group 'g' began 5 generations within 10 min."


def test_groups_that_flapped_before_are_looked_for_first() -> None:
    """What is open is cleared when it is over, however many others there are."""
    calm, others = ("calm", 5, 9), [(f"g{number}", 9, 9) for number in range(MOST)]
    assert "calm" not in {one.subject.group_id for one in flapping([calm, *others], 10, "h:1")}
    found = flapping([calm, *others], 10, "h:1", {Subject(FLAPPING, "calm")})
    assert (len(found), found[0].subject.group_id) == (MOST, "calm")


@pytest.mark.parametrize("name", ["a b", "$(touch x)", "it's", "new\nline", "-x", "\u202egnp"])
def test_a_command_has_the_group_as_one_word(name: str) -> None:
    command = expiring(name, "orders", 0, 1, 1, "h:1").command
    words = subprocess.run(
        ["bash", "-c", f"set -- {command}; printf '%s\\0' \"$@\""], check=True, stdout=subprocess.PIPE
    ).stdout.decode()
    found = words.split("\0")
    assert found[found.index("--group") + 1] == name


def test_no_command_for_a_name_that_no_shell_passes_on() -> None:
    assert expiring("a\0b", "orders", 0, 1, 1, "h:1").command == ""
