"""Which protocols groups may use here: `group.coordinator.rebalance.protocols`, and the features of the cluster."""

from __future__ import annotations

from typing import Final

from kafkastub.state.broker_state import BrokerState
from kafkawire.java_order import string_order

_PROTOCOLS: Final = "group.coordinator.rebalance.protocols"
_FEATURE: Final = "group.version"
_SHARE_FEATURE: Final = "share.version"
_STREAMS_FEATURE: Final = "streams.version"
_LONGEST_MEMBER_ID: Final = 36
"""UTF-16 units: as many as a UUID has as a text."""


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


def serves_share_protocol(state: BrokerState) -> bool:
    """Whether there may be share groups. Kafka: KafkaApis.isShareGroupProtocolEnabled."""
    return state.features.finalized.get(_SHARE_FEATURE, 0) > 0


def serves_streams_protocol(state: BrokerState) -> bool:
    """Whether there may be streams groups. Kafka: KafkaApis.isStreamsGroupProtocolEnabled."""
    return "streams" in state.config[_PROTOCOLS] and state.features.finalized.get(_STREAMS_FEATURE, 0) > 0


def is_share_member_id(member_id: str | None) -> bool:
    """Whether a member of a share group may have that id. Kafka: KafkaApis.isMemberIdValid."""
    if not member_id or len(member_id) > _LONGEST_MEMBER_ID:
        return False
    return len(string_order(member_id)) <= 2 * _LONGEST_MEMBER_ID
