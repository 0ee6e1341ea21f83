"""What the group handlers share: the way in to the coordinator, and the way of its decisions out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkastub.coordinator import GroupCoordinator, Turn, partition_for
from kafkastub.handlers.outcome import Deferred
from kafkastub.state.topics import ensure_offsets_topic
from kafkawire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kafkastub.state.broker_state import BrokerState


def coordinator_of(state: BrokerState) -> GroupCoordinator:
    """The coordinator; the first request that needs it brings `__consumer_offsets` into being.

    KafkaError COORDINATOR_LOAD_IN_PROGRESS while it is loading.
    """
    serving = state.serving
    return serving if serving is not None else _bring_up(state)


def check_loaded(state: BrokerState) -> None:
    """KafkaError COORDINATOR_LOAD_IN_PROGRESS while the coordinator is loading; its topic need not be there."""
    if state.loading is not None:
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


def settle(state: BrokerState, turn: Turn, *, batch_per_group: bool = False) -> Turn:
    """Everything that the coordinator decided goes on from here.

    Its records are written to `__consumer_offsets`, parked requests get their answers, and who waits for records
    there is woken. `batch_per_group`: the turn is several things that happened to several groups, not one request.
    """
    offsets_topic = state.offsets_topic
    if turn.records:
        offsets_topic.write(turn, batch_per_group)
        if state.coordinator.unseen:
            _let_be_seen(state, turn)
    for token, response in turn.completions:
        deferred: Deferred = token
        deferred.complete(response)
    if offsets_topic.watched or state.group_watchers:
        tell_watchers(state)
    return turn


def tell_watchers(state: BrokerState) -> None:
    """Something was written, or may have changed in a group."""
    if state.offsets_topic.watched:
        _wake(state)
    for watcher in tuple(state.group_watchers):
        watcher()


_MOST_UNSEEN: Final = 100
"""Groups without a record that cannot be read yet; with more of them, all are shown."""


def _let_be_seen(state: BrokerState, turn: Turn) -> None:
    """Groups without a record can be read once there is another one behind them in their partition."""
    count, unseen = group_partitions(state), state.coordinator.unseen
    if len(unseen) > _MOST_UNSEEN:  # they are looked through at each write: nobody is to slow the others down with them
        unseen.clear()
        return
    written = {partition_for(record.group_id, count) for record in turn.records}
    unseen.difference_update([group_id for group_id in unseen if partition_for(group_id, count) in written])


def _wake(state: BrokerState) -> None:
    """Look after the fetches that wait for records of `__consumer_offsets`."""
    topic_id = ensure_offsets_topic(state).topic_id
    awaited = state.fetch_waits.awaited(topic_id)
    state.offsets_topic.watched = bool(awaited)
    for partition in state.offsets_topic.grow(awaited) if awaited else ():
        state.fetch_waits.appended(topic_id, partition)
