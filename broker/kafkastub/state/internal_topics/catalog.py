"""The topics that Kafka makes for itself when they are first needed: what makes them, and who coordinates by them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from kafkastub.config import BrokerConfig
from kafkastub.metadata import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE


class BrokerSetting(str):
    """The name of a broker configuration whose value a topic takes."""

    __slots__ = ()


class Definition(NamedTuple):
    """One such topic.

    Attributes:
        key_type: of its coordinator, in FindCoordinator.
        partitions: the broker configuration with their number.
        replication_factor: the broker configuration with it.
        configs: the topic's own; a `BrokerSetting` stands for its value.
    """

    key_type: int
    partitions: str
    replication_factor: str
    configs: Mapping[str, str]

    def topic_configs(self, config: BrokerConfig) -> dict[str, str]:
        """The topic's configurations, of a broker with this one."""
        return {
            name: str(config[value]) if isinstance(value, BrokerSetting) else value
            for name, value in self.configs.items()
        }


CATALOG: Final[Mapping[str, Definition]] = {
    CONSUMER_OFFSETS: Definition(  # GroupCoordinatorService.groupMetadataTopicConfigs
        0,
        "offsets.topic.num.partitions",
        "offsets.topic.replication.factor",
        {
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": BrokerSetting("offsets.topic.segment.bytes"),
        },
    ),
    TRANSACTION_STATE: Definition(  # TransactionStateManager.transactionTopicConfigs
        1,
        "transaction.state.log.num.partitions",
        "transaction.state.log.replication.factor",
        {
            "cleanup.policy": "compact",
            "compression.type": "uncompressed",
            "min.insync.replicas": BrokerSetting("transaction.state.log.min.isr"),
            "segment.bytes": BrokerSetting("transaction.state.log.segment.bytes"),
            "unclean.leader.election.enable": "false",
        },
    ),
    SHARE_GROUP_STATE: Definition(  # ShareCoordinatorService.shareGroupStateTopicConfigs
        2,
        "share.coordinator.state.topic.num.partitions",
        "share.coordinator.state.topic.replication.factor",
        {
            "cleanup.policy": "delete",
            "compression.type": "producer",
            "min.insync.replicas": BrokerSetting("share.coordinator.state.topic.min.isr"),
            "retention.ms": "-1",
            "segment.bytes": BrokerSetting("share.coordinator.state.topic.segment.bytes"),
        },
    ),
}
"""By name. The comments name where Kafka does the same."""

BY_KEY_TYPE: Final[Mapping[int, str]] = {one.key_type: name for name, one in CATALOG.items()}
"""The topic that a coordinator is found by."""
