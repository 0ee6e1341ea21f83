"""Targets of streams groups and the steps of their members beside Kafka's own classes: the same groups, the same tasks.

KAFKASTUB_ASSIGNOR_SEED=7 plays other groups, KAFKASTUB_ASSIGNOR_GROUPS=100000 more of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from kafkastub.coordinator.modern.assignors.errors import AssignorError
from kafkastub.coordinator.streams.runners import Runners
from kafkastub.coordinator.streams.targets import Target
from kafkastub.coordinator.streams.tasks import EpochsOfTasks, Tasks, TasksTuple, TasksTupleWithEpochs
from kafkawire.errors import KafkaError
from tests.coordinator.streams.random_applications import Application, Heartbeat, histories, odd_heartbeats
from tests.oracle.apache_kafka import run_java
from tests.oracle.jars import class_path, java

_GROUPS = int(os.environ.get("KAFKASTUB_ASSIGNOR_GROUPS", "10000"))
_SEED = int(os.environ.get("KAFKASTUB_ASSIGNOR_SEED", "1071"))
_ROUND = 1000
"""So many groups go to one run of the Java program."""


@pytest.fixture(scope="module")
def kafka_classes() -> None:
    """Java and Kafka's jars. In CI a machine without them is an error."""
    java()
    class_path()


@pytest.mark.usefixtures("kafka_classes")
def test_some_groups_are_as_in_kafka():
    assert _play(_SEED, 300) > 100


@pytest.mark.usefixtures("kafka_classes")
def test_odd_members_step_as_in_kafka():
    _assert_as_kafka(_steps(2000))


@pytest.mark.oracle
def test_many_groups_are_as_in_kafka():
    rounds = [(_SEED + number, min(_ROUND, _GROUPS - number)) for number in range(0, _GROUPS, _ROUND)]
    assert sum(_play(seed, count) for seed, count in rounds) > _GROUPS // 3


@pytest.mark.oracle
def test_many_odd_members_step_as_in_kafka():
    _assert_as_kafka(_steps(_GROUPS * 5))


class _Talk:
    """What the Java program is asked, and what the stub says to it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.found: list[str] = []


def _play(seed: int, groups: int) -> int:
    """How many of the groups gave a task to somebody else than before."""
    talk, moved = _Talk(), 0
    for application in histories(seed, groups):
        talk.asked += _group(application)
        computation = application.computation()
        try:
            target = computation.run()
        except AssignorError as error:
            talk.found.append(f"X {error}")
            continue
        talk.found += _target(target)
        moved += any(old and old != target.tasks[i] for i, old in application.target.items())
        application.apply(target)
        for heartbeat in application.heartbeats(target, 8):
            _step(talk, heartbeat, application.took)
    _assert_as_kafka(talk)
    return moved


def _steps(count: int) -> _Talk:
    talk = _Talk()
    for heartbeat in odd_heartbeats(_SEED, count):
        _step(talk, heartbeat, lambda _: None)
    return talk


def _assert_as_kafka(talk: _Talk) -> None:
    source = Path(__file__).with_name("StreamsTasks.java")
    done = run_java(source, stdin="\n".join(talk.asked) + "\n", timeout=600)
    assert done.returncode == 0, done.stderr
    wanted = done.stdout.splitlines()
    assert len(talk.found) == len(wanted)
    assert next(((one, two) for one, two in zip(talk.found, wanted, strict=True) if one != two), None) is None


def _group(application: Application) -> list[str]:
    """The group as the Java program reads it."""
    lines = [f"G {application.standbys} {'ready' if application.ready else 'waiting'}"]
    for i, one in application.subtopologies.items():
        lines.append(f"S {i} {one.number_of_tasks} {'stateful' if one.state_changelog_topics else 'stateless'}")
    for i, member in application.members.items():
        lines.append(f"M {i} {member.process_id} {_has(member.assigned)} {_epochs(application.offsets.get(i, {}))}")
    lines += [f"O {i} {_tasks(old.active)} {_tasks(old.standby)}" for i, old in application.target.items()]
    return [*lines, "E"]


def _target(target: Target) -> list[str]:
    members = [f"{i} {_tasks(target.tasks[i].active)} {_tasks(target.tasks[i].standby)}" for i in sorted(target.tasks)]
    return ["A", *members, " ".join(["R", *target.changed])]


def _step(talk: _Talk, heartbeat: Heartbeat, took: Callable[..., None]) -> None:
    member, (epoch, target, running, owned, _) = heartbeat
    state = f"{member.state.name} {member.member_epoch} {member.previous_member_epoch} {member.process_id}"
    seen = _seen(member.assigned, member.pending_revocation, target)
    talk.asked.append(
        f"C {state} {_has(member.assigned)} {_has(member.pending_revocation)} {epoch} {_tuple(target)} "
        f"{'~' if owned is None else _tuple(owned)} {_running(running, seen)}"
    )
    try:
        after = heartbeat.reconciliation.next(member)
    except KafkaError as error:
        talk.found.append(f"F {error.message}")
        return
    if after == member:
        talk.found.append("C same")
        return
    talk.found.append(
        f"C {after.state.name} {after.member_epoch} {after.previous_member_epoch} "
        f"{_has(after.assigned)} {_has(_in_order(after.pending_revocation))}"
    )
    took(after)


def _seen(has: TasksTupleWithEpochs, loses: TasksTupleWithEpochs, target: TasksTuple) -> dict[str, list[int]]:
    """The tasks that matter to a member's step."""
    seen: dict[str, set[int]] = {}
    for tasks in (*has, *loses, *target):
        for i, some in tasks.items():
            seen.setdefault(i, set()).update(some)
    return {i: sorted(some) for i, some in seen.items()}


def _running(running: Runners, seen: Mapping[str, list[int]]) -> str:
    """Which process has which of these tasks, in each of the three roles."""
    roles: list[dict[str, list[str]]] = [{}, {}, {}]
    for i, some in seen.items():
        for partition in some:
            active = running.active(i, partition)
            every = [active] if active is not None else [], running.standby(i, partition), running.warmup(i, partition)
            for role, processes in zip(roles, every, strict=True):
                if processes:
                    role.setdefault(i, []).append(f"{partition}@{'+'.join(sorted(processes))}")
    return " ".join(";".join(f"{i}:{','.join(some)}" for i, some in role.items()) or "-" for role in roles)


def _has(tasks: TasksTupleWithEpochs) -> str:
    return f"{_epochs(tasks.active)} {_tasks(tasks.standby)} {_tasks(tasks.warmup)}"


def _in_order(tasks: TasksTupleWithEpochs) -> TasksTupleWithEpochs:
    active, standby, warmup = (dict(sorted(some.items())) for some in tasks)
    return TasksTupleWithEpochs(active, standby, warmup)


def _tuple(tasks: TasksTuple) -> str:
    return " ".join(_tasks(some) for some in tasks)


def _tasks(tasks: Tasks) -> str:
    return ";".join(f"{i}:{','.join(map(str, sorted(some)))}" for i, some in tasks.items()) or "-"


def _epochs(tasks: EpochsOfTasks) -> str:
    texts = (
        f"{i}:{','.join(f'{partition}@{some[partition]}' for partition in sorted(some))}" for i, some in tasks.items()
    )
    return ";".join(texts) or "-"
