"""The judges of the matrix: each has to see what is wrong, or a tick in its table says nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.matrix.scenario import CONSUMER_STEPS, Seen, of_wrong_type, wrong_records
from tests.matrix.scenarios import steps_of

JUDGES = {step.name: step.judge for step in CONSUMER_STEPS}


def everywhere(offset: int) -> dict[int, int]:
    return dict.fromkeys(range(4), offset)


def rows(first: int, end: int, partitions: range = range(4)) -> list[list[object]]:
    return [[partition, offset, f"{partition}-{offset}"] for partition in partitions for offset in range(first, end)]


def text_keys(numbers: dict[int, Any]) -> dict[str, Any]:
    return {str(key): value for key, value in numbers.items()}


ADDED = ("expression", "static", "return")
NONE = Seen()
PRODUCED = Seen(everywhere(10))
CONSUMED = replace(PRODUCED, committed=everywhere(10), state="Stable", members=((0, 1, 2, 3),), listed=True)
REBALANCED = replace(CONSUMED, members=((2, 3), (0, 1)))
SHARED = replace(REBALANCED, ends=everywhere(20))
COMMITTED = replace(SHARED, committed=everywhere(15))
LEFT = replace(COMMITTED, state="Empty", members=())
RESUMED = replace(LEFT, committed=everywhere(20))
EXPRESSED = replace(RESUMED, ends=everywhere(30), committed=everywhere(30), members=((0, 1, 2, 3),))
OFFSETS_DELETED = replace(RESUMED, committed={1: 20, 2: 20, 3: 20})
GROUP_DELETED = Seen(everywhere(20), state="Dead")
AWAY = Seen(everywhere(20), members=((2, 3), (0, 1)), instances={"named": (-2, (0, 1))}, listed=True, epoch=4)
BACK = replace(AWAY, instances={"named": (4, (0, 1))}, state="Stable")

TWO_PARTS = [rows(10, 20, range(2)), rows(10, 20, range(2, 4))]
RIGHT: dict[str, tuple[dict[str, Any], Seen, Seen]] = {
    "produce": ({"offsets": {str(index): list(range(10)) for index in range(4)}}, PRODUCED, NONE),
    "consume": ({"records": rows(0, 10)}, CONSUMED, PRODUCED),
    "rebalance": ({"members": [[0, 1], [2, 3]]}, REBALANCED, CONSUMED),
    "share": ({"records": TWO_PARTS}, SHARED, REBALANCED),
    "commit": ({"committed": text_keys(everywhere(15))}, COMMITTED, SHARED),
    "leave": ({}, LEFT, COMMITTED),
    "resume": ({"records": rows(15, 20)}, RESUMED, LEFT),
    "expression": ({"records": rows(20, 30)}, EXPRESSED, RESUMED),
    "delete_offsets": ({}, OFFSETS_DELETED, RESUMED),
    "delete_group": ({}, GROUP_DELETED, OFFSETS_DELETED),
    "static": ({"members": [[0, 1], [2, 3]]}, AWAY, GROUP_DELETED),
    "return": ({"members": [[0, 1], [2, 3]]}, BACK, AWAY),
}


def test_every_step_is_judged() -> None:
    assert list(RIGHT) == [step.name for step in CONSUMER_STEPS]
    assert list(steps_of("classic")) == [step for step in CONSUMER_STEPS if step.name not in ADDED]


def test_a_group_of_another_protocol_than_was_asked_for_is_told() -> None:
    listed = replace(NONE, listed=True, type="Classic")
    assert list(of_wrong_type("consumer", listed)) == ["the group is one of the classic protocol"]
    assert list(of_wrong_type("classic", listed)) == list(of_wrong_type("consumer", NONE)) == []


@pytest.mark.parametrize("step", RIGHT)
def test_a_right_step_has_no_complaint(step: str) -> None:
    assert list(JUDGES[step](*RIGHT[step])) == []


WRONG: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("produce", {}, {"ends": {0: 10, 1: 10, 2: 9, 3: 10}}, "the log ends at 0:10 1:10 2:9 3:10"),
    ("produce", {"offsets": {"0": [1, 2]}}, {}, "partition 0 were acknowledged at [1, 2]"),
    ("consume", {"records": rows(0, 9)}, {}, "of partition 0 came 0-8 instead of 0-9"),
    ("consume", {"records": rows(0, 10) + rows(9, 10)}, {}, "instead of 0-9"),
    ("consume", {}, {"committed": {}}, "committed is nothing"),
    ("rebalance", {"members": [[0, 1, 2, 3], []]}, {}, "each of two should have partitions"),
    ("rebalance", {"members": [[0, 1, 2], [2, 3]]}, {}, "each partition should have one owner"),
    ("rebalance", {}, {"state": "CompletingRebalance"}, "as CompletingRebalance instead of Stable"),
    ("rebalance", {}, {"members": ((0, 2), (1, 3))}, "they themselves say"),
    ("share", {"records": [rows(10, 20), rows(10, 11)]}, {}, "both members read partition 0-3"),
    ("share", {"records": [rows(10, 20), []]}, {}, "but they read"),
    ("commit", {}, {"committed": everywhere(14)}, "committed is 0:14"),
    ("commit", {"committed": text_keys(everywhere(10))}, {"committed": everywhere(10)}, "not more than before"),
    ("leave", {}, {"state": "Stable", "members": ((0, 1, 2, 3),)}, "the group is Stable with 1 members"),
    ("leave", {}, {"committed": everywhere(20)}, "committed was 0:15"),
    ("resume", {"records": rows(16, 20)}, {}, "of partition 0 came 16-19 instead of 15-19"),
    ("resume", {"records": []}, {"ends": everywhere(15)}, "nothing is left to resume"),
    ("expression", {"records": rows(21, 30)}, {}, "of partition 0 came 21-29 instead of 20-29"),
    ("expression", {"records": []}, {"ends": everywhere(20)}, "nothing new was written"),
    ("expression", {}, {"members": ((0, 1), (2, 3))}, "instead of one with all partitions"),
    ("expression", {}, {"committed": everywhere(20)}, "committed is 0:20"),
    ("static", {}, {"instances": {"named": (3, (0, 1))}}, "instead of 'named' in epoch -2"),
    ("static", {}, {"instances": {}}, "the broker shows {}"),
    ("static", {}, {"members": ((0, 1, 2, 3),)}, "they themselves say"),
    ("return", {}, {"instances": {"named": (-2, (0, 1))}}, "instead of 'named' in epoch 4"),
    ("return", {}, {"members": ((0,), (1, 2, 3))}, "they themselves say"),
    ("return", {}, {"epoch": 5, "instances": {"named": (5, (0, 1))}}, "the group's epoch was 4 and is now 5"),
    ("delete_offsets", {}, {"committed": everywhere(20)}, "committed is 0:20"),
    ("delete_offsets", {}, {"committed": {}}, "committed is nothing"),
    ("delete_group", {}, {"listed": True}, "still listed"),
    ("delete_group", {}, {"state": "Empty"}, "still described, as Empty"),
    ("delete_group", {}, {"committed": {1: 20}}, "committed is still 1:20"),
]


@pytest.mark.parametrize(("step", "told", "seen", "complaint"), WRONG)
def test_a_wrong_step_is_complained_of(step: str, told: dict[str, Any], seen: dict[str, Any], complaint: str) -> None:
    right_told, right_seen, before = RIGHT[step]
    assert complaint in "; ".join(JUDGES[step]({**right_told, **told}, replace(right_seen, **seen), before))


def test_a_client_without_groups_commits_nothing() -> None:
    told = {"records": rows(0, 10), "group": False}
    assert list(JUDGES["consume"](told, PRODUCED, PRODUCED)) == []


def test_records_out_of_order_of_another_value_or_partition_are_told() -> None:
    ends = {0: 2}
    assert list(wrong_records([(0, 1, "0-1"), (0, 0, "0-0")], {}, ends)) == ["of partition 0 came 1, 0 instead of 0, 1"]
    assert list(wrong_records([(0, 0, "0-0"), (0, 1, "0-7")], {}, ends)) == ["the record at 0-1 has the value '0-7'"]
    assert list(wrong_records([(7, 0, "7-0")], {}, {})) == ["partitions [7] do not exist"]
