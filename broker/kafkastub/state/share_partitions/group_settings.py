"""What the share partitions of a group go by: its own configuration, else the broker's.

Kafka: ShareGroupConfigProvider, GroupConfig.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kafkastub.config import BrokerConfig
from kafkastub.config.definition import parse
from kafkastub.config.kafka_table import GROUP
from kafkastub.metadata import Cluster
from kafkastub.share_partitions.settings import ShareSettings

_BOUNDED: Final = ("record.lock.duration.ms", "delivery.count.limit", "partition.max.record.locks")
_RENEW: Final = "share.renew.acknowledge.enable"
_RESET: Final = "share.auto.offset.reset"
_ISOLATION: Final = "share.isolation.level"
_READ_COMMITTED: Final = "read_committed"
_NONE: Final[Mapping[str, str]] = {}


class GroupSettings:
    """Those of each group, made once for each configuration it has had.

    A value that was set while the broker's bounds were wider counts as the bound (``GroupConfig.evaluate``).

    Args:
        dead_letters: whether a group's dead letters are written.
    """

    __slots__ = ("_cluster", "_config", "_dead_letters", "_known", "_plain")

    def __init__(self, config: BrokerConfig, cluster: Cluster, dead_letters: Callable[[str], bool]) -> None:
        self._config = config
        self._cluster = cluster
        self._dead_letters = dead_letters
        self._known: dict[str, tuple[Mapping[str, str], bool, ShareSettings]] = {}
        self._plain: ShareSettings | None = None
        """Those of all groups without a configuration."""

    def of(self, group_id: str) -> ShareSettings:
        """What they are now."""
        texts = self._cluster.group_configs.get(group_id)
        if texts is None:
            if self._plain is None:
                self._plain = self._made(_NONE, False)
            return self._plain
        letters = self._dead_letters(group_id)
        known = self._known.get(group_id)
        if known is None or known[0] is not texts or known[1] is not letters:
            known = self._known[group_id] = texts, letters, self._made(texts, letters)
        return known[2]

    def _made(self, texts: Mapping[str, str], letters: bool) -> ShareSettings:
        found = [self._bounded(texts, name) for name in _BOUNDED]
        renews = parse(_RENEW, GROUP[_RENEW], texts.get(_RENEW, GROUP[_RENEW][1]))
        committed = texts.get(_ISOLATION, GROUP[_ISOLATION][1]) == _READ_COMMITTED
        return ShareSettings(found[0], found[1], found[2], renews, letters, committed)

    def reset(self, group_id: str) -> str:
        """`share.auto.offset.reset`."""
        found: str = self._cluster.group_configs.get(group_id, _NONE).get(_RESET, GROUP[_RESET][1])
        return found

    def _bounded(self, texts: Mapping[str, str], name: str) -> Any:
        key = f"share.{name}"
        if key not in texts:
            return self._config[f"group.share.{name}"]
        value, config = parse(key, GROUP[key], texts[key]), self._config
        return min(max(value, config[f"group.share.min.{name}"]), config[f"group.share.max.{name}"])
