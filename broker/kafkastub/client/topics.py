"""Topics, partitions and their offsets, asked of any broker: what `kafkastub topics` and `kafkastub groups` need.

Results are plain data. Errors are BrokerError with the broker's text, or ClientError.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kafkastub.client.errors import BrokerError, Unsupported
from kafkastub.client.routing import Client
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
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
from kafkawire.messages.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kafkawire.messages.describe_topic_partitions_request import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic

TopicPartition = tuple[str, int]

LATEST: Final = -1
EARLIEST: Final = -2
"""Timestamps of ListOffsets with a meaning of their own."""

_CONSUMER: Final = -1
"""Instead of the id of a replica, which would be told of offsets that are not committed."""
INTERNAL: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
_TOPIC: Final = 2
_DEFAULT_CONFIG: Final = 5


@dataclass(frozen=True)
class Partition:
    """One partition; `leader` is None where there is none, `elr` where the broker does not tell (KIP-966)."""

    index: int
    leader: int | None
    replicas: list[int]
    isr: list[int]
    elr: list[int] | None = None
    last_known_elr: list[int] | None = None
    adding: list[int] | None = None
    removing: list[int] | None = None


@dataclass(frozen=True)
class Topic:
    """A topic as a broker describes it; `topic_id` as text, "" where the broker has none."""

    name: str
    topic_id: str
    internal: bool
    partitions: list[Partition]


def names(client: Client) -> dict[str, str]:
    """The name of every topic to its id as text."""
    answer = client.ask(MetadataRequest(topics=None, allow_auto_topic_creation=False))
    return {topic.name: uuid_text(topic.topic_id) for topic in answer.topics}


def describe(client: Client, topics: Iterable[str], page: int = 2000) -> dict[str, Topic]:
    """The topics by name, `page` partitions a request where the broker allows it. Raises BrokerError."""
    wanted = sorted(set(topics))
    if not wanted:
        return {}
    if ApiKey.DESCRIBE_TOPIC_PARTITIONS in client.connection().negotiate():
        return _described(client, wanted, page)
    return _described_by_metadata(client, wanted)


def _described(client: Client, wanted: Sequence[str], page: int) -> dict[str, Topic]:
    found: dict[str, Topic] = {}
    cursor: Cursor | None = None
    while True:
        request = DescribeTopicPartitionsRequest(
            topics=[TopicRequest(name) for name in wanted if cursor is None or name >= cursor.topic_name],
            response_partition_limit=page,
            cursor=cursor,
        )
        answer = client.ask(request)
        for topic in answer.topics:
            if topic.error_code:
                raise BrokerError(topic.error_code)
            known = found.setdefault(
                topic.name, Topic(topic.name, uuid_text(topic.topic_id), topic.is_internal, partitions=[])
            )
            known.partitions.extend(
                Partition(
                    row.partition_index,
                    row.leader_id if row.leader_id >= 0 else None,
                    list(row.replica_nodes),
                    list(row.isr_nodes),
                    None if row.eligible_leader_replicas is None else list(row.eligible_leader_replicas),
                    None if row.last_known_elr is None else list(row.last_known_elr),
                )
                for row in topic.partitions
            )
        if answer.next_cursor is None:
            return found
        cursor = Cursor(answer.next_cursor.topic_name, answer.next_cursor.partition_index)


def _described_by_metadata(client: Client, wanted: Sequence[str]) -> dict[str, Topic]:
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in wanted], allow_auto_topic_creation=False
    )
    found = {}
    for topic in client.ask(request).topics:
        if topic.error_code:
            raise BrokerError(topic.error_code)
        partitions = [
            Partition(
                row.partition_index,
                row.leader_id if row.leader_id >= 0 else None,
                list(row.replica_nodes),
                list(row.isr_nodes),
            )
            for row in topic.partitions
        ]
        found[topic.name] = Topic(topic.name, uuid_text(topic.topic_id), topic.is_internal, partitions)
    return found


@dataclass(frozen=True)
class Setting:
    """One value of a topic's configuration; None is hidden."""

    value: str | None
    is_default: bool


