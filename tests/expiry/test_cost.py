"""What a sweep looks at follows what is due and not what lives; counted, not timed."""

from __future__ import annotations

import pytest

from kafkastub.coordinator import deletion, expiry
from tests.coordinator.context import RETENTION_MS
from tests.expiry.context import HOUR_MS, ClockedContext

MINUTE_MS = 60_000


class Looked:
    """How many groups and offsets were looked at since the last time that one asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._groups = self._offsets = 0
        examine, expires_at = deletion.examine, expiry.expires_at

        def group(*args):
            self._groups += 1
            return examine(*args)

        def offset(*args):
            self._offsets += 1
            return expires_at(*args)

        monkeypatch.setattr(deletion, "examine", group)
        monkeypatch.setattr(expiry, "expires_at", offset)

    def __call__(self) -> tuple[int, int]:
        seen = self._groups, self._offsets
        self._groups = self._offsets = 0
        return seen


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Looked:
    return Looked(monkeypatch)


def test_nothing_due_is_nothing_looked_at(looked: Looked):
    context = ClockedContext()
    for number in range(1000):
        context.commit(f"g{number}", {"a": dict.fromkeys(range(10), 1)})
    for _ in range(10):
        context.sweep(HOUR_MS)
    assert looked() == (0, 0)


def test_one_in_a_hundred_due_is_one_in_a_hundred_looked_at(looked: Looked):
    context = ClockedContext()
    for number in range(1000):
        if number == 10:
            context.broker_ms += HOUR_MS
        context.commit(f"g{number}", {"a": dict.fromkeys(range(10), 1)})
    turn = context.sweep(RETENTION_MS - HOUR_MS)
    assert len(turn.records) == 10 * 11
    assert looked() == (10, 100)


def test_in_a_large_group_only_the_topics_that_hold_something_due_are_looked_at(looked: Looked):
    context = ClockedContext(topics=[f"t{number}" for number in range(100)])
    for number in range(100):
        if number == 1:
            context.broker_ms += HOUR_MS
        context.commit("g", {f"t{number}": dict.fromkeys(range(10), 1)})
    assert len(context.sweep(RETENTION_MS - HOUR_MS).records) == 10
    assert looked() == (1, 10)


def test_a_group_that_commits_all_the_time_is_looked_at_once_a_retention(looked: Looked):
    context = ClockedContext()
    for _ in range(3 * 7 * 24):
        context.commit("g", {"a": {0: 1}})
        context.sweep(HOUR_MS)
    groups, offsets = looked()
    assert groups <= 3
    assert offsets <= 3


def test_a_live_group_is_looked_at_after_a_rebalance_only(looked: Looked):
    context = ClockedContext()
    (member,) = context.stable()
    context.commit("g", {"a": dict.fromkeys(range(10), 1)}, generation=1, member_id=member.member_id)
    context.sweep()
    looked()
    for _ in range(1000):
        context.sweep(HOUR_MS)
    assert looked() == (0, 0)


def test_an_infinite_retention_looks_at_no_offset(looked: Looked):
    context = ClockedContext(offsets_retention_minutes=-1)
    for number in range(100):
        context.commit(f"g{number}", {"a": dict.fromkeys(range(10), 1)}, retention=1, version=4)
    for _ in range(10):
        context.sweep(HOUR_MS)
    assert looked() == (0, 0)


def test_groups_that_are_deleted_leave_nothing_behind():
    context = ClockedContext()
    for number in range(2_000):
        context.commit(f"g{number}")
        context.delete_groups(f"g{number}")
    assert len(context.coordinator.index) < 200


def test_a_group_that_rebalances_all_the_time_is_on_the_list_a_few_times():
    context = ClockedContext()
    (member,) = context.stable(session=1_800_000)
    for _ in range(500):
        context.commit("g", {"b": {0: 1}}, generation=member.generation, member_id=member.member_id)
        context.sweep(MINUTE_MS)
        joined = context.join(member_id=member.member_id, session=1_800_000)
        member.generation = joined.answer.generation_id
        context.sync(member, {member.member_id: b""})
        context.sweep(MINUTE_MS)
    assert len(context.coordinator.index) < 200
