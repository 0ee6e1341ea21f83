"""What users rely on of the task assignor; that it is Kafka's to the last task is asked of Kafka's class."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping

import pytest

from kafkastub.coordinator.modern.assignors.errors import AssignorError
from kafkastub.coordinator.modern.assignors.least_loaded import LeastLoaded
from kafkastub.coordinator.modern.assignors.sticky_tasks import (
    MemberTasks,
    StickyTaskAssignor,
    SubtopologyTasks,
    TaskAssignment,
)
from kafkastub.coordinator.streams.member import StreamsMember
from kafkastub.coordinator.streams.targets import Computation
from kafkastub.coordinator.streams.tasks import EMPTY, TasksTuple, TasksTupleWithEpochs
from tests.coordinator.streams.random_applications import Subtopology, histories

STATEFUL, STATELESS = True, False


def had(
    process_id: str,
    active: Mapping[str, set[int]] | None = None,
    standby: Mapping[str, set[int]] | None = None,
    offsets: Mapping[str, Mapping[int, int]] | None = None,
) -> MemberTasks:
    return MemberTasks(process_id, active or {}, standby or {}, offsets or {})


def assign(
    members: Mapping[str, MemberTasks], standbys: int = 0, **subtopologies: tuple[int, bool]
) -> dict[str, TaskAssignment]:
    described = {name: SubtopologyTasks(*one) for name, one in subtopologies.items()}
    return StickyTaskAssignor().assign(members, described, standbys)


def plain(tasks: Mapping[str, frozenset[int]]) -> dict[str, list[int]]:
    return {name: sorted(some) for name, some in tasks.items()}


def test_members_keep_what_they_have():
    found = assign({"a": had("p", {"s": {1, 3}}), "b": had("q", {"s": {0, 2}})}, s=(4, STATELESS))
    assert plain(found["a"].active) == {"s": [1, 3]}
    assert plain(found["b"].active) == {"s": [0, 2]}


def test_a_new_member_is_given_its_share():
    found = assign({"a": had("p", {"s": {0, 1, 2, 3}}), "b": had("q")}, s=(4, STATELESS))
    assert plain(found["a"].active) == {"s": [0, 1]}
    assert plain(found["b"].active) == {"s": [2, 3]}


def test_the_task_of_one_who_left_goes_to_who_kept_its_state():
    found = assign({"a": had("p", {"s": {0}}), "b": had("q", standby={"s": {1}}), "c": had("r")}, s=(2, STATEFUL))
    assert plain(found["b"].active) == {"s": [1]}


def test_the_one_who_has_come_furthest_with_the_state_is_asked_first():
    found = assign({"a": had("p", offsets={"s": {0: 5}}), "b": had("q", offsets={"s": {0: 90}})}, s=(1, STATEFUL))
    assert plain(found["b"].active) == {"s": [0]}


def test_standby_tasks_are_in_another_process():
    found = assign({"a": had("p"), "b": had("p"), "c": had("q")}, 1, s=(4, STATEFUL), t=(2, STATELESS))
    for member, other in (("a", "c"), ("b", "c")):
        for name, some in found[member].active.items():
            assert not some & found[member].standby.get(name, frozenset())
            if name == "s":
                assert some <= found[other].standby["s"]
    assert all("t" not in one.standby for one in found.values())


def test_there_are_only_as_many_standby_tasks_as_processes():
    found = assign({"a": had("p"), "b": had("q")}, 3, s=(1, STATEFUL))
    assert sum(len(one.standby.get("s", ())) for one in found.values()) == 1


def test_nobody_is_assigned_nothing():
    assert assign({}, 1) == {}
    with pytest.raises(AssignorError, match=r"No process available to assign active task s_0\."):
        assign({}, 1, s=(2, STATEFUL), t=(1, STATEFUL))


def test_what_is_not_in_the_topology_is_forgotten():
    found = assign({"a": had("p", {"gone": {0}, "s": {0, 9}}, {"gone": {1}}, {"gone": {1: 5}})}, s=(1, STATEFUL))
    assert found == {"a": ({"s": frozenset({0})}, {})}


def test_every_task_has_one_member():
    for application in histories(5, 200):
        if not application.members or not application.ready:
            continue
        target = application.computation().run().tasks
        tasks = [(i, p) for one in target.values() for i, some in one.active.items() for p in some]
        assert len(tasks) == len(set(tasks))
        assert len(tasks) == sum(one.number_of_tasks for one in application.subtopologies.values())


def test_members_have_about_as_much_to_do():
    found = assign({name: had(name) for name in "abcde"}, 2, s=(7, STATEFUL), t=(6, STATELESS))
    counts = [sum(len(some) for tasks in one for some in tasks.values()) for one in found.values()]
    assert sum(counts) == 7 * 3 + 6
    assert max(counts) - min(counts) <= 1


def test_large_groups_do_not_hold_the_loop():
    chance = random.Random(3)
    processes = [f"{chance.getrandbits(128):032x}" for _ in range(50)]
    members = {f"{chance.getrandbits(128):032x}": had(processes[at % 50]) for at in range(100)}
    start = time.perf_counter()
    assign(members, 1, **{f"s{at}": (100, STATEFUL) for at in range(10)})
    assert time.perf_counter() - start < 0.5  # about 8 ms on an idle machine


def test_of_equals_the_queue_names_the_one_that_java_names():
    queue = LeastLoaded((load, name) for load, name in ((1, "a"), (1, "b"), (1, "c"), (1, "d")))
    assert [queue.take() for _ in range(4)] == ["a", "d", "c", "b"]


def test_while_topics_are_missing_nobody_has_a_task():
    members = {"m": StreamsMember("m", assigned=TasksTupleWithEpochs({"s": {0: 1}})), "n": StreamsMember("n")}
    before = {"m": TasksTuple({"s": frozenset({0})}), "n": EMPTY}
    target = Computation(members, before, {}, None, 0, StickyTaskAssignor()).run()
    assert target.tasks == {"m": EMPTY, "n": EMPTY}
    assert target.changed == ["m"]


def test_a_target_is_of_what_members_have_and_not_of_what_they_were_to_have():
    members = {"m": StreamsMember("m", process_id="p", assigned=TasksTupleWithEpochs({"s": {0: 1}}))}
    members["n"] = StreamsMember("n", process_id="q", assigned=TasksTupleWithEpochs({"s": {1: 1}}))
    before = {"m": TasksTuple({"s": frozenset({1})}), "n": TasksTuple({"s": frozenset({0})})}
    subtopologies = {"s": Subtopology(2, ())}
    target = Computation(members, before, {}, subtopologies, 0, StickyTaskAssignor()).run()
    assert plain(target.tasks["m"].active) == {"s": [0]}
    assert set(target.changed) == {"m", "n"}


def test_before_4_4_a_target_is_of_what_members_were_to_have():
    members = {"m": StreamsMember("m", process_id="p", assigned=TasksTupleWithEpochs({"s": {0: 1}}))}
    members["n"] = StreamsMember("n", process_id="q", assigned=TasksTupleWithEpochs({"s": {1: 1}}))
    before = {"m": TasksTuple({"s": frozenset({1})}), "n": TasksTuple({"s": frozenset({0})})}
    subtopologies = {"s": Subtopology(2, ())}
    target = Computation(members, before, {}, subtopologies, 0, StickyTaskAssignor(computes=False), False).run()
    assert plain(target.tasks["m"].active) == {"s": [1]}


@pytest.mark.parametrize(("looks_on", "whose"), [(True, "kept"), (False, "idle")])
def test_4_3_does_not_look_beyond_one_whose_process_has_the_task(looks_on: bool, whose: str):
    """Two kept the state; the first is a thread of the process that works on the task."""
    members = {
        "first": had("p", {}, {"s": {0}}),
        "works": had("p", {"s": {0}}),
        "kept": had("r", {}, {"s": {0}}),
        "idle": had("q"),
    }
    found = StickyTaskAssignor(looks_on).assign(members, {"s": SubtopologyTasks(1, True)}, 1)
    assert plain(found["works"].active) == {"s": [0]}
    assert [name for name, one in found.items() if one.standby] == [whose]


@pytest.mark.parametrize(("computes", "order"), [(True, ["1", "4"]), (False, ["4", "1"])])
def test_before_4_4_subtopologies_are_in_the_order_of_a_smaller_map(computes: bool, order: list[str]):
    described = {name: SubtopologyTasks(1, True) for name in ("1", "4")}
    found = StickyTaskAssignor(computes=computes).assign({"m": had("p")}, described, 0)
    assert list(found["m"].active) == order