def configs(client: Client, topics: Iterable[str]) -> dict[str, dict[str, Setting]]:
    """The whole configuration of each topic, in the broker's order. Raises BrokerError."""
    wanted = list(topics)
    if not wanted:
        return {}
    answer = client.ask(
        DescribeConfigsRequest(resources=[DescribeConfigsResource(_TOPIC, name, None) for name in wanted])
    )
    found = {}
    for result in answer.results:
        if result.error_code:
            raise BrokerError(result.error_code, result.error_message)
        found[result.resource_name] = {
            entry.name: Setting(entry.value, entry.config_source == _DEFAULT_CONFIG) for entry in result.configs
        }
    return found


def reassignments(client: Client, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, Any]:
    """What is being moved: partition to its OngoingPartitionReassignment. Empty where the broker cannot tell."""
    by_topic = _by_topic(partitions)
    request = ListPartitionReassignmentsRequest(
        topics=[ListPartitionReassignmentsTopics(name, indexes) for name, indexes in by_topic.items()]
    )
    try:
        answer = client.ask_controller(request)
    except Unsupported:
        return {}
    if answer.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
        return {}
    if answer.error_code:
        raise BrokerError(answer.error_code, answer.error_message)
    return {(topic.name, row.partition_index): row for topic in answer.topics for row in topic.partitions}


def create(
    client: Client,
    name: str,
    partitions: int = -1,
    replication_factor: int = -1,
    assignment: Sequence[Sequence[int]] = (),
    configs: Mapping[str, str] | None = None,
) -> None:
    """Create a topic; -1 is the broker's default. Raises BrokerError."""
    topic = CreatableTopic(
        name=name,
        num_partitions=-1 if assignment else partitions,
        replication_factor=-1 if assignment else replication_factor,
        assignments=[CreatableReplicaAssignment(index, brokers) for index, brokers in enumerate(assignment)],
        configs=[CreatableTopicConfig(key, value) for key, value in (configs or {}).items()],
    )
    (result,) = client.ask_controller(CreateTopicsRequest(topics=[topic], timeout_ms=_ms(client))).topics
    if result.error_code:
        raise BrokerError(result.error_code, result.error_message)


def delete(client: Client, topics: Iterable[str]) -> None:
    """Delete topics. Raises BrokerError for the first that cannot be deleted; the others are."""
    wanted = list(topics)
    if not wanted:
        return
    request = DeleteTopicsRequest(
        topics=[DeleteTopicState(name=name) for name in wanted], topic_names=wanted, timeout_ms=_ms(client)
    )
    _raise_first(client.ask_controller(request).responses)


def add_partitions(client: Client, counts: Mapping[str, tuple[int, Sequence[Sequence[int]] | None]]) -> None:
    """Raise each topic's number of partitions, with the brokers of the new ones or None. Raises BrokerError."""
    topics = [
        CreatePartitionsTopic(
            name, count, None if brokers is None else [CreatePartitionsAssignment(row) for row in brokers]
        )
        for name, (count, brokers) in counts.items()
    ]
    _raise_first(client.ask_controller(CreatePartitionsRequest(topics=topics, timeout_ms=_ms(client))).results)


def list_offsets(client: Client, timestamps: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
    """Each partition's offset at a time (LATEST, EARLIEST or ms); -1: nothing is that new. Raises BrokerError."""

    def make(own: list[TopicPartition]) -> ListOffsetsRequest:
        topics = [
            ListOffsetsTopic(name, [ListOffsetsPartition(i, timestamp=timestamps[name, i]) for i in indexes])
            for name, indexes in _by_topic(own).items()
        ]
        return ListOffsetsRequest(_CONSUMER, topics=topics, timeout_ms=_ms(client))

    found: dict[TopicPartition, int] = {}
    for answer in client.ask_leaders(timestamps, make):
        for topic in answer.topics:
            for row in topic.partitions:
                if row.error_code:
                    raise BrokerError(row.error_code)
                found[topic.name, row.partition_index] = row.offset
    return found


def _by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    by_topic: dict[str, list[int]] = {}
    for name, index in partitions:
        by_topic.setdefault(name, []).append(index)
    return by_topic


def _raise_first(results: Iterable[Any]) -> None:
    for result in results:
        if result.error_code:
            raise BrokerError(result.error_code, result.error_message)


def _ms(client: Client) -> int:
    return int(client.timeout * 1000)


def uuid_text(raw: bytes) -> str:
    """As Kafka's `Uuid.toString`; "" for the one that means none."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=") if any(raw) else ""
