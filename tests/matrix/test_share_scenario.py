"""The judges of the share groups' scenario: each has to see what is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.matrix.scenario import Seen
from tests.matrix.scenarios import SHARE, steps_of
from tests.matrix.share_scenario import LATE, SHARE_STEPS

JUDGES = {step.name: step.judge for step in SHARE_STEPS}
PARTITIONS = range(4)


def everywhere(number: int) -> dict[int, int]:
    return dict.fromkeys(PARTITIONS, number)


def rows(first: int, end: int, partitions: range = PARTITIONS, count: int = 1) -> list[list[object]]:
    return [[index, offset, f"{index}-{offset}", count] for index in partitions for offset in range(first, end)]


NONE = Seen()
PRODUCED = Seen(everywhere(10))
ACCEPTED = Seen(everywhere(10), state="Stable", members=((0, 1, 2, 3),), listed=True, lags=everywhere(0))
JOINED = replace(ACCEPTED, members=((0, 1), (2, 3)))
MORE = replace(JOINED, ends=everywhere(20))
STARTED = replace(MORE, starts=everywhere(20))
LEFT = replace(STARTED, state="Empty", members=())
ALTERED = replace(LEFT, starts={0: 5, 1: 20, 2: 20, 3: 20})
AGAIN = replace(ALTERED, state="Stable")
FORGOTTEN = replace(LEFT, starts={})

ODD_TWICE = rows(10, 20) + [
    [index, offset, f"{index}-{offset}", 2] for index in PARTITIONS for offset in range(11, 20, 2)
]
POISON = rows(10, 20) + rows(15, 16, count=2) + rows(15, 16, count=3)
KEPT = rows(10, 20, range(2))
RIGHT: dict[str, tuple[dict[str, Any], Seen, Seen]] = {
    "produce": ({"offsets": {str(index): list(range(10)) for index in PARTITIONS}}, PRODUCED, NONE),
    "accept": ({"records": rows(0, 10)}, ACCEPTED, PRODUCED),
    "join": ({}, JOINED, ACCEPTED),
    "both": ({"records": [rows(10, 20, range(2)), rows(10, 20, range(2, 4))]}, MORE, JOINED),
    "release": ({"records": ODD_TWICE}, MORE, JOINED),
    "poison": ({"records": POISON}, MORE, JOINED),
    "reject": ({"records": rows(10, 20)}, MORE, JOINED),
    "renew": ({"records": rows(10, 20)}, MORE, JOINED),
    "expire": (
        {"kept": KEPT, "late": [LATE], "records": rows(10, 20, range(2), 2) + rows(10, 20, range(2, 4))},
        MORE,
        JOINED,
    ),
    "close": ({"records": [KEPT, rows(10, 20, range(2), 2) + rows(10, 20, range(2, 4))]}, MORE, JOINED),
    "leave": ({}, LEFT, STARTED),
    "alter_offsets": ({}, ALTERED, LEFT),
    "again": ({"records": rows(5, 20, range(1))}, AGAIN, ALTERED),
    "delete_offsets": ({}, FORGOTTEN, LEFT),
    "delete_group": ({}, Seen(everywhere(20)), FORGOTTEN),
}


def test_every_step_is_judged() -> None:
    assert list(RIGHT) == [step.name for step in steps_of(SHARE)]


@pytest.mark.parametrize("step", RIGHT)
def test_a_right_step_has_no_complaint(step: str) -> None:
    assert list(JUDGES[step](*RIGHT[step])) == []


WRONG: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("accept", {"records": rows(0, 9)}, {}, "the record at 0-9 came with the counts [] instead of [1]"),
    ("accept", {"records": rows(0, 10) + rows(9, 10)}, {}, "the record at 0-9 came with the counts [1, 1]"),
    ("accept", {"records": rows(0, 10, count=2)}, {}, "came with the counts [2] instead of [1]"),
    ("accept", {}, {"lags": {**everywhere(0), 2: 10}}, "shows the lags"),
    ("accept", {"records": [*rows(0, 10), [7, 0, "7-0", 1]]}, {}, "not of this step: [(7, 0)]"),
    ("accept", {"records": [*rows(0, 10)[1:], [0, 0, "0-7", 1]]}, {}, "the record at 0-0 has the value '0-7'"),
    ("join", {}, {"members": ((0, 1, 2, 3),)}, "Stable with 1 members instead of Stable with 2"),
    ("join", {}, {"members": ((0, 1, 2), (2, 3))}, "each partition should be one member's"),
    ("both", {"records": [rows(10, 20), rows(10, 11)]}, {}, "the record at 0-10 came with the counts [1, 1]"),
    ("release", {"records": rows(10, 20)}, {}, "the record at 0-11 came with the counts [1] instead of [1, 2]"),
    ("poison", {"records": POISON + rows(15, 16, count=4)}, {}, "counts [1, 2, 3, 4] instead of [1, 2, 3]"),
    ("poison", {"records": rows(10, 20)}, {}, "counts [1] instead of [1, 2, 3]"),
    ("reject", {"records": rows(10, 20) + rows(15, 16, count=2)}, {}, "counts [1, 2] instead of [1]"),
    ("renew", {"records": rows(10, 20) + rows(15, 16, count=2)}, {}, "counts [1, 2] instead of [1]"),
    ("expire", {"late": []}, {}, f"came to [] instead of {LATE}"),
    ("expire", {"kept": []}, {}, "the member had no record"),
    ("expire", {"records": rows(10, 20)}, {}, "counts [1, 1] instead of [1, 2]"),
    ("close", {"records": [KEPT, rows(10, 20)]}, {}, "counts [1, 1] instead of [1, 2]"),
    ("close", {"records": [[], rows(10, 20)]}, {}, "the member that closed had no record"),
    ("leave", {}, {"state": "Stable", "members": ((0,),)}, "the group is Stable with 1 members"),
    ("leave", {}, {"starts": everywhere(19)}, "now starts at 0:19"),
    ("alter_offsets", {}, {"starts": everywhere(20)}, "the group starts at 0:20"),
    ("again", {"records": rows(6, 20, range(1))}, {}, "the record at 0-5 came with the counts []"),
    ("delete_offsets", {}, {"starts": everywhere(20)}, "still starts at 0:20"),
]


@pytest.mark.parametrize(("step", "told", "seen", "complaint"), WRONG)
def test_a_wrong_step_is_complained_of(step: str, told: dict[str, Any], seen: dict[str, Any], complaint: str) -> None:
    right_told, right_seen, before = RIGHT[step]
    assert complaint in "; ".join(JUDGES[step]({**right_told, **told}, replace(right_seen, **seen), before))


def test_what_a_client_had_fetched_and_not_given_out_comes_as_the_second_delivery() -> None:
    told = {"records": [rows(10, 11, range(1)), rows(10, 14, count=2) + rows(14, 20)]}
    assert list(JUDGES["close"](told, MORE, JOINED)) == []
