"""A restored stub is one that was brought there by requests: after random histories everything goes on alike.

Two stubs. One is asked a random scenario; half-way its clients go and its coordinators are loaded anew, as when a
broker is started again. The other one is asked the same; half-way it is kept, asked something quite different, and put
back. What follows is answered alike by both, and the state is what it was, byte by byte.

What share groups have in flight is forgotten by both. Half of them are kept before their clients go, while there is
some; the others when what clients had is given back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from threading import Event
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafkastub import KafkaStub, Snapshot
from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.broker import Broker, Lost, prepared
from kafkastub_conformance.differential.compare import Difference, fields
from kafkastub_conformance.differential.names import Names
from kafkastub_conformance.differential.play import NotThere, Play
from kafkastub_conformance.differential.replay import _answers, _differing_answers, _look_for
from kafkastub_conformance.differential.running import KINDS
from kafkastub_conformance.differential.scenario import Scenario
from kafkastub_conformance.differential.script import Script
from kafkastub_conformance.differential.stage import Stage
from tests.differential.running import _fitted, _give_ids, _settings
from tests.snapshots.whole_state import differences, forget_in_flight, quiet, reload, whole

STEPS = 24
SECONDS = 5.0
WATCHING = 1
"""Connections of a stage beside its clients'."""
Act = Callable[[Stage], None]


class Halfway(Play):
    """A scenario while it is made; before one of its steps everybody's connection ends, and something happens."""

    def __init__(self, stage: Stage, scenario: Scenario, at: int, leave: Act, act: Act) -> None:
        super().__init__(stage, scenario)
        self.at, self.leave, self.act = at, leave, act
        self.left_before: int | None = None
        self.acted_before: int | None = None
        self.state_then: dict[str, Json] = {}

    def ask(self, on: str, api: str, version: int, body: dict[str, Json] | None = None, **more: Json) -> Json:
        if self.acted_before is None and len(self.scenario.steps) >= self.at:
            self.left_before = len(self.scenario.steps)
            self.leave(self.stage)
            for name in sorted(self.stage._connections):
                self.close(name)
            self.acted_before = len(self.scenario.steps)
            self.act(self.stage)
            self.state = self.state_then = self.stage.look(2)
        return super().ask(on, api, version, body, **more)


Moments = tuple[int, int]
"""Before which step clients went, and before which something happened."""


def made(script: Script, broker: Broker, at: int, leave: Act, act: Act) -> tuple[Scenario, Moments, dict[str, Json]]:
    """The scenario that a script makes, when in it something happened, and what the groups were like then."""
    scenario = Scenario(script.name, list(script.groups), script.config)
    scenario.transactional_ids, scenario.consumer_groups = list(script.transactional_ids), list(script.consumer_groups)
    scenario.share_groups, scenario.streams_groups = list(script.share_groups), list(script.streams_groups)
    with Stage(broker, scenario) as stage:
        plays: list[Halfway] = []

        def run(play: Play) -> None:
            plays.append(Halfway(play.stage, play.scenario, at, leave, act))
            with suppress(NotThere):
                script.run(plays[0])

        run(Play(stage, scenario))
    (play,) = plays
    end = len(scenario.steps)
    left, acted = (end if one is None else one for one in (play.left_before, play.acted_before))
    return scenario, (left, acted), play.state_then


def replayed(
    scenario: Scenario, broker: Broker, at: Moments, leave: Act, act: Act, state_then: dict[str, Json]
) -> Difference | None:
    """As `replay`, with something that happens before a step; then the groups are to be like that."""
    with Stage(broker, scenario) as stage:
        state: dict[str, Json] = {}
        for index, step in enumerate(scenario.steps):
            if index == at[0]:
                leave(stage)
            if index == at[1]:
                act(stage)
                state = dict(state_then)
                different = list(fields(state, stage.look(2), "state"))
                if different:
                    return Difference(scenario, index, different)
            stage.touched = []
            state.update(step.state)
            if step.pause_ms:
                Event().wait(step.pause_ms / 1000)
            found = _answers(stage, step, SECONDS)
            looked = _look_for(stage, state, SECONDS if found == step.answers else 0)
            found += stage.answers_now()
            different = _differing_answers(step.answers, found) + list(fields(state, looked, "state"))
            if different:
                return Difference(scenario, index, different, stage.touched)
    return None


def broken_off(stage: Stage) -> None:
    """The watcher's connection has ended with all others."""
    stage._watcher.close()
    stage._watcher = stage._connected("watcher")


