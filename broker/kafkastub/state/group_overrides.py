"""What single groups are configured for (resource type GROUP), as their coordinator goes by it.

Kafka: ``GroupConfigManager``. Loaded when a group with epochs is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkastub.config import BrokerConfig
from kafkastub.config.definition import parse
from kafkastub.config.kafka_table import GROUP
from kafkastub.coordinator.modern.settings import config_name
from kafkastub.metadata import Cluster


class GroupOverrides:
    """The overrides of each group, typed once.

    A value that was set while the broker's bounds were wider counts as the bound (``GroupConfig.evaluate``).
    """

    __slots__ = ("_cluster", "_config", "_known")

    def __init__(self, config: BrokerConfig, cluster: Cluster) -> None:
        self._config = config
        self._cluster = cluster
        self._known: dict[tuple[str, str], tuple[Mapping[str, str], Any]] = {}
        """By type and group, with the texts that they were made of, which are replaced and not changed."""

    def of(self, group_type: str, group_id: str, kind: type[Any]) -> Any:
        """What a group of the type is configured for itself; None where it is not.

        Args:
            kind: the class of that, a `NamedTuple` as `modern.settings.GroupConfig`.
        """
        texts, key = self._cluster.group_configs.get(group_id), (group_type, group_id)
        if texts is None:
            if self._known:
                self._known.pop(key, None)
            return None
        known = self._known.get(key)
        if known is None or known[0] is not texts:
            known = texts, kind(*(self._value(texts, group_type, config_name(field)) for field in kind._fields))
            self._known[key] = known
        return known[1]

    def _value(self, texts: Mapping[str, str], group_type: str, named: str) -> Any:
        """One value; what has no bounds in the broker's configuration is as it is."""
        name, config = f"{group_type}.{named}", self._config
        if name not in texts:
            return None
        value = parse(name, GROUP[name], texts[name])
        low, high = (f"group.{group_type}.{which}.{named.removeprefix('num.')}" for which in ("min", "max"))
        if low in config:
            value = max(value, config[low])
        if high in config:
            value = min(value, config[high])
        return tuple(value) if isinstance(value, list) else value
