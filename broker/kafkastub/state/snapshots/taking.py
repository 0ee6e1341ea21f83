"""A broker's state, kept.

Not in it: connections, and what is bound to them (fetch sessions, telemetry clients, what quotas have counted); and
what coordinators themselves would forget if they moved away and came back: members' timers, rebalances under way. Of
share partitions there is what was written of them: what is in flight is not in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkastub.metadata import Topic
from kafkastub.state.snapshots.saved import (
    SavedInternalTopic,
    SavedNode,
    SavedState,
    SavedUserTopic,
    SnapshotError,
    copy_of,
)

if TYPE_CHECKING:
    from kafkastub.state.broker_state import BrokerState
    from kafkastub.state.persistence import ClockState


def take(state: BrokerState, clock: ClockState) -> SavedState:
    """What the state is now; its coordinators are loaded. Raises SnapshotError."""
    if state.loading:
        raise SnapshotError("no snapshot is taken while a coordinator is loading: let it come back first")
    cluster = state.cluster
    return SavedState(
        state.config,
        cluster.cluster_id,
        tuple(SavedNode(one.node_id, one.rack, one.alive, one.registered, one.left) for one in cluster.nodes.values()),
        cluster.controller_id,
        _settings(state),
        cluster.logger_levels.copy(),
        tuple(_topic(state, topic) for topic in cluster.topics.values()),
        clock.moved(),
        clock.both()[0],
        state.logs.producer_ids.next,
        state.transactions.held if state.has_transactions else frozenset(),
        state.log_dirs.wishes(),
        state.share_partitions.held if state.has_share_partitions else frozenset(),
        state.config.of_cluster,
    )


def _settings(state: BrokerState) -> dict[str, Any]:
    cluster, config = state.cluster, state.config
    return {
        "broker_configs": {"broker": config.dynamic_broker, "default": config.dynamic_default},
        "group_configs": {name: texts.copy() for name, texts in cluster.group_configs.items()},
        "client_metrics_configs": {name: texts.copy() for name, texts in cluster.client_metrics_configs.items()},
        "features": state.features.document() if state.has_features else {},
        "metadata": {"offset": state.metadata_offset, "epoch": state.metadata_epoch},
        "scram": list(state.scram_users.document()) if state.has_scram_users else None,
        "quotas": [[who, dict(values)] for who, values in state.quotas.document()] if state.has_quotas else [],
        "delegation_tokens": list(state.delegation_tokens.document()) if state.has_delegation_tokens else [],
        "acls": [] if state.authorizer is None else state.authorizer.all(),
    }


def _topic(state: BrokerState, topic: Topic) -> SavedUserTopic | SavedInternalTopic:
    log_dirs = [state.log_dirs.document(topic, one) for one in topic.partitions] if state.log_dirs.several else []
    runtime = state.runtimes.get(topic.name)
    if runtime is not None:
        return SavedInternalTopic(copy_of(topic), log_dirs, runtime.topic.saved())
    return SavedUserTopic(copy_of(topic), log_dirs, state.logs.saved(topic.topic_id))
