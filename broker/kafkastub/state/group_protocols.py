"""Which protocols groups may use here: `group.coordinator.rebalance.protocols`, and the features of the cluster."""

from __future__ import annotations

from typing import Final

from kafkastub.state.broker_state import BrokerState

_PROTOCOLS: Final = "group.coordinator.rebalance.protocols"
_FEATURE: Final = "group.version"


def serves_consumer_protocol(state: BrokerState) -> bool:
    """Whether groups may use the consumer protocol. Kafka: KafkaApis.isConsumerGroupProtocolEnabled.

    Brokers before 4.0 know no group.version, and have to be told of the protocol by their configuration.
    """
    config = state.config
    if "consumer" not in config[_PROTOCOLS]:
        return False
    if config.follows(4, 0):
        return state.features.finalized.get(_FEATURE, 0) > 0
    return _PROTOCOLS in config.static
