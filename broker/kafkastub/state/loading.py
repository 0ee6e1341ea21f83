"""Coordinators come and go: what is answered while they load, and how they get loaded piece by piece.

Kafka: CoordinatorRuntime (INITIAL, LOADING, ACTIVE). There is one of each, so that one that moves away always comes
back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kafkastub.state.broker_state import BrokerState
from kafkastub.state.runtime import Loading, Runtime


def unload(state: BrokerState, broker_ms: int, timer_ms: int) -> None:
    """The coordinators move away: who is parked is told NOT_COORDINATOR. They are on their way back from their logs."""
    for runtime in state.runtimes.values():
        if runtime.loading is None:
            runtime.finish(broker_ms, timer_ms)
            runtime.settle(runtime.topic.unload(broker_ms, timer_ms))
            runtime.unloaded()
            begin(state, runtime, runtime.topic.load())


def resign(state: BrokerState, topic: str, broker_ms: int, timer_ms: int) -> None:
    """A topic is gone: if it is an internal one, with its log all that its coordinator knew."""
    runtime = state.runtimes.get(topic)
    if runtime is not None:
        state.serving = runtime.loading = None
        runtime.settle(runtime.coordinator.unload(broker_ms, timer_ms))
        runtime.unloaded()
        runtime.topic.clear()


def begin(state: BrokerState, runtime: Runtime[Any], steps: Iterator[None]) -> None:
    """From now on the coordinator is loading."""
    state.serving = None
    runtime.loading = Loading(steps)


def load(state: BrokerState, now: Callable[[], tuple[int, int]], enough: Callable[[], bool] | None = None) -> bool:
    """Load until every coordinator serves, or until it is enough for now; whether they serve.

    `now` gives broker time and timer time. Raises what reading raises.
    """
    runtimes = tuple(state.runtimes.values())
    for runtime in runtimes:
        if runtime.loading is None:
            continue
        if not _load(runtime, runtime.loading, now, enough):
            return False
        for other in runtimes:
            if other.loading is None:
                other.retry_waiting(*now())
    return True


def _load(
    runtime: Runtime[Any], loading: Loading, now: Callable[[], tuple[int, int]], enough: Callable[[], bool] | None
) -> bool:
    for _ in loading.steps:
        if enough is not None and enough():
            return False
    broker_ms, timer_ms = now()
    runtime.loading = None
    runtime.loaded()
    runtime.settle(runtime.coordinator.loaded(broker_ms, timer_ms))
    if loading.deleted:
        runtime.topics_deleted(loading.deleted, broker_ms, timer_ms)
        runtime.finish(broker_ms, timer_ms)
    return True
