"""What every client asks first, before it sends or gets a record."""

from __future__ import annotations

import time
from collections.abc import Callable

from bench.cases import SESSION_MS, SYNC, TOPIC, Case, create_topic, delete_topic, join_alone
from bench.frames import BadAnswer, Client
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kafkawire.messages.describe_cluster_request import DescribeClusterRequest
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.schema import Message

API_VERSIONS, METADATA, METADATA_BY_ID, LIST_OFFSETS, FIND_COORDINATOR = 3, 9, 12, 6, 4
INIT_PRODUCER_ID, DESCRIBE_CLUSTER, JOIN = 4, 0, 5

CREATE_PARTITIONS = 1

LATEST = -1
_MOST_AT_ONCE = 5000
"""Partitions that are created by one request: Kafka refuses 10,000."""


def _topic(partitions: int) -> str:
    return f"contact-{partitions}"


def _api_versions(client: Client) -> Message:
    return ApiVersionsRequest(client_software_name="bench", client_software_version="1")


def _by_name(partitions: int) -> Callable[[Client], Message]:
    def prepare(client: Client) -> Message:
        _ensure(client, partitions)
        return MetadataRequest([MetadataRequestTopic(name=_topic(partitions))], allow_auto_topic_creation=False)

    return prepare


def _by_id(partitions: int) -> Callable[[Client], Message]:
    def prepare(client: Client) -> Message:
        found = client.succeed(_by_name(partitions)(client), METADATA_BY_ID).topics[0]
        asked = MetadataRequestTopic(topic_id=found.topic_id, name=None)
        return MetadataRequest([asked], allow_auto_topic_creation=False)

    return prepare


def _all_topics(client: Client) -> Message:
    return MetadataRequest(None, allow_auto_topic_creation=False)


def _ensure(client: Client, partitions: int) -> None:
    """The topic is there; the large ones only as long as their case is measured."""
    about = MetadataRequest([MetadataRequestTopic(name=_topic(partitions))], allow_auto_topic_creation=False)
    if client.ask(about, METADATA).topics[0].error_code:
        create_topic(client, _topic(partitions), min(partitions, _MOST_AT_ONCE))
        if partitions > _MOST_AT_ONCE:
            more = CreatePartitionsTopic(_topic(partitions), partitions, None)
            client.succeed(CreatePartitionsRequest([more], timeout_ms=30_000), CREATE_PARTITIONS)
            while len(client.succeed(about, METADATA).topics[0].partitions) < partitions:
                time.sleep(0.02)


def _no_more(partitions: int) -> Callable[[Client, Message], None]:
    return lambda client, message: delete_topic(client, _topic(partitions))


def _find_coordinator(client: Client) -> Message:
    return FindCoordinatorRequest(key_type=0, coordinator_keys=["bench-contact"])


def _list_offsets(partitions: int) -> Callable[[Client], Message]:
    def prepare(client: Client) -> Message:
        asked = [ListOffsetsPartition(partition_index=index, timestamp=LATEST) for index in range(partitions)]
        return ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=TOPIC, partitions=asked)])

    return prepare


def _init_producer_id(client: Client) -> Message:
    return InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)


def _join(client: Client) -> Message:
    """A member that joins again, alone in its group: each time a rebalance, complete at once."""
    join, _ = join_alone(client)
    return join


def _sync(client: Client) -> Message:
    """A member that asks again what it has, in a group that is stable."""
    join, sync = join_alone(client)
    assert join.session_timeout_ms == SESSION_MS
    if client.succeed(sync, SYNC).assignment != sync.assignments[0].assignment:
        raise BadAnswer("SyncGroup gave another assignment than the leader's")
    return sync


def _describe_cluster(client: Client) -> Message:
    return DescribeClusterRequest()


VERY_LARGE = ("metadata/10000", "metadata-all")
"""They would hide all the others in a sum."""

CASES = (
    Case("api-versions", API_VERSIONS, _api_versions, compared_with_echo=True),
    Case("metadata/1", METADATA, _by_name(1), compared_with_echo=True),
    Case("metadata/100", METADATA, _by_name(100), compared_with_echo=True),
    Case("metadata/10000", METADATA, _by_name(10_000), done=_no_more(10_000)),
    Case("metadata-by-id/100", METADATA_BY_ID, _by_id(100)),
    Case("metadata-all", METADATA, _all_topics),
    Case("find-coordinator", FIND_COORDINATOR, _find_coordinator, compared_with_echo=True),
    Case("list-offsets/1", LIST_OFFSETS, _list_offsets(1), compared_with_echo=True),
    Case("list-offsets/100", LIST_OFFSETS, _list_offsets(100)),
    Case("init-producer-id", INIT_PRODUCER_ID, _init_producer_id, compared_with_echo=True),
    Case("join-group", JOIN, _join, compared_with_echo=True),
    Case("sync-group", SYNC, _sync, compared_with_echo=True),
    Case("describe-cluster", DESCRIBE_CLUSTER, _describe_cluster, compared_with_echo=True),
)
"""In the order in which clients ask. The number behind the slash is that of partitions."""
