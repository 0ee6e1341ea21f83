"""Partitions that are copied before a snapshot is taken, some at a time: it is that of the moment at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from kafkastub.metadata import Node, leaders
from kafkastub.state.snapshots import taking
from kafkastub.state.snapshots.taking import CopiedPartitions, copied, take
from kafkastub.state.topics import create_topic, delete_topics
from kafkastub.steps import Steps, a_part, at_once
from tests.coordinator.context import START_MS, CoordinatorTestContext


class Clock:
    def both(self) -> tuple[int, int]:
        return START_MS, 0

    def moved(self) -> None:
        return None


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch) -> CoordinatorTestContext:
    monkeypatch.setattr(taking, "_SOME", 3)
    made = CoordinatorTestContext()
    made.state.cluster.add_node(Node(2, "localhost", 9093))
    return made


def moved(context: CoordinatorTestContext) -> None:
    leaders.put(context.state.cluster, context.state.cluster.topics["a"].partitions[0], 2)


CHANGES: Final[dict[str, Callable[[CoordinatorTestContext], object]]] = {
    "a leader": moved,
    "a topic that comes": lambda context: create_topic(context.state, "new", 4, 1),
    "a topic that goes": lambda context: delete_topics(context.state, ["b"], START_MS),
}


def topics(context: CoordinatorTestContext, ahead: CopiedPartitions | None) -> Any:
    clock: Any = Clock()
    return [one.topic for one in take(context.state, clock, ahead).topics]


@pytest.mark.parametrize("change", CHANGES)
def test_what_has_changed_since_is_copied_again(context: CoordinatorTestContext, change: str) -> None:
    ahead = at_once(copied(context.state))
    CHANGES[change](context)
    assert topics(context, ahead) == list(context.state.cluster.topics.values())


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_meanwhile_is_copied_again(context: CoordinatorTestContext, change: str) -> None:
    steps: Iterator[int] = copied(context.state)
    for _ in range(2):
        next(steps)
    CHANGES[change](context)
    rest = list(steps)
    assert len(rest) > 4
    ahead = at_once(copied(context.state))
    assert ahead is not None
    assert topics(context, ahead) == list(context.state.cluster.topics.values())


def test_nothing_is_shared_with_the_running_broker(context: CoordinatorTestContext) -> None:
    ahead = at_once(copied(context.state))
    saved = topics(context, ahead)
    assert ahead is not None
    assert saved[0].partitions is ahead.by_topic[saved[0].topic_id]
    moved(context)
    assert saved[0].partitions[0].leader == 1


def test_a_cluster_that_changes_all_the_time_is_copied_when_the_snapshot_is_taken(
    context: CoordinatorTestContext,
) -> None:
    def changing() -> Steps[CopiedPartitions | None]:
        steps, found = copied(context.state), None
        while found is None:
            found = a_part(steps, 1)
            moved(context)
            yield 1
        return found[0]

    assert at_once(changing()) is None
    assert topics(context, None) == list(context.state.cluster.topics.values())
