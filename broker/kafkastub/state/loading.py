"""The group coordinator comes and goes: what is answered while it loads, and how it gets loaded piece by piece.

Kafka: CoordinatorRuntime (INITIAL, LOADING, ACTIVE). There is one node, so that a coordinator that moves away always
comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kafkastub.metadata import CONSUMER_OFFSETS
from kafkastub.state.broker_state import BrokerState, Loading


def unload(state: BrokerState, broker_ms: int, timer_ms: int) -> None:
    """The coordinator moves away: who is parked is told NOT_COORDINATOR. It is on its way back from its log."""
    if state.loading is None:
        state.settle(state.offsets_topic.unload(broker_ms, timer_ms))
        begin(state, state.offsets_topic.load())


def resign(state: BrokerState, topic: str, broker_ms: int, timer_ms: int) -> None:
    """A topic is gone: if it is an internal one, with its log all that its coordinators knew."""
    if topic == CONSUMER_OFFSETS:
        state.serving = state.loading = None
        state.settle(state.coordinator.unload(broker_ms, timer_ms))
    if topic in state.internal_topics:
        state.internal_topics[topic].clear()


def begin(state: BrokerState, steps: Iterator[None]) -> None:
    """From now on the coordinator is loading."""
    state.serving = None
    state.loading = Loading(steps)


def load(state: BrokerState, now: Callable[[], tuple[int, int]], enough: Callable[[], bool] | None = None) -> bool:
    """Load until the coordinator serves, or until it is enough for now; whether it serves.

    `now` gives broker time and timer time. Raises what reading raises.
    """
    loading = state.loading
    if loading is None:
        return True
    for _ in loading.steps:
        if enough is not None and enough():
            return False
    broker_ms, timer_ms = now()
    state.loading = None
    state.settle(state.coordinator.loaded(broker_ms, timer_ms))
    if loading.deleted:
        state.settle(state.coordinator.on_topics_deleted(loading.deleted, broker_ms))
    return True