@contextmanager
def running(config: str, ids: dict[str, bytes] | None = None) -> Iterator[tuple[KafkaStub, Broker]]:
    """A stub with the settings of that name, and the shared topics; with these ids, if any are given."""
    listeners = {"listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0"} if config == "admin" else {}
    with _settings(config) as given, KafkaStub(profile="kafka", config={**given, **listeners}) as stub:
        if ids is not None:
            _give_ids(stub, ids)
        sasl = stub.bootstrap_servers_of("SASL_PLAINTEXT") if listeners else "0"
        broker = prepared(stub.bootstrap_servers_of("PLAINTEXT"))
        yield stub, _fitted(broker, config, int(sasl.rpartition(":")[2]))


class Pair:
    """Two stubs for each of the settings, started when they are first asked for."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._pairs: dict[str, Sequence[tuple[KafkaStub, Broker]]] = {}

    def of(self, config: str) -> Sequence[tuple[KafkaStub, Broker]]:
        if config not in self._pairs:
            one = self._stack.enter_context(running(config))
            self._pairs[config] = one, self._stack.enter_context(running(config, one[1].topic_ids))
        return self._pairs[config]


@pytest.fixture(scope="module")
def pairs() -> Iterator[Pair]:
    with ExitStack() as stack:
        yield Pair(stack)


class Kept(NamedTuple):
    """What a stub was, and its snapshot."""

    whole: dict[str, Any]
    snapshot: Snapshot


def kept(stub: KafkaStub) -> Kept:
    return Kept(whole(stub), stub.snapshot())


def detour(
    stub: KafkaStub, broker: Broker, stage: Stage, kind: str, seed: int, before: dict[str, Any], saved: Snapshot
) -> None:
    """The stub that was kept is asked something else about the same groups and topics, and put back."""
    script = KINDS[kind](seed, STEPS // 2)
    if script.config == stage_config(kind):
        scenario = Scenario(script.name, list(script.groups), script.config)
        with suppress(NotThere, Lost), Stage(broker, scenario) as other:
            other.names = Names(stage.names.prefix, broker.topics, broker.node)
            script.run(Play(other, scenario))
    stub.restore(saved)
    after = whole(stub)
    assert not after["sharing"]["in flight"]
    assert not after["sharing"]["sessions"]
    before["sharing"] = {**before["sharing"], "in flight": {}, "sessions": 0}
    soft = {"groups", "transactions", "logs"}  # a coordinator that is loaded ends what was being ended
    hard = [{name: part for name, part in one.items() if name not in soft} for one in (before, after)]
    assert not differences(*hard)
    reload(stub)
    different = differences(after, whole(stub))
    assert not different, "\n".join(different)
    broken_off(stage)


def stage_config(kind: str) -> str:
    return KINDS[kind](0, 1).config


HISTORIES = given(
    kind=st.sampled_from(sorted(KINDS)), seed=st.integers(0, 10**6), other=st.integers(0, 10**6), at=st.integers(2, 20)
)
SLOW = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@settings(max_examples=15, suppress_health_check=SLOW)
@HISTORIES
def test_a_restored_stub_goes_on_like_one_that_got_there_by_requests(
    pairs: Pair, kind: str, seed: int, other: int, at: int
) -> None:
    goes_on_alike(pairs, kind, seed, other, at)


@pytest.mark.soak
@settings(max_examples=500, derandomize=False, suppress_health_check=SLOW)
@HISTORIES
def test_five_hundred_of_them(pairs: Pair, kind: str, seed: int, other: int, at: int) -> None:
    goes_on_alike(pairs, kind, seed, other, at)


def goes_on_alike(pairs: Pair, kind: str, seed: int, other: int, at: int) -> None:
    script = KINDS[kind](seed, STEPS)
    (fresh, asked), (restored, tested) = pairs.of(script.config)
    now = int(time.time() * 1000)  # where both stand still: what has the same timestamp for one has it for the other
    for stub in (fresh, restored):
        stub.clock.freeze()
        stub.clock.set(max(now, stub.clock.now_ms()))

    in_midst, before_leaving = kind == "share" and seed % 2 == 0, []

    def left(stage: Stage) -> None:
        if in_midst:
            forget_in_flight(fresh)

    def started_again(stage: Stage) -> None:
        quiet(fresh, WATCHING)
        reload(fresh)
        broken_off(stage)

    def left_behind(stage: Stage) -> None:
        if in_midst:
            before_leaving.append(kept(restored))
            forget_in_flight(restored)

    def put_back(stage: Stage) -> None:
        quiet(restored, WATCHING)
        before, saved = before_leaving[0] if in_midst else kept(restored)
        detour(restored, tested, stage, kind, other, before, saved)

    scenario, broken_at, then = made(script, asked, at, left, started_again)
    different = replayed(scenario, tested, broken_at, left_behind, put_back, then)
    assert different is None, str(different)
