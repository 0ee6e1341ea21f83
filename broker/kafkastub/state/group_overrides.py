"""What single groups are configured for (resource type GROUP), as their coordinator goes by it.

Kafka: ``GroupConfigManager``. Loaded when a group with epochs is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from kafkastub.config import BrokerConfig
from kafkastub.config.definition import parse
from kafkastub.config.kafka_table import GROUP
from kafkastub.coordinator.modern.settings import ConsumerGroupConfig, ShareGroupConfig, StreamsGroupConfig
from kafkastub.metadata import Cluster

_CONSUMER: Final = (
    ("consumer.session.timeout.ms", "group.consumer.{}.session.timeout.ms"),
    ("consumer.heartbeat.interval.ms", "group.consumer.{}.heartbeat.interval.ms"),
    ("consumer.assignment.interval.ms", "group.consumer.{}.assignment.interval.ms"),
    ("consumer.assignor.offload.enable", ""),
)
_SHARE: Final = (
    ("share.session.timeout.ms", "group.share.{}.session.timeout.ms"),
    ("share.heartbeat.interval.ms", "group.share.{}.heartbeat.interval.ms"),
    ("share.assignment.interval.ms", "group.share.{}.assignment.interval.ms"),
    ("share.assignor.offload.enable", ""),
)
_STREAMS: Final = (
    ("streams.session.timeout.ms", "group.streams.{}.session.timeout.ms"),
    ("streams.heartbeat.interval.ms", "group.streams.{}.heartbeat.interval.ms"),
    ("streams.assignment.interval.ms", "group.streams.{}.assignment.interval.ms"),
    ("streams.assignor.offload.enable", ""),
    ("streams.initial.rebalance.delay.ms", ""),
    ("streams.num.standby.replicas", "group.streams.{}.standby.replicas"),
    ("streams.num.warmup.replicas", "group.streams.{}.warmup.replicas"),
    ("streams.task.offset.interval.ms", "group.streams.{}.task.offset.interval.ms"),
    ("streams.acceptable.recovery.lag", ""),
    ("streams.rack.aware.assignment.tags", ""),
    ("streams.assignor.name", ""),
)
"""In the order of the fields; with the broker's bounds."""
Own = TypeVar("Own", ConsumerGroupConfig, ShareGroupConfig, StreamsGroupConfig)


class GroupOverrides:
    """The overrides of each group, typed once.

    A value that was set while the broker's bounds were wider counts as the bound (``GroupConfig.evaluate``).
    """

    __slots__ = ("_cluster", "_config", "_known")

    def __init__(self, config: BrokerConfig, cluster: Cluster) -> None:
        self._config = config
        self._cluster = cluster
        self._known: dict[tuple[type[Any], str], tuple[Mapping[str, str], Any]] = {}
        """By type and group, with the texts that they were made of, which are replaced and not changed."""

    def of_consumer_group(self, group_id: str) -> ConsumerGroupConfig | None:
        """None where the group has no configuration of its own."""
        return self._of(ConsumerGroupConfig, _CONSUMER, group_id)

    def of_share_group(self, group_id: str) -> ShareGroupConfig | None:
        """The same of a share group."""
        return self._of(ShareGroupConfig, _SHARE, group_id)

    def of_streams_group(self, group_id: str) -> StreamsGroupConfig | None:
        """The same of a streams group."""
        return self._of(StreamsGroupConfig, _STREAMS, group_id)

    def _of(self, kind: type[Own], names: tuple[tuple[str, str], ...], group_id: str) -> Own | None:
        texts = self._cluster.group_configs.get(group_id)
        if texts is None:
            if self._known:
                self._known.pop((kind, group_id), None)
            return None
        known = self._known.get((kind, group_id))
        if known is None or known[0] is not texts:
            known = texts, kind(*(self._value(texts, name, bound) for name, bound in names))
            self._known[kind, group_id] = known
        own: Own = known[1]
        return own

    def _value(self, texts: Mapping[str, str], name: str, bound: str) -> Any:
        if name not in texts:
            return None
        value = parse(name, GROUP[name], texts[name])
        if not bound:
            return tuple(value) if isinstance(value, list) else value
        low, high = bound.format("min"), bound.format("max")
        if low in self._config:
            value = max(value, self._config[low])
        return min(value, self._config[high]) if high in self._config else value
