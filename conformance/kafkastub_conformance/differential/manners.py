"""What a guest does not ask of a broker: anything about what may be somebody else's."""

from __future__ import annotations

from collections.abc import Iterator

from kafkastub_conformance.differential.bodies import Json

GROUP_FIELDS = ("group_id", "group_ids", "groups", "groups_names")
INTERNAL = ("__consumer_offsets", "__transaction_state", "__share_group_state")

BROKER_RESOURCES = (4, 8)
"""The types of a broker, and of its loggers, as a resource that has a configuration."""

CHANGING = {
    "AddPartitionsToTxn", "AlterConfigs", "AlterReplicaLogDirs", "CreatePartitions", "CreateTopics", "DeleteRecords",
    "DeleteTopics", "IncrementalAlterConfigs", "Produce", "WriteTxnMarkers",
}  # fmt: skip
"""The APIs that change topics."""

CLUSTERS = {
    "DeleteShareGroupState", "InitializeShareGroupState", "ReadShareGroupState", "ReadShareGroupStateSummary",
    "WriteShareGroupState",
}  # fmt: skip
"""The APIs that brokers ask each other for."""

NAMES = ("name", "topic_names", "resource_name")

OWNERS = {
    "AddRaftVoter": "who votes is the owner's to say",
    "CreateAcls": "who may do what is the owner's to say",
    "DeleteAcls": "who may do what is the owner's to say",
    "RemoveRaftVoter": "who votes is the owner's to say",
}
"""APIs that are never asked, and why."""


def impolite(api: str, body: dict[str, Json]) -> str:
    """Why a request is not for a broker where others are at home; empty where it is."""
    if api in OWNERS:
        return OWNERS[api]
    if api in CLUSTERS:
        return "it is for brokers among themselves"
    if api == "UpdateFeatures" and not body.get("validate_only"):
        return "features belong to the whole cluster"
    for name, value in _leaves(body):
        if name in ("broker_id", "controller_id") and api.startswith("Unregister") and not _is_nobody(value):
            return f"there may be a node {value}"
        if name in GROUP_FIELDS and value == "":
            return "the group with the empty id may be somebody's"
        if value in INTERNAL:
            return f"{value} is the broker's own"
        if name == "resource_type" and value in BROKER_RESOURCES:
            return "the broker's configuration is its owner's"
        changes = api in CHANGING and not body.get("validate_only")
        if changes and name in NAMES and not _is_own(value):
            return f"the topic {value!r} may be somebody's"
    return ""


def _is_own(topic: Json) -> bool:
    """Ours, or no name that a topic can have."""
    return topic is None or topic.startswith("<p>") or not topic.replace("_", "").replace("-", "").isalnum()


def _is_nobody(node_id: Json) -> bool:
    """No node has a negative id."""
    return isinstance(node_id, int) and node_id < 0


def _leaves(value: Json, name: str = "") -> Iterator[tuple[str, Json]]:
    """Every plain value with the name of its field; those of configurations are nobody's."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key != "configs":
                yield from _leaves(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, name)
    else:
        yield name, value
