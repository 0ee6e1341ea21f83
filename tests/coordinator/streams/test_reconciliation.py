"""How members of streams groups get to their targets. That it is as in Kafka is asked of Kafka's class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from kafkastub.coordinator.streams.member import MemberState, StreamsMember
from kafkastub.coordinator.streams.reconciliation import Reconciliation
from kafkastub.coordinator.streams.runners import Runners
from kafkastub.coordinator.streams.tasks import EMPTY, EMPTY_WITH_EPOCHS, TasksTuple, TasksTupleWithEpochs
from kafkawire.errors import ErrorCode, KafkaError


def target(
    active: set[int] | None = None, standby: set[int] | None = None, warmup: set[int] | None = None
) -> TasksTuple:
    return TasksTuple(*({"s": frozenset(some)} if some else {} for some in (active, standby, warmup)))


def has(active: Mapping[int, int] | None = None, standby: set[int] | None = None) -> TasksTupleWithEpochs:
    return TasksTupleWithEpochs({"s": active} if active else {}, {"s": frozenset(standby)} if standby else {})


def running(*members: StreamsMember) -> Runners:
    found = Runners()
    for member in members:
        found.add(member.assigned, member.process_id)
        found.add(member.pending_revocation, member.process_id)
    return found


def test_who_has_its_target_stays_the_same():
    member = StreamsMember("m", 3, 2, assigned=has({0: 3}))
    assert Reconciliation(3, target({0}), running(member), None).next(member) is member


def test_a_free_task_is_given_at_once_with_the_epoch_of_the_target():
    member = StreamsMember("m", 3, 2, process_id="p", assigned=has({0: 2}))
    after = Reconciliation(4, target({0, 1}), running(member), None).next(member)
    assert (after.state, after.member_epoch, after.previous_member_epoch) == (MemberState.STABLE, 4, 3)
    assert after.assigned == has({0: 2, 1: 4})


def test_a_member_lets_go_before_it_is_in_the_new_epoch():
    member = StreamsMember("m", 3, 2, process_id="p", assigned=has({0: 2, 1: 3}))
    step = Reconciliation(4, target({0}), running(member), None)
    after = step.next(member)
    assert (after.state, after.member_epoch) == (MemberState.UNREVOKED_TASKS, 3)
    assert (after.assigned, after.pending_revocation) == (has({0: 2}), has({1: 3}))
    assert step.next(after) is after
    assert step._replace(owned=target({0, 1})).next(after) is after
    done = step._replace(owned=target({0})).next(after)
    assert (done.state, done.member_epoch, done.pending_revocation) == (MemberState.STABLE, 4, EMPTY_WITH_EPOCHS)


def test_who_says_that_it_does_not_have_them_lets_go_at_once():
    member = StreamsMember("m", 3, 2, process_id="p", assigned=has({0: 2, 1: 3}))
    after = Reconciliation(4, target({0}), running(member), target({0})).next(member)
    assert (after.state, after.member_epoch, after.assigned) == (MemberState.STABLE, 4, has({0: 2}))


def test_a_member_waits_for_tasks_that_others_run():
    other = StreamsMember("o", 3, 3, process_id="q", assigned=has({0: 3}))
    member = StreamsMember("m", process_id="p")
    waiting = Reconciliation(4, target({0, 1}), running(other), None).next(member)
    assert (waiting.state, waiting.member_epoch, waiting.assigned) == (MemberState.UNRELEASED_TASKS, 4, has({1: 4}))
    done = Reconciliation(4, target({0, 1}), running(waiting), None).next(waiting)
    assert (done.state, done.assigned) == (MemberState.STABLE, has({0: 4, 1: 4}))


def test_two_members_of_a_process_never_have_the_same_task():
    other = StreamsMember("o", 3, 3, process_id="p", assigned=has({0: 3}))
    member = StreamsMember("m", process_id="p")
    waiting = Reconciliation(4, target(standby={0}), running(other), None).next(member)
    assert (waiting.state, waiting.assigned) == (MemberState.UNRELEASED_TASKS, EMPTY_WITH_EPOCHS)
    elsewhere = Reconciliation(4, target(standby={0}), running(other), None).next(replace(member, process_id="q"))
    assert (elsewhere.state, elsewhere.assigned) == (MemberState.STABLE, has(standby={0}))


def test_a_standby_task_that_becomes_active_is_kept_until_it_is_free():
    other = StreamsMember("o", 3, 3, process_id="q", assigned=has({0: 3}))
    member = StreamsMember("m", 3, 3, process_id="p", assigned=has(standby={0}))
    waiting = Reconciliation(4, target({0}), running(other, member), None).next(member)
    assert (waiting.state, waiting.assigned) == (MemberState.UNRELEASED_TASKS, has(standby={0}))
    done = Reconciliation(4, target({0}), running(waiting), None).next(waiting)
    assert (done.state, done.assigned) == (MemberState.STABLE, has({0: 4}))


def test_an_active_task_that_becomes_standby_is_both_until_it_is_let_go_of():
    member = StreamsMember("m", 3, 3, process_id="p", assigned=has({0: 3}))
    after = Reconciliation(4, target(standby={0}), running(member), None).next(member)
    assert (after.state, after.assigned) == (MemberState.UNREVOKED_TASKS, has(standby={0}))
    assert after.pending_revocation == has({0: 3})


def test_a_standby_task_becomes_a_warm_up_task_without_being_let_go_of():
    member = StreamsMember("m", 3, 3, process_id="p", assigned=has(standby={0}))
    after = Reconciliation(4, target(warmup={0}), running(member), None).next(member)
    assert (after.state, after.member_epoch) == (MemberState.STABLE, 4)
    assert after.assigned == TasksTupleWithEpochs(warmup={"s": frozenset({0})})


@pytest.mark.parametrize("owned", [None, target({0})])
def test_who_is_in_a_state_of_the_future_has_to_let_go_of_everything(owned: TasksTuple | None):
    member = StreamsMember("m", 3, 2, MemberState.UNKNOWN, assigned=has({0: 3}))
    with pytest.raises(KafkaError) as refused:
        Reconciliation(4, target({0}), running(member), owned).next(member)
    assert refused.value.code == ErrorCode.FENCED_MEMBER_EPOCH
    after = Reconciliation(4, target({0}), running(member), EMPTY).next(member)
    assert (after.state, after.member_epoch) == (MemberState.STABLE, 4)


def test_a_task_that_another_process_has_got_stays_with_it():
    found = running(StreamsMember("m", process_id="p", assigned=has({0: 3}, {1})))
    found.add(has({0: 4}), "q")
    found.remove(has({0: 3}, {1}), "p")
    assert (found.active("s", 0), found.standby("s", 1), found.warmup("s", 1)) == ("q", (), ())
    found.remove(has(standby={7}), "p")


def test_before_4_4_a_standby_task_is_let_go_of_before_it_becomes_active():
    member = StreamsMember("m", 3, 2, process_id="p", assigned=has(standby={0}))
    step = Reconciliation(4, target({0}), running(member), None, roles_change=False)
    letting_go = step.next(member)
    assert (letting_go.state, letting_go.pending_revocation) == (MemberState.UNREVOKED_TASKS, has(standby={0}))
    waits = step._replace(owned=EMPTY).next(letting_go)
    assert (waits.state, waits.assigned) == (MemberState.UNRELEASED_TASKS, EMPTY_WITH_EPOCHS)
    done = step._replace(running=running(waits)).next(waits)
    assert (done.state, done.assigned) == (MemberState.STABLE, has({0: 4}))
    newer = Reconciliation(4, target({0}), running(member), None).next(member)
    assert (newer.state, newer.assigned) == (MemberState.STABLE, has({0: 4}))
