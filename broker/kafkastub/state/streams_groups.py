"""What streams groups need of the broker: that names of topics can be, and the topics that they lack."""

from __future__ import annotations

from collections.abc import Sequence

from kafkastub.coordinator.streams import validation
from kafkastub.coordinator.streams.configured import ConfiguredTopology
from kafkastub.metadata import INTERNAL_TOPICS, invalid_topic_name
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.pace import Pace, no_pause, paced
from kafkastub.state.streams_internal_topics import Asking, CreationErrors, create_missing
from kafkawire.messages.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest
from kafkawire.messages.streams_group_heartbeat_response import Status as ToldStatus


def check_names(request: StreamsGroupHeartbeatRequest, pace: Pace = no_pause) -> None:
    """Raises STREAMS_INVALID_TOPOLOGY where the topology has topics of the broker, or names that no topic may have."""
    if request.topology is not None:
        names = dict.fromkeys(paced(validation.required_topics(request.topology), pace))
        validation.check_names(paced(names, pace), INTERNAL_TOPICS, invalid_topic_name)


def create_topics(
    state: BrokerState,
    ctx: Asking,
    group_id: str,
    configured: ConfiguredTopology,
    told: Sequence[ToldStatus],
    broker_ms: int,
) -> None:
    """Create the internal topics that a heartbeat has found missing; the next one finds them.

    What speaks against it is remembered for two heartbeats.
    """
    ttl_ms = 2 * state.coordinator.streams.context.of(group_id).heartbeat_interval_ms
    errors = state.streams_creation_errors
    if errors is None:
        errors = state.streams_creation_errors = CreationErrors()
    topics, requested = configured.internal_topics_to_create, configured.requested
    create_missing(state, ctx, errors, topics, requested, told, ttl_ms, broker_ms)
