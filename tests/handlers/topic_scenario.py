"""One long conversation about topics and configurations, for the stub and for Apache Kafka alike.

Each step is one request. Names in it are its own; ids are looked up when it is played (`id_of`). What two brokers can't
agree on (ids, addresses, the order of what Kafka keeps in hash maps) is normalised away by `plain`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import kafkawire.messages.alter_configs_request as legacy
import kafkawire.messages.incremental_alter_configs_request as incremental
from kafkawire.api import ApiKey
from kafkawire.messages.create_partitions_request import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kafkawire.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kafkawire.messages.describe_cluster_request import DescribeClusterRequest
from kafkawire.messages.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kafkawire.messages.describe_topic_partitions_request import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from kafkawire.messages.list_config_resources_request import ListConfigResourcesRequest
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.schema import ZERO_UUID, Message, Struct

IdOf = Callable[[str], bytes]
"""A topic's id by its name; a made-up one, the same each time, for a name without a topic."""

TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)


_READS = frozenset(
    (
        ApiKey.DESCRIBE_CONFIGS,
        ApiKey.DESCRIBE_CLUSTER,
        ApiKey.DESCRIBE_LOG_DIRS,
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
        ApiKey.ELECT_LEADERS,  # on one node there is nothing to be elected
        ApiKey.GET_TELEMETRY_SUBSCRIPTIONS,  # by an instance without an id; another is refused as often as it asks
        ApiKey.LIST_CONFIG_RESOURCES,
        ApiKey.LIST_OFFSETS,
        ApiKey.METADATA,
    )
)


@dataclass(frozen=True)
class Step:
    """One request; `request` is built when it is played."""

    label: str
    key: ApiKey
    version: int
    request: Callable[[IdOf], Message]

    @property
    def reads(self) -> bool:
        """Whether asking again changes nothing."""
        return self.key in _READS


def new(name: str, partitions: int = 1, replicas: int = 1, place: Any = (), **configs: str | None) -> CreatableTopic:
    """A topic to create; configuration names with `_` for `.`; `place` is (partition, node ids) pairs."""
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replicas,
        assignments=[CreatableReplicaAssignment(partition_index=index, broker_ids=nodes) for index, nodes in place],
        configs=[CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()],
    )


def create(
    label: str, *topics: CreatableTopic, version: int = 7, timeout_ms: int = 5000, validate: bool = False
) -> Step:
    request = CreateTopicsRequest(topics=topics, timeout_ms=timeout_ms, validate_only=validate)
    return Step(label, ApiKey.CREATE_TOPICS, version, lambda _: request)


def metadata(label: str, *names: str, version: int = 12, create: bool = False, **flags: bool) -> Step:
    topics = [MetadataRequestTopic(name=name) for name in names]
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=create, **flags)
    return Step(label, ApiKey.METADATA, version, lambda _: request)


def metadata_of(label: str, *topics: tuple[str | None, str | None], version: int = 12) -> Step:
    """By (name, name of the topic whose id is given)."""

    def request(id_of: IdOf) -> Message:
        return MetadataRequest(
            topics=[MetadataRequestTopic(name=name, topic_id=id_of(of) if of else ZERO_UUID) for name, of in topics],
            allow_auto_topic_creation=False,
            include_topic_authorized_operations=True,
        )

    return Step(label, ApiKey.METADATA, version, request)


def delete(label: str, *names: str, version: int = 5, timeout_ms: int = 5000) -> Step:
    request = DeleteTopicsRequest(topic_names=names, timeout_ms=timeout_ms)
    return Step(label, ApiKey.DELETE_TOPICS, version, lambda _: request)


def delete_of(label: str, *topics: tuple[str | None, str | None]) -> Step:
    """By (name, name of the topic whose id is given), version 6."""

    def request(id_of: IdOf) -> Message:
        states = [DeleteTopicState(name=name, topic_id=id_of(of) if of else ZERO_UUID) for name, of in topics]
        return DeleteTopicsRequest(topics=states, timeout_ms=5000)

    return Step(label, ApiKey.DELETE_TOPICS, 6, request)


