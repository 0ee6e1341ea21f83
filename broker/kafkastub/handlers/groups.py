"""What the group handlers share: the way in to the coordinator, and the way of its decisions out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkastub.coordinator import GROUP_METADATA_TOPIC, GroupCoordinator, Turn
from kafkastub.handlers.outcome import Deferred
from kafkastub.handlers.topics import ensure_offsets_topic

if TYPE_CHECKING:
    from kafkastub.handlers.state import BrokerState
    from kafkastub.storage.offsets_log import OffsetsLog


def coordinator_of(state: BrokerState) -> GroupCoordinator:
    """The coordinator; the first request that needs it brings `__consumer_offsets` into being."""
    if GROUP_METADATA_TOPIC not in state.cluster.topics:
        ensure_offsets_topic(state)
    return state.coordinator


def group_partitions(state: BrokerState) -> int:
    """How many partitions `__consumer_offsets` has."""
    return len(ensure_offsets_topic(state).partitions)


def settle(state: BrokerState, turn: Turn, *, batch_per_group: bool = False) -> Turn:
    """Everything that the coordinator decided goes on from here.

    Its records are written to `__consumer_offsets`, parked requests get their answers, and who waits for records
    there is woken. `batch_per_group`: the turn is several things that happened to several groups, not one request.
    """
    written: Sequence[OffsetsLog] = ()
    if turn.records:
        written = state.offsets_topic.write(turn, batch_per_group)
    for token, response in turn.completions:
        deferred: Deferred = token
        deferred.complete(response)
    if written and state.fetch_waits:
        topic = ensure_offsets_topic(state)
        for log in written:
            state.fetch_waits.appended(topic.topic_id, log.partition)
    return turn
