"""What a snapshot's document says of a cluster beside its logs: nodes, configurations, permissions, quotas, features.

Each function asks for one thing. What the cluster refuses to tell is noted, and the snapshot goes without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from kafkastub.client import BrokerError, ClientError
from kafkastub.client import groups as of_groups
from kafkastub.cluster_snapshots.source import Source
from kafkastub.config import BrokerConfig, ConfigError, Profile, validate_topic_configs
from kafkastub.config.kafka_table import CLIENT_METRICS, GROUP, TOPIC
from kafkastub.metadata import PartitionState
from kafkastub.state.snapshots.configured import is_taken
from kafkastub.state.snapshots.saved import SavedNode
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.describe_acls_request import DescribeAclsRequest
from kafkawire.messages.describe_client_quotas_request import DescribeClientQuotasRequest
from kafkawire.messages.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kafkawire.messages.list_config_resources_request import ListConfigResourcesRequest
from kafkawire.messages.list_partition_reassignments_request import ListPartitionReassignmentsRequest

Texts = dict[str, str]

_ANY: Final = 1
_KNOWN_ACLS: Final = ((2, 7), (3, 4), (2, 15), (2, 3))
"""Resource types, pattern types, operations and permissions that a snapshot can have."""

# resource types of DescribeConfigs
_TOPIC, _BROKER, _CLIENT_METRICS, _GROUP = 2, 4, 16, 32
# where a value comes from
_OF_TOPIC, _OF_ONE_BROKER, _OF_ALL_BROKERS, _STATIC, _OF_CLIENT_METRICS, _OF_GROUP = 1, 2, 3, 4, 7, 8
_AT_ONCE: Final = 200
"""Resources of a request."""
_RETENTION: Final = ("log.retention.ms", "log.retention.minutes", "log.retention.hours")
_KAFKAS_RETENTION: Final = ("log.retention.hours", "168")
"""Kafka's default; that of a stub is another."""
_DEFAULTS_INSTEAD: Final = "retention, limits and defaults of the brokers are those of a stub, unless you give them"


def nodes(metadata: Any) -> tuple[SavedNode, ...]:
    """The brokers, and those that are named as replicas and are not there."""
    found = {one.node_id: SavedNode(one.node_id, one.rack, True, True, None) for one in metadata.brokers}
    for topic in metadata.topics:
        for one in topic.partitions:
            for node_id in one.replica_nodes:
                found.setdefault(node_id, SavedNode(node_id, None, False, True, (0, 0)))
    return tuple(found[node_id] for node_id in sorted(found))


class Moving(NamedTuple):
    """A reassignment of a partition."""

    adding: Sequence[int]
    removing: Sequence[int]


def reassignments(source: Source) -> dict[tuple[str, int], Moving]:
    """Those under way."""
    found: dict[tuple[str, int], Moving] = {}
    if source.has(ApiKey.LIST_PARTITION_REASSIGNMENTS):
        with source.noting("reassignments of partitions"):
            answer = source.client.ask_controller(ListPartitionReassignmentsRequest(topics=None))
            _check(answer)
            for topic in answer.topics:
                for one in topic.partitions:
                    moving = Moving(list(one.adding_replicas), list(one.removing_replicas))
                    found[topic.name, one.partition_index] = moving
    return found


def partition(told: Any, moving: Moving | None) -> PartitionState:
    """A partition of a topic, as Metadata tells it."""
    adding, removing = moving or ((), ())
    return PartitionState(
        told.partition_index,
        told.leader_id,
        max(0, told.leader_epoch),
        list(told.replica_nodes),
        list(told.isr_nodes),
        adding=list(adding),
        removing=list(removing),
    )


# -- configurations --------------------------------------------------------------------------------------------------


def topic_configs(source: Source, names: Iterable[str]) -> dict[str, Texts]:
    """What each topic has of its own, as far as a stub can have it."""
    found: dict[str, Texts] = {}
    defaults = BrokerConfig(None, Profile.named("kafka")).log_defaults
    for name, entries in _described(source, _TOPIC, names, "configuration of topic"):
        texts = found[name] = {}
        for one in entries:
            if one.config_source != _OF_TOPIC or one.value is None:
                continue
            if one.name not in TOPIC:
                source.note(f"{one.name} of topic {name}", "a stub has no such configuration")
                continue
            try:
                validate_topic_configs(defaults, {**texts, one.name: one.value})
            except ValueError as error:
                source.note(f"{one.name}={one.value} of topic {name}", error)
                continue
            texts[one.name] = one.value
    return found


class OfBrokers(NamedTuple):
    """Configurations of the brokers: dynamic ones of one broker and of all of them, and what they were started with."""

    dynamic: Texts
    default: Texts
    properties: Texts


def broker_configs(source: Source, node_id: int) -> OfBrokers:
    """Those of a broker, which stands for all of them."""
    layers: dict[int, Texts] = {_OF_ONE_BROKER: {}, _OF_ALL_BROKERS: {}, _STATIC: {}}
    asked = _described(source, _BROKER, [str(node_id)], "configuration of broker", synonyms=True)
    for _, entries in asked:
        for entry in entries:
            for one in (*entry.synonyms, entry):
                layer = layers.get(getattr(one, "source", entry.config_source))
                if layer is not None and one.value is not None and is_taken(one.name):
                    layer.setdefault(one.name, one.value)
        if not any(name in layers[_STATIC] for name in _RETENTION):
            layers[_STATIC].setdefault(*_KAFKAS_RETENTION)
    return OfBrokers(layers[_OF_ONE_BROKER], layers[_OF_ALL_BROKERS], _startable(source, layers[_STATIC]))


