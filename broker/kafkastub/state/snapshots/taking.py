"""A broker's state, kept.

Not in it: connections, and what is bound to them (fetch sessions, telemetry clients, what quotas have counted); and
what coordinators themselves would forget if they moved away and came back: members' timers, rebalances under way. Of
share partitions there is what was written of them: what is in flight is not in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kafkastub.metadata import Cluster, PartitionState, Topic
from kafkastub.state.snapshots.saved import (
    SavedInternalTopic,
    SavedNode,
    SavedState,
    SavedUserTopic,
    SnapshotError,
    copies,
    copy_of,
)
from kafkastub.steps import Steps

if TYPE_CHECKING:
    from kafkastub.state.broker_state import BrokerState
    from kafkastub.state.persistence import ClockState

_SOME: Final = 1_000
"""Partitions that are copied together."""
_MOST_TRIES: Final = 3


class CopiedPartitions(NamedTuple):
    """Copies of all partitions of a cluster, which take the longest of a snapshot where there are very many.

    Attributes:
        version: that of the cluster when they were copied; they are good as long as it is the same.
        by_topic: by topic id.
    """

    cluster: Cluster
    version: int
    by_topic: dict[bytes, list[PartitionState]]


def copied(state: BrokerState) -> Steps[CopiedPartitions | None]:
    """Copy all partitions ahead, some at a time; None where the cluster changes again and again meanwhile."""
    cluster = state.cluster
    for _ in range(_MOST_TRIES):
        version, found = cluster.version, dict[bytes, list[PartitionState]]()
        for topic in list(cluster.topics.values()):
            rows = found[topic.topic_id] = []
            for first in range(0, len(topic.partitions), _SOME):
                rows += copies(topic.partitions[first : first + _SOME])
                yield 1 + len(rows) - first
            if cluster.version != version:
                break
        else:
            return CopiedPartitions(cluster, version, found)
    return None


def take(state: BrokerState, clock: ClockState, ahead: CopiedPartitions | None = None) -> SavedState:
    """What the state is now; its coordinators are loaded. Raises SnapshotError.

    Args:
        ahead: what was copied ahead; it is copied again where the cluster has changed since.
    """
    if state.loading:
        raise SnapshotError("no snapshot is taken while a coordinator is loading: let it come back first")
    cluster = state.cluster
    is_good = ahead is not None and ahead.cluster is cluster and ahead.version == cluster.version
    partitions = ahead.by_topic if ahead is not None and is_good else {}
    return SavedState(
        state.config,
        cluster.cluster_id,
        tuple(SavedNode(one.node_id, one.rack, one.alive, one.registered, one.left) for one in cluster.nodes.values()),
        cluster.controller_id,
        _settings(state),
        cluster.logger_levels.copy(),
        tuple(_topic(state, topic, partitions.get(topic.topic_id)) for topic in cluster.topics.values()),
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


def _topic(
    state: BrokerState, topic: Topic, partitions: list[PartitionState] | None
) -> SavedUserTopic | SavedInternalTopic:
    log_dirs = [state.log_dirs.document(topic, one) for one in topic.partitions] if state.log_dirs.several else []
    runtime = state.runtimes.get(topic.name)
    if runtime is not None:
        return SavedInternalTopic(copy_of(topic, partitions), log_dirs, runtime.topic.saved())
    return SavedUserTopic(copy_of(topic, partitions), log_dirs, state.logs.saved(topic.topic_id))
