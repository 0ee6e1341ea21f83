"""Features that change, and what follows from it (Kafka: ``ConfigurationControlManager.updateFeatures``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kafkastub.metadata.features import ELIGIBLE, SHARE, Update
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.topics import reconfigure_logs

_MIN_ISR: Final = "min.insync.replicas"


def update_features(state: BrokerState, updates: Sequence[Update]) -> None:
    """Finalize other levels, which nothing speaks against."""
    state.check_writable()
    state.features.update(updates)
    if state.has_transactions:
        state.transactions.follow_features()
    if state.has_share_partitions and not state.features.level(SHARE):
        state.share_partitions.switched_off()
    if any(name == ELIGIBLE and level > 0 for name, level, _ in updates):
        _have_one_minimum(state)
    state.changed()


def _have_one_minimum(state: BrokerState) -> None:
    """With eligible leader replicas the cluster has a minimum of replicas in sync, and no broker its own (KIP-966)."""
    config = state.config
    if _MIN_ISR in config.dynamic_default and _MIN_ISR not in config.dynamic_broker:
        return
    own = {name: text for name, text in config.dynamic_broker.items() if name != _MIN_ISR}
    config.set_dynamic(own, per_broker=True)
    if _MIN_ISR not in config.dynamic_default:
        text = str(config[_MIN_ISR])
        config.set_dynamic({**config.dynamic_default, _MIN_ISR: text}, per_broker=False)
    for topic in state.cluster.topics.values():
        reconfigure_logs(state, topic)
    state.broker_changed()