def grow(
    label: str, *topics: tuple[str, int, Any], version: int = 3, timeout_ms: int = 5000, validate: bool = False
) -> Step:
    """(name, count, lists of node ids or None)."""
    request = CreatePartitionsRequest(
        topics=[
            CreatePartitionsTopic(
                name=name,
                count=count,
                assignments=None
                if place is None
                else [CreatePartitionsAssignment(broker_ids=nodes) for nodes in place],
            )
            for name, count, place in topics
        ],
        timeout_ms=timeout_ms,
        validate_only=validate,
    )
    return Step(label, ApiKey.CREATE_PARTITIONS, version, lambda _: request)


def alter(
    label: str, kind: int, name: str, *changes: tuple[str, int, str | None], validate: bool = False, twice: bool = False
) -> Step:
    resource = incremental.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[incremental.AlterableConfig(name=key, config_operation=op, value=value) for key, op, value in changes],
    )
    resources = [resource, resource] if twice else [resource]
    request = incremental.IncrementalAlterConfigsRequest(resources=resources, validate_only=validate)
    return Step(label, ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, lambda _: request)


def replace(label: str, kind: int, name: str, *values: tuple[str, str | None], validate: bool = False) -> Step:
    configs = [legacy.AlterableConfig(name=key, value=value) for key, value in values]
    resource = legacy.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    request = legacy.AlterConfigsRequest(resources=[resource], validate_only=validate)
    return Step(label, ApiKey.ALTER_CONFIGS, 2, lambda _: request)


def describe(
    label: str, *resources: tuple[int, str], keys: Any = None, version: int = 4, synonyms: bool = True
) -> Step:
    request = DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
            for kind, name in resources
        ],
        include_synonyms=synonyms,
    )
    return Step(label, ApiKey.DESCRIBE_CONFIGS, version, lambda _: request)


def cluster(label: str, version: int = 2, **fields: Any) -> Step:
    request = DescribeClusterRequest(**fields)
    return Step(label, ApiKey.DESCRIBE_CLUSTER, version, lambda _: request)


def resources(label: str, *kinds: int, version: int = 1) -> Step:
    request = ListConfigResourcesRequest(resource_types=kinds)
    return Step(label, ApiKey.LIST_CONFIG_RESOURCES, version, lambda _: request)


def partitions(label: str, *names: str, limit: int = 2000, cursor: tuple[str, int] | None = None) -> Step:
    request = DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=name) for name in names],
        response_partition_limit=limit,
        cursor=Cursor(topic_name=cursor[0], partition_index=cursor[1]) if cursor else None,
    )
    return Step(label, ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, lambda _: request)


_UNORDERED = ("topics", "responses", "results", "configs", "config_resources", "partitions", "replica_election_results")


def plain(message: Message, id_of: IdOf, names: list[str]) -> Any:
    """The answer as dicts and lists, comparable between two brokers."""
    known = {id_of(name): f"id of {name}" for name in names}
    return _plain(message, known, "")


def _plain(value: Any, known: dict[bytes, str], field: str) -> Any:
    if isinstance(value, Struct):
        plain = {row[0]: _plain(getattr(value, row[0]), known, row[0]) for row in value.FIELDS}
        if field == "brokers":
            plain |= {"host": "somewhere", "port": 0}
        if plain.get("cluster_id"):
            plain["cluster_id"] = "some cluster"
        if "log_dir" in plain:
            plain |= {"log_dir": "somewhere", "total_bytes": -1, "usable_bytes": -1}
        if "client_instance_id" in plain:
            plain["subscription_id"] ^= _folded(value.client_instance_id)
        return plain
    if field == "client_instance_id":
        return "none" if value == ZERO_UUID else "some id"
    if field == "topic_id":
        return known.get(value, "none" if value == ZERO_UUID else "some id")
    if isinstance(value, list | tuple):
        items = [_plain(item, known, field) for item in value]
        # Kafka keeps these in hash maps (resources and synonyms it answers in order)
        return sorted(items, key=repr) if field in _UNORDERED else items
    return value if value is None or isinstance(value, bool | str | bytes) else int(value)


def _folded(instance_id: bytes) -> int:
    """What a telemetry subscription's id owes to the instance's (Uuid.hashCode)."""
    result = 0
    for at in range(0, 16, 4):
        result ^= int.from_bytes(instance_id[at : at + 4], "big", signed=True)
    return result