def _startable(source: Source, properties: Texts) -> Texts:
    """Without those that no stub starts with, classes of a cluster's own for example."""
    found = dict(properties)
    while True:
        try:
            BrokerConfig(found, Profile.named("kafka"))
        except ConfigError as error:
            name = str(error).partition("=")[0]
            if name not in found:
                source.note("configuration of the brokers", f"{error}; {_DEFAULTS_INSTEAD}")
                return {}
            source.note(f"{name}={found.pop(name)} of the brokers", error)
        else:
            return found


def resource_configs(source: Source) -> tuple[dict[str, Texts], dict[str, Texts]]:
    """Those of groups, and those of subscriptions of client metrics."""
    names: dict[int, set[str]] = {_GROUP: set(), _CLIENT_METRICS: set()}
    if not source.has(ApiKey.LIST_CONFIG_RESOURCES):
        return {}, {}
    with source.noting("configurations of groups and of client metrics"):
        answer = source.client.ask(ListConfigResourcesRequest(resource_types=[_GROUP, _CLIENT_METRICS]))
        _check(answer)
        for one in answer.config_resources:
            names.setdefault(one.resource_type, set()).add(one.resource_name)
    if not source.has(ApiKey.LIST_CONFIG_RESOURCES, 1):  # which lists client metrics alone
        with source.noting("groups, for their configurations"):
            names[_GROUP] = {one.group_id for one in of_groups.list_groups(source.client)}
    return (
        _own(source, _GROUP, names[_GROUP], _OF_GROUP, GROUP, "configuration of group"),
        _own(source, _CLIENT_METRICS, names[_CLIENT_METRICS], _OF_CLIENT_METRICS, CLIENT_METRICS, "client metrics"),
    )


def _own(source: Source, kind: int, names: Iterable[str], layer: int, known: Any, what: str) -> dict[str, Texts]:
    found = {}
    for name, entries in _described(source, kind, names, what):
        texts = {
            one.name: one.value
            for one in entries
            if one.config_source == layer and one.value is not None and one.name in known
        }
        if texts:
            found[name] = texts
    return found


def _described(
    source: Source, kind: int, names: Iterable[str], what: str, *, synonyms: bool = False
) -> Iterator[tuple[str, Sequence[Any]]]:
    """The configurations of resources by name, without those that cannot be read, which are noted."""
    wanted = sorted(names)
    node = None
    if kind == _BROKER:
        node = next((one for one in source.client.nodes() if str(one.id) == wanted[0]), None)
    for first in range(0, len(wanted), _AT_ONCE):
        some = wanted[first : first + _AT_ONCE]
        request = DescribeConfigsRequest(
            resources=[DescribeConfigsResource(kind, name, None) for name in some], include_synonyms=synonyms
        )
        try:
            results = source.client.ask(request, node).results
        except ClientError as error:
            source.note(f"{what} {some[0]}{'' if len(some) == 1 else ' and others'}", error)
            continue
        for result in results:
            if result.error_code:
                why = str(BrokerError(result.error_code, result.error_message))
                instead = f"; {_DEFAULTS_INSTEAD}" if kind == _BROKER else ""
                source.note(f"{what} {result.resource_name}", why + instead)
            else:
                yield result.resource_name, result.configs


# -- the rest --------------------------------------------------------------------------------------------------------


def acls(source: Source) -> list[list[Any]]:
    """All of them; none where the cluster has no authorizer."""
    request = DescribeAclsRequest(_ANY, None, _ANY, None, None, _ANY, _ANY)
    found: list[list[Any]] = []
    with source.noting("ACLs"):
        answer = source.client.ask(request)
        if answer.error_code == ErrorCode.SECURITY_DISABLED:
            return found
        _check(answer)
        for of in answer.resources:
            for acl in of.acls:
                numbers = of.resource_type, of.pattern_type, acl.operation, acl.permission_type
                if all(low <= number <= high for number, (low, high) in zip(numbers, _KNOWN_ACLS, strict=True)):
                    found.append(
                        [
                            of.resource_type, of.resource_name, of.pattern_type, acl.principal, acl.host,
                            acl.operation, acl.permission_type,
                        ]
                    )  # fmt: skip
                else:
                    source.note(f"an ACL of {of.resource_name}", f"its kind is not known here: {numbers}")
    return found


def quotas(source: Source) -> list[list[Any]]:
    """Those of users, client ids and addresses."""
    found: list[list[Any]] = []
    if not source.has(ApiKey.DESCRIBE_CLIENT_QUOTAS):
        return found
    with source.noting("quotas"):
        answer = source.client.ask(DescribeClientQuotasRequest(components=[], strict=False))
        _check(answer)
        for entry in answer.entries or ():
            who = [[one.entity_type, one.entity_name] for one in entry.entity]
            found.append([who, {one.key: one.value for one in entry.values}])
    return found


class Features(NamedTuple):
    """Finalized levels, 0 of a feature that is off; and the offset of the metadata that they are of."""

    levels: dict[str, int]
    offset: int


def features(source: Source) -> Features:
    """Those of the cluster."""
    answer = source.client.ask(ApiVersionsRequest("kafkastub", "unknown"))
    levels = dict.fromkeys((one.name for one in answer.supported_features), 0)
    levels |= {one.name: one.max_version_level for one in answer.finalized_features}
    return Features(levels, max(1, answer.finalized_features_epoch))


def _check(answer: Any) -> None:
    """Raises BrokerError."""
    if answer.error_code:
        raise BrokerError(answer.error_code, getattr(answer, "error_message", None))
