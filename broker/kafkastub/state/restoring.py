"""The state made what kafkastub.json says: at the start, and where the disk takes no more of what was changed since.

Then it is taken back, so that nobody reads what the next start would not find: whoever asked for it is answered
KAFKA_STORAGE_ERROR, and nobody else has seen it, as all answers wait for the disk. What is not taken back: the clock,
producer ids, and what groups had committed on topics whose deletion was (their tombstones may have found room).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from kafkastub.config import UnknownTopicConfig, validate_topic_configs
from kafkastub.metadata import Topic
from kafkastub.metadata.ids import uuid_bytes
from kafkastub.state.leadership import Now, settle_leaders
from kafkastub.state.loading import resign
from kafkastub.state.persisted import partitions_of
from kafkastub.state.settings_back import Document, restore_acls, restore_configs
from kafkastub.state.topics import create_logs, reconfigure_logs
from kafkastub.storage.disk import DataDirectory, DiskLog
from kafkastub.storage.kept_log import KeptLog

if TYPE_CHECKING:
    from kafkastub.state.broker_state import BrokerState


def restore_topic(state: BrokerState, one: Document) -> None:
    """A topic that is not there, and its records. DataDirError, OSError, InvalidValue."""
    with suppress(UnknownTopicConfig):  # another version's
        validate_topic_configs(state.config.log_defaults, one["configs"])
    topic = state.cluster.create_topic(
        one["name"],
        configs=one["configs"],
        assignments=[p["replicas"] for p in one["partitions"]],
        topic_id=uuid_bytes(one["id"]),
    )
    topic.partitions[:] = partitions_of(one)
    state.cluster.changes.count += 1
    state.log_dirs.restore(topic, (p.get("log_dirs") for p in one["partitions"]))
    create_logs(state, topic)
    for index, p in enumerate(one["partitions"]):
        _restore_log(state, topic, index, p)


def _restore_log(state: BrokerState, topic: Topic, index: int, p: Document) -> None:
    log = state.logs.log(topic.topic_id, index)
    if isinstance(log, DiskLog):
        log.restore(p["log_start_offset"])
        log.become_leader(p["leader_epoch"])
    elif isinstance(log, KeptLog):
        log.log_start_offset = p["log_start_offset"]


# -- taking back -----------------------------------------------------------------------------------------------------


def take_back(state: BrokerState, now: Document, written: Document, directory: DataDirectory, at: Now) -> None:
    """Make of the state, which is `now`, what was `written` last. DataDirError, OSError."""
    if now["broker_configs"] != written["broker_configs"]:
        restore_configs(state, written["broker_configs"])
        for topic in state.cluster.topics.values():
            reconfigure_logs(state, topic)
        state.coordinator.reconfigured()
        state.broker_changed()
    cluster = state.cluster
    for name, texts in (
        ("group_configs", cluster.group_configs),
        ("client_metrics_configs", cluster.client_metrics_configs),
    ):
        if texts != written[name]:
            texts.clear()
            texts.update(written[name])
    state.telemetry.all_altered()
    if now["acls"] != written.get("acls", []):
        restore_acls(state, written.get("acls", ()))
    if now["scram"] != written.get("scram", []):
        state.forget_scram_users()
        state.scram_users.restore(written.get("scram", ()))
    if now["delegation_tokens"] != written.get("delegation_tokens", []):
        state.delegation_tokens.restore(written.get("delegation_tokens", ()))
    if now["quotas"] != written.get("quotas", []):
        state.quotas.clear()
        state.quotas.restore(written.get("quotas", ()))
        state.quotas_changed()
    if now["features"] != written.get("features", {}):
        state.features.restore(written.get("features", {}))
    for node_id in set(now["unregistered"]).difference(written.get("unregistered", ())):
        node = cluster.nodes[node_id]
        node.registered, node.alive = True, node.left is None
        if node.alive and not cluster.is_alive(cluster.controller_id):
            cluster.controller_id = node_id
    _take_back_topics(state, now["topics"], written["topics"], directory, at)


def _take_back_topics(
    state: BrokerState, now: Sequence[Document], written: Sequence[Document], directory: DataDirectory, at: Now
) -> None:
    there, wanted = ({one["id"]: one for one in topics} for topics in (now, written))
    for topic_id, one in there.items():
        if topic_id not in wanted:
            _forget_topic(state, one["name"], at)
    for topic_id, one in wanted.items():
        if topic_id not in there:
            for index in range(len(one["partitions"])):
                directory.bring_back(f"{one['name']}-{index}", directory.deleted(uuid_bytes(topic_id), index))
            restore_topic(state, one)
        elif there[topic_id] != one:
            _take_back_topic(state, one, there[topic_id])
    changed = [
        one["name"] for one in (*there.values(), *wanted.values()) if there.get(one["id"]) != wanted.get(one["id"])
    ]
    state.topics_changed(dict.fromkeys(changed))
    if there != wanted:
        settle_leaders(state, at)  # nodes that have stopped meanwhile stay stopped


def _forget_topic(state: BrokerState, name: str, at: Now) -> None:
    """A topic whose creation could not be written."""
    topic = state.cluster.delete_topic(name)
    topic_id = topic.topic_id
    state.log_dirs.forget(topic)
    state.logs.delete(topic_id)
    state.fetch_purgatory.topic_changed(topic_id)
    resign(state, name, *at)


def _take_back_topic(state: BrokerState, one: Document, now: Document) -> None:
    """Configurations, leaders and replicas; partitions that were added, records that were deleted."""
    topic, before = state.cluster.topics[one["name"]], one["partitions"]
    if topic.name in state.runtimes:  # which has its own way back, and keeps its partitions
        before = [*before, *now["partitions"][len(before) :]]
    state.log_dirs.forget(topic)
    topic.partitions[:] = partitions_of({"partitions": before})
    state.cluster.changes.count += 1
    state.log_dirs.restore(topic, (p.get("log_dirs") for p in before))
    for index in range(len(before), len(now["partitions"])):
        state.logs.forget(topic.topic_id, index)
    if topic.name not in state.runtimes:
        create_logs(state, topic)
    if topic.configs != one["configs"]:
        topic.configs = dict(one["configs"])
        reconfigure_logs(state, topic)
    for index, (p, q) in enumerate(zip(before, now["partitions"], strict=False)):
        if topic.name not in state.runtimes and q["log_start_offset"] != p["log_start_offset"]:
            state.logs.forget(topic.topic_id, index)
            _restore_log(state, topic, index, p)
    state.fetch_purgatory.topic_changed(topic.topic_id)
