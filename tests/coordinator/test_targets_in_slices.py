"""Targets of large groups, computed a slice at a time: others are served between, and nothing is seen half done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from kafkastub.coordinator.modern import context as modern_context
from kafkastub.coordinator.modern.assignors.errors import AssignorError
from kafkastub.state import results
from kafkastub.state.topics import create_topic
from kafkastub.state.topics_image import TopicsImage
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages import streams_group_heartbeat_request as streams
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.schema import Message
from tests.coordinator.context import CoordinatorTestContext, Parked

GROUP: Final = "g"
INTERVAL_MS: Final = 1_000
KINDS: Final = ("consumer", "share", "streams")
MEMBERS: Final = 12


def joins(kind: str, member: str, group: str = GROUP, *topics: str) -> Message:
    names = list(topics or ("a", "b"))
    if kind == "consumer":
        return ConsumerGroupHeartbeatRequest(
            group, member, 0, rebalance_timeout_ms=60_000, subscribed_topic_names=names, topic_partitions=[]
        )
    if kind == "share":
        return ShareGroupHeartbeatRequest(group, member, 0, subscribed_topic_names=names)
    topology = streams.Topology(0, [streams.Subtopology(name, [name]) for name in names])
    tasks: dict[str, Any] = {"active_tasks": [], "standby_tasks": [], "warmup_tasks": []}
    return streams.StreamsGroupHeartbeatRequest(
        group, member, 0, rebalance_timeout_ms=60_000, process_id=member, topology=topology, **tasks
    )


def leaves(kind: str, member: str) -> Message:
    request = joins(kind, member)
    made = type(request)(GROUP, member, -1)
    assert isinstance(made, Message)
    return made


class Play:
    """A group of some members, and one more that joins when its target may be computed again."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.context = CoordinatorTestContext(group_streams_initial_rebalance_delay_ms="0")
        self.context.coordinator.image = TopicsImage(self.context.state.cluster)
        _ = self.context.coordinator.modern[kind]  # else its code is imported part by part
        for number in range(MEMBERS):
            self.answer(joins(kind, f"m-{number}"))
        self.context.advance(INTERVAL_MS)
        del self.context.records[:]

    def ask(self, request: Message) -> Any:
        return self.context.call(ApiKey(request.API_KEY), type(request).VERSIONS[1], request)

    def turn(self) -> None:
        self.context.state.expire(self.context.broker_ms, self.context.timer_ms)

    def answer(self, request: Message) -> Any:
        asked = self.ask(request)
        if not isinstance(asked, Parked):
            return asked
        while not asked.answered:
            self.turn()
        return asked.answer

    @property
    def group(self) -> Any:
        return self.context.coordinator.groups[GROUP]

    @property
    def state(self) -> tuple[Any, ...]:
        """All that others can see of the group, and what its heartbeats are answered by."""
        group = self.group
        rebalances = self.context.coordinator.modern[self.kind].rebalances
        return dict(group.members), dict(group.target), group.epoch, group.target_epoch, rebalances


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def in_slices(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From then on the smallest target is computed in as many slices as there can be."""

    def begin() -> None:
        monkeypatch.setattr(modern_context, "_MANY", 1)
        monkeypatch.setattr(results, "_SLICE", 1)

    return begin


def at_once(kind: str, *requests: Message) -> tuple[list[Any], Play]:
    play = Play(kind)
    return [play.answer(one) for one in requests], play


def test_it_is_what_is_computed_at_once(kind: str, in_slices: Callable[[], None]) -> None:
    wanted, whole = at_once(kind, joins(kind, "new"))
    play = Play(kind)
    in_slices()
    before = play.state
    parked, turns = play.ask(joins(kind, "new")), 0
    while not parked.answered:
        assert play.state == before
        assert play.context.records == []
        play.turn()
        turns += 1
    assert turns > MEMBERS
    assert [parked.answer] == wanted
    assert play.context.records == whole.context.records
    assert play.state == whole.state


def test_others_are_answered_and_those_of_the_group_wait_their_turn(kind: str, in_slices: Callable[[], None]) -> None:
    wanted, whole = at_once(kind, joins(kind, "new"), joins(kind, "newer"), leaves(kind, "m-0"))
    play = Play(kind)
    in_slices()
    first = play.ask(joins(kind, "new"))
    other = play.ask(joins(kind, "m", "other"))
    waiting = [play.ask(joins(kind, "newer")), play.ask(leaves(kind, "m-0"))]
    assert not isinstance(other, Parked)
    assert other.error_code == ErrorCode.NONE
    while not first.answered:
        assert not any(one.answered for one in waiting)
        play.turn()
    for _ in range(200):
        play.turn()
    assert [one.answer for one in (first, *waiting)] == wanted
    assert play.state[:4] == whole.state[:4]
    assert play.context.state.groups.computing == {}


def test_a_group_that_has_changed_is_computed_again(kind: str, in_slices: Callable[[], None]) -> None:
    """A member's session ends, which waits for nobody."""

    def change(play: Play) -> None:
        context = play.context
        ended = context.coordinator.modern[kind].end_session(GROUP, "m-3", context.broker_ms, context.timer_ms)
        context.state.settle(ended)

    whole = Play(kind)
    change(whole)
    wanted = whole.answer(joins(kind, "new"))
    play = Play(kind)
    in_slices()
    parked = play.ask(joins(kind, "new"))
    for _ in range(5):
        play.turn()
    assert not parked.answered
    change(play)
    while not parked.answered:
        play.turn()
    assert parked.answer == wanted
    assert play.state[:4] == whole.state[:4]
    assert "m-3" not in play.group.target


def test_a_group_that_changes_all_the_time_gets_its_target(kind: str, in_slices: Callable[[], None]) -> None:
    play = Play(kind)
    in_slices()
    parked, number = play.ask(joins(kind, "new")), 0
    while not parked.answered:
        play.turn()
        number += 1
        if number % 5 == 0 and number <= 5 * (MEMBERS - 2):
            context, groups = play.context, play.context.coordinator.modern[kind]
            ended = groups.end_session(GROUP, f"m-{number // 5}", context.broker_ms, context.timer_ms)
            context.state.settle(ended)
    assert parked.answer.error_code == ErrorCode.NONE
    assert set(play.group.target) == set(play.group.members)


def test_an_assignor_that_fails_in_the_middle_leaves_the_group_as_it_was(
    kind: str, in_slices: Callable[[], None]
) -> None:
    play = Play(kind)
    in_slices()
    groups = play.context.coordinator.modern[kind]
    assignor = groups.context.assignors["uniform"] if kind == "consumer" else groups.context.assignor
    slices = 0

    def fails(self: Any, *given: Any) -> Any:
        nonlocal slices
        pace = given[-1]
        for _ in range(5):
            pace(1)
            slices += 1
        raise AssignorError("no way")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(assignor), "assign", fails)
        before = play.state
        failed = play.answer(joins(kind, "new"))
        assert (failed.error_code, slices) == (ErrorCode.UNKNOWN_SERVER_ERROR, 5)
        assert play.state[:4] == before[:4]
        assert play.context.records == []
        answered = play.answer(joins(kind, "m-1", GROUP))
        assert answered.error_code in (ErrorCode.NONE, ErrorCode.UNKNOWN_SERVER_ERROR)
    assert play.answer(joins(kind, "new")).error_code == ErrorCode.NONE


def test_who_waits_is_answered_when_the_group_has_gone(kind: str, in_slices: Callable[[], None]) -> None:
    play = Play(kind)
    in_slices()
    parked = play.ask(joins(kind, "new"))
    for number in range(MEMBERS):
        context, groups = play.context, play.context.coordinator.modern[kind]
        context.state.settle(groups.end_session(GROUP, f"m-{number}", context.broker_ms, context.timer_ms))
    while not parked.answered:
        play.turn()
    assert parked.answer.error_code == ErrorCode.NONE
    assert set(play.group.members) == {"new"}


def test_a_topic_that_comes_meanwhile_is_assigned(in_slices: Callable[[], None]) -> None:
    play = Play("consumer")
    in_slices()
    parked = play.ask(joins("consumer", "new", GROUP, "a", "b", "c"))
    create_topic(play.context.state, "c", 4, 1)
    while not parked.answered:
        play.turn()
    assert parked.answer.error_code == ErrorCode.NONE
    created = play.context.state.cluster.topics["c"].topic_id
    assert play.group.target["new"][created] == frozenset(range(4))
