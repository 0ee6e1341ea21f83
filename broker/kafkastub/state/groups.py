"""The way in to the group coordinator; the way of its decisions out is `BrokerState.settle`."""

from __future__ import annotations

from kafkastub.coordinator import GroupCoordinator
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.topics import ensure_offsets_topic
from kafkawire.errors import ErrorCode, KafkaError


def coordinator_of(state: BrokerState) -> GroupCoordinator:
    """The coordinator; the first request that needs it brings `__consumer_offsets` into being.

    KafkaError COORDINATOR_LOAD_IN_PROGRESS while it is loading.
    """
    serving = state.serving
    return serving if serving is not None else _bring_up(state)


def check_loaded(state: BrokerState) -> None:
    """KafkaError COORDINATOR_LOAD_IN_PROGRESS while the coordinator is loading; its topic need not be there."""
    if state.groups.loading is not None:
        raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


def _bring_up(state: BrokerState) -> GroupCoordinator:
    if state.refusal is not None:
        raise KafkaError(state.refusal)
    check_loaded(state)
    ensure_offsets_topic(state)
    state.serving = state.coordinator
    return state.coordinator


def group_partitions(state: BrokerState) -> int:
    """How many partitions `__consumer_offsets` has."""
    return len(ensure_offsets_topic(state).partitions)
