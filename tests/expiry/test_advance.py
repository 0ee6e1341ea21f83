"""`clock.advance`: everything on the way at its own time and in its order, and an end to it."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from kafkastub.coordinator import GroupTombstone, OffsetTombstone
from kafkawire.errors import ErrorCode
from tests.coordinator.context import DAY_MS, RETENTION_MS, START_MS, Member
from tests.coordinator.test_replay import Lives
from tests.expiry.context import HOUR_MS, ClockedContext


def happened(context: ClockedContext) -> list[tuple[int, str]]:
    """(ms since the start, what) of every tombstone."""
    return [(at - START_MS, group if place is None else f"{place[0]}-{place[1]}") for at, group, place in
            context.stamping.tombstones]  # fmt: skip


def test_each_offset_expires_at_its_own_time_in_the_order_of_time():
    context = ClockedContext()
    for hours, (group, partition) in enumerate([("late", 0), ("late", 1), ("soon", 2)]):
        context.commit(group, {"a": {partition: 1}}, retention=DAY_MS - 2 * hours * HOUR_MS, version=4)
        context.move(HOUR_MS)
    context.commit("never", {"a": {3: 1}})
    context.move(7 * DAY_MS - 4 * HOUR_MS)
    hours = [(at / HOUR_MS, what) for at, what in happened(context)]
    assert hours == [(22, "a-2"), (22, "soon"), (23, "a-1"), (24, "a-0"), (24, "late")]
    assert context.fetch("never") != {}


def test_an_offset_that_is_overdue_when_the_clock_moves_expires_before_it_does():
    context = ClockedContext()
    context.commit("g", {"a": {0: 1}}, retention=0, version=4)
    context.move(DAY_MS)
    assert happened(context) == [(0, "a-0"), (0, "g")]


def test_sessions_run_out_on_the_way_and_the_age_of_offsets_counts_from_there():
    context = ClockedContext()
    (member,) = context.stable(session=10_000)
    ready = context.broker_ms - START_MS
    context.commit("g", {"a": {0: 1}}, generation=1, member_id=member.member_id)
    context.commit("simple", {"a": {1: 1}}, retention=9_999, version=4)
    context.commit("other", {"a": {2: 1}}, retention=10_001, version=4)
    context.move(30 * DAY_MS, timers=True)
    assert [(at - ready, what) for at, what in happened(context)] == [
        (9_999, "a-1"),
        (9_999, "simple"),
        (10_001, "a-2"),
        (10_001, "other"),
        (10_000 + RETENTION_MS, "a-0"),
        (10_000 + RETENTION_MS, "g"),
    ]


def test_a_rebalance_times_out_on_the_way_and_the_group_goes_on():
    context = ClockedContext()
    stays, goes = context.stable(2, session=1_800_000)
    back = context.join(member_id=stays.member_id, session=1_800_000)
    context.move(60_000, timers=True)
    stays.generation = back.answer.generation_id
    context.sync(stays, {stays.member_id: b""})
    assert context.heartbeat(goes) is ErrorCode.UNKNOWN_MEMBER_ID
    assert context.group_state() == "Stable"


def test_setting_the_clock_forward_is_advancing_it():
    from kafkastub import KafkaStub

    with KafkaStub() as stub:
        stub.clock.freeze()
        start = stub.clock.now_ms()
        stub.clock.set(start + DAY_MS)
        assert stub.clock.now_ms() == start + DAY_MS
        stub.clock.set(start)
        assert stub.clock.now_ms() == start


def test_a_running_clock_runs_on_from_where_it_was_moved():
    from kafkastub import KafkaStub

    with KafkaStub() as stub:
        before = stub.clock.now_ms()
        stub.clock.advance(days=1)
        first = stub.clock.now_ms()
        assert before + DAY_MS <= first <= stub.clock.now_ms()


def test_a_pending_transaction_does_not_make_an_advance_look_at_each_millisecond():
    context = ClockedContext()
    context.commit("g", {"a": {0: 1}})
    context.pend("g", {"a": {0: 2}})
    context.move(8 * DAY_MS, most_steps=10)
    assert happened(context) == []


def test_short_check_intervals_do_not_make_an_advance_of_the_timers_long():
    context = ClockedContext(offsets_retention_check_interval_ms=1)
    context.commit("g", {"a": {0: 1}})
    context.move(8 * DAY_MS, timers=True, most_steps=10)
    assert happened(context) == [(RETENTION_MS, "a-0"), (RETENTION_MS, "g")]


def test_a_rebalance_timeout_of_zero_does_not_keep_the_clock_from_moving():
    context = ClockedContext()
    parked = [context.join(instance=i, session=10_000, rebalance=0) for i in ("i1", "i2")]
    context.state.expire(context.broker_ms, context.timer_ms)
    old = [Member("g", p.answer.member_id, 1) for p in parked]
    for member, instance in zip(old, ("i1", "i2"), strict=True):
        context.sync(member, {}, instance=instance)
    context.leave("g", (old[1].member_id, "i2"))
    assert context.group_state() == "PreparingRebalance"
    context.move(DAY_MS, timers=True)
    assert context.describe().group_state == "Dead"


class MovedLives(Lives):
    """Clients that do anything, while the clock takes their timers along: an advance ends, and time goes forward."""

    def __init__(self) -> None:
        super().__init__()
        self.context = ClockedContext(group_max_size=4)

    @rule(group=st.sampled_from(["g", "h"]), instance=st.sampled_from(["i1", "i2"]))
    def impatient_static_member(self, group: str, instance: str) -> None:
        self._follow(group, self.context.join(group, instance=instance, session=6_000, rebalance=0))

    @rule(ms=st.sampled_from([0, 1, 3_000, 9_000, 60_000, 400_000, DAY_MS, 8 * DAY_MS]), timers=st.booleans())
    def clock_moves(self, ms: int, timers: bool) -> None:
        context = self.context
        assert isinstance(context, ClockedContext)
        before = context.clock.both()
        context.move(ms, timers)
        assert context.clock.both() == (before[0] + ms, before[1] + ms * timers)
        tombstones = [at for at, _, _ in context.stamping.tombstones]
        assert tombstones == sorted(tombstones)
        expiry = context.coordinator.next_expiry()
        assert expiry is None or expiry > context.broker_ms


TestMovedLives = MovedLives.TestCase
TestMovedLives.settings = settings(max_examples=50, stateful_step_count=30, deadline=None)


def test_a_sweep_stamps_its_batch_too():
    """A tombstone on the log is as old as what it says."""
    context = ClockedContext()
    context.commit("g", {"a": {0: 1}})
    context.move(30 * DAY_MS)
    logs = context.state.offsets_topic.logs
    assert [r.timestamp - START_MS for log in logs for r in log.records() if r.value is None] == [RETENTION_MS] * 2


@pytest.mark.parametrize("timers", [False, True])
def test_nothing_to_do_is_one_step_and_with_the_timers_one_regular_sweep(timers: bool):
    context = ClockedContext()
    context.move(100_000 * DAY_MS, timers, most_steps=2 if timers else 1)
    assert not any(isinstance(r, OffsetTombstone | GroupTombstone) for r in context.records)
