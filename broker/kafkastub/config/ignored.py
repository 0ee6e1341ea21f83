"""Names that Kafka has and the stub does nothing with, where somebody who sets them may rely on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .broker import BrokerConfig

_MISLEADING: Final = {
    "alter.config.policy.class.name": "configurations are not checked by a policy",
    "create.topic.policy.class.name": "topics are not checked by a policy",
    "client.quota.callback.class": "quotas are those of users, client ids and addresses",
    "early.start.listeners": "all listeners open at once",
    "log.dirs": "clients are told of it; records are kept in memory, or where --data-dir (data_dir=) says",
    "log.dir": "clients are told of it; records are kept in memory, or where --data-dir (data_dir=) says",
    "metric.reporters": "nobody reports metrics",
    "principal.builder.class": "principals are those of Kafka's own builder",
    "remote.log.storage.system.enable": "there is no tiered storage",
    "replica.selector.class": "consumers fetch from the leader",
    "ssl.cipher.suites": "the cipher suites of Python's ssl module are offered",
    "ssl.engine.factory.class": "TLS is that of Python's ssl module",
}
RACK_AWARE: Final = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
"""The one `replica.selector.class` that Kafka brings along, and that has an effect here."""


def misleading(config: BrokerConfig) -> Iterator[tuple[str, str]]:
    """(name, what holds instead) of what was set and has no effect that a user would look for."""
    for name, instead in _MISLEADING.items():
        if config.static.get(name, "").strip() not in ("", "false", RACK_AWARE):
            yield name, instead
