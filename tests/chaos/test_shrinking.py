"""The smallest trouble, on a test that is a function of the acts: what it needs is found, in bounded runs."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkastub import ChaosAct
from kafkastub.faults import Shrinker, Smallest
from kafkastub.faults.shrinking import MOST_RUNS, REPLAYS, Acts, simpler
from tests.chaos.test_played import acts as any_act

KINDS = st.sampled_from(
    [
        ChaosAct("Produce", 3, error="NOT_LEADER_OR_FOLLOWER"),
        ChaosAct("Produce", 8, drop="after"),
        ChaosAct("OffsetCommit", 9, error="NOT_COORDINATOR"),
        ChaosAct("OffsetCommit", 5, delay_ms=40),
        ChaosAct("Heartbeat", 7, moves="session", group="g", member=1),
        ChaosAct("Fetch", 2, drop="before"),
        ChaosAct("Metadata", 2, delay_ms=9),
    ]
)


def shrunk(fails: Callable[[Acts], bool], given: Sequence[ChaosAct], runs: int = MOST_RUNS) -> Smallest:
    ticks = count()
    return Shrinker(fails, lambda: next(ticks) * 0.001, runs).shrink(given)


@given(acts=st.lists(KINDS, min_size=1, max_size=40), data=st.data())
@settings(deadline=None)
def test_what_a_test_needs_is_left_and_nothing_else(acts: list[ChaosAct], data: st.DataObject) -> None:
    needed = set(data.draw(st.lists(st.sampled_from(acts), min_size=1, max_size=3)))
    found = shrunk(lambda played: needed <= set(played), acts, runs=10_000)
    assert set(found.acts) == needed
    assert len(found.acts) == len(needed)
    assert found.is_certain
    assert (found.given, found.ended) == (len(acts), "")


@given(act=any_act())
def test_simpler_forms_come_to_an_end(act: ChaosAct) -> None:
    forms = list(simpler(act))
    assert act not in forms
    steps = 0
    while forms:
        act, steps = forms[-1], steps + 1
        forms = list(simpler(act))
    assert steps < 200


def test_each_act_gets_its_simplest_form() -> None:
    def fails(played: Acts) -> bool:
        ends = any(act.api == "Produce" and act.delay_ms is None for act in played)
        late = any(act.api == "OffsetCommit" and (act.delay_ms or 0) >= 7 and act.nth >= 3 for act in played)
        return ends and late and any(act.moves == "session" for act in played)

    given = [
        ChaosAct("Fetch", 1, drop="before"),
        ChaosAct("OffsetCommit", 9, delay_ms=50),
        ChaosAct("Produce", 8, drop="after"),
        ChaosAct("Heartbeat", 7, moves="session", group="g", member=1),
    ]
    found = shrunk(fails, given)
    assert found.acts == (
        ChaosAct("OffsetCommit", 3, delay_ms=7),
        ChaosAct("Produce", 1, error="NOT_LEADER_OR_FOLLOWER"),
        ChaosAct("Heartbeat", 1, moves="session"),
    )


@given(acts=st.lists(KINDS, min_size=1, max_size=60), runs=st.integers(1, 60), seed=st.integers(0, 100))
@settings(deadline=None)
def test_no_more_runs_than_it_may_have(acts: list[ChaosAct], runs: int, seed: int) -> None:
    draws, asked = random.Random(seed), []

    def fails(played: Acts) -> bool:
        asked.append(played)
        return draws.random() < 0.6

    found = shrunk(fails, acts, runs)
    assert len(asked) == found.runs <= max(runs, 3 * REPLAYS)


def test_no_more_time_than_it_may_have() -> None:
    now = [0.0]

    def fails(played: Acts) -> bool:
        now[0] += 10
        return len(played) >= 5

    acts = [ChaosAct("Fetch", number, drop="before") for number in range(1, 41)]
    found = Shrinker(fails, lambda: now[0], most_seconds=100).shrink(acts)
    assert found.ended == "The search ended after 100 s. A smaller list may exist."
    assert found.seconds <= 100 + 10 * REPLAYS
    assert 5 <= len(found.acts) < 40


def test_one_that_fails_without_any_trouble_is_told() -> None:
    found = shrunk(lambda played: True, [ChaosAct("Fetch", 1, drop="before")] * 30)
    assert (found.acts, found.is_certain) == ((), True)
    assert found.runs == REPLAYS + 2 + REPLAYS


def test_one_that_fails_with_its_seed_alone_is_told() -> None:
    acts = [ChaosAct("Fetch", 1, drop="before")] * 30
    found = shrunk(lambda played: False, acts)
    assert (found.acts, found.failed, found.runs) == (tuple(acts), 0, 2 * REPLAYS)
    assert "without their seed" in found.ended


@pytest.mark.parametrize("seed", range(20))
def test_an_act_that_helps_only_sometimes_is_not_taken_for_one_that_always_does(seed: int) -> None:
    """As a worker that fails on a busy machine now and then: what fails each time is there to be found."""
    draws = random.Random(seed).random
    always = ChaosAct("Produce", 1, drop="before")
    acts = [ChaosAct("Fetch", number, delay_ms=30) for number in range(1, 30)]
    acts.insert(17, ChaosAct("Produce", 9, drop="before"))

    def fails(played: Acts) -> bool:
        return any(act.api == "Produce" and act.drop for act in played) or draws() < 0.2

    found = shrunk(fails, acts, runs=2000)
    assert found.acts == (always,) or found.failed < REPLAYS
    assert len(found.acts) < 5


@pytest.mark.parametrize("seed", range(20))
def test_one_that_fails_only_sometimes_is_made_smaller_and_said_to_be(seed: int) -> None:
    draws = random.Random(seed).random
    needed = ChaosAct("Produce", 1, drop="before")
    acts = [ChaosAct("Fetch", number, delay_ms=1) for number in range(1, 30)]
    acts.insert(17, needed)
    found = shrunk(lambda played: needed in played and draws() < 0.7, acts, runs=2000)
    assert needed in found.acts
    assert len(found.acts) < 10
    assert found.failed > 0


def test_luck_is_not_kept() -> None:
    """A list that failed twice by chance, and never again, is left for the one before."""
    first, second = ChaosAct("Fetch", 1, drop="before"), ChaosAct("Produce", 1, drop="before")
    lucky = [2]

    def fails(played: Acts) -> bool:
        if set(played) >= {first, second}:
            return True
        if played == (second,) and lucky[0]:
            lucky[0] -= 1
            return True
        return False

    found = shrunk(fails, [first, second])
    assert found.acts == (first, second)
    assert found.is_certain
