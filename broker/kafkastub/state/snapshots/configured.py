"""What brokers of a real cluster are started with, beneath what a stub is started with.

A snapshot of one says it (`SavedState.properties`): how long offsets and records are kept, the limits of groups and
transactions, and what else clients see that no topic and no dynamic configuration says. Names that say where a broker
listens, keeps its files, or who gets in are no part of that, whatever a file says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kafkastub.config import BrokerConfig, Profile, synonyms
from kafkastub.config.kafka_table import BROKER
from kafkastub.state.snapshots.saved import SavedState

_BEGINNINGS: Final = (
    "compression.", "group.", "log.", "offsets.", "producer.id.", "quota.", "share.coordinator.", "transaction.",
    "transactional.",
)  # fmt: skip
_NAMES: Final = frozenset(
    {
        "auto.create.topics.enable", "default.replication.factor", "delete.topic.enable", "fetch.max.bytes",
        "max.incremental.fetch.session.cache.slots", "max.request.partition.size.limit", "message.max.bytes",
        "min.insync.replicas", "num.partitions", "unclean.leader.election.enable",
    }
)  # fmt: skip
_OF_THE_MACHINE: Final = ("log.dir", "log.dirs")
_NODE: Final = "node.id"


def is_taken(name: str) -> bool:
    """Whether a broker's configuration of that name is part of a snapshot."""
    known = name in BROKER and name not in _OF_THE_MACHINE
    return known and (name in _NAMES or name.startswith(_BEGINNINGS))


def configured(saved: SavedState, given: Mapping[str, object] | None, profile: str) -> BrokerConfig:
    """The configuration of a stub that is started from a snapshot: what is given, and beneath it what the snapshot
    says. Raises ConfigError.
    """
    given = given or {}
    if not saved.properties:
        return BrokerConfig(given, Profile.named(profile))
    hidden = {other for name in given for other in synonyms(name)}
    beneath = {name: text for name, text in saved.properties.items() if is_taken(name) and name not in hidden}
    of_nodes = {}
    if not {_NODE, "broker.id"} & given.keys():
        of_nodes[_NODE] = str(min(one.node_id for one in saved.nodes))
    config = BrokerConfig({**of_nodes, **beneath, **given}, Profile.named(profile))
    config.of_cluster = beneath
    return config
