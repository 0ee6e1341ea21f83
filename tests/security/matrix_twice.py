"""Requests for the ACL matrix that name a topic, or a group, twice, with another one between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from kafkawire.api import ApiKey
from kafkawire.messages.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kafkawire.messages.delete_records_request import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from kafkawire.messages.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.describe_producers_request import DescribeProducersRequest, TopicRequest
from kafkawire.messages.describe_topic_partitions_request import DescribeTopicPartitionsRequest
from kafkawire.messages.describe_topic_partitions_request import TopicRequest as NamedTopic
from kafkawire.messages.describe_transactions_request import DescribeTransactionsRequest
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafkawire.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kafkawire.messages.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafkawire.records import NewRecord, build_batch
from kafkawire.schema import Message

_ONE_RECORD: Final = [NewRecord(b"k", b"v", 1_700_000_000_000)]
_PLAIN: Final = build_batch(_ONE_RECORD)
_NOBODYS: Final = build_batch(_ONE_RECORD, producer_id=0, producer_epoch=0, base_sequence=0, attributes=0x10)
_WHO: Final = 1 << 40, 0

Asked = tuple[str, ApiKey, int, Message]


def twice(ids: Mapping[str, bytes], topics: tuple[str, str, str], others: tuple[str, str, str]) -> Iterator[Asked]:
    """Title, API, version and request.

    Args:
        ids: of the topics that exist.
        topics: two that exist, and one that does not.
        others: a group, a transactional id, and one that has an open transaction.
    """
    (seen, other, gone), (group, name, open_name) = topics, others
    places = [(seen, ids[seen], 0), (other, ids[other], 0), (seen, ids[seen], 9)]
    yield from _records(places)
    yield from _logs(places)
    yield from _offsets([*places, (other, ids[other], 0)], group, name)
    yield from _views((seen, other, gone), group)
    transactions = DescribeTransactionsRequest([open_name, name, open_name])
    yield "describe transactions twice", ApiKey.DESCRIBE_TRANSACTIONS, 0, transactions
    added = [AddPartitionsToTxnTopic(topic, [index]) for topic, _, index in places]
    request = AddPartitionsToTxnRequest((), name, *_WHO, added)
    yield "add partitions twice", ApiKey.ADD_PARTITIONS_TO_TXN, 3, request


Places = list[tuple[str, bytes, int]]


def _records(places: Places) -> Iterator[Asked]:
    for version in (12, 13):
        data = [TopicProduceData(*topic, [PartitionProduceData(index, _PLAIN)]) for *topic, index in places]
        produced = ProduceRequest(acks=-1, timeout_ms=1000, topic_data=data)
        yield f"produce {version} twice", ApiKey.PRODUCE, version, produced
        topics = [
            FetchTopic(*topic, [FetchPartition(partition=index, partition_max_bytes=1)]) for *topic, index in places
        ]
        yield f"fetch {version} twice", ApiKey.FETCH, version, FetchRequest(topics=topics, max_bytes=1)
    data = [TopicProduceData(*topic, [PartitionProduceData(0, _NOBODYS)]) for *topic, _ in places[:2]]
    produced = ProduceRequest(acks=-1, timeout_ms=1000, topic_data=data)
    yield "produce transactional by nobody's id", ApiKey.PRODUCE, 11, produced


def _logs(places: Places) -> Iterator[Asked]:
    earliest = [ListOffsetsTopic(topic, [ListOffsetsPartition(index, -1, -2)]) for topic, _, index in places]
    yield "list offsets twice", ApiKey.LIST_OFFSETS, 7, ListOffsetsRequest(-1, 0, earliest)
    strange = ListOffsetsRequest(-1, 9, earliest[:2])
    yield "list offsets by an isolation level that is none", ApiKey.LIST_OFFSETS, 7, strange
    records = [DeleteRecordsTopic(topic, [DeleteRecordsPartition(index, 0)]) for topic, _, index in places]
    yield "delete records twice", ApiKey.DELETE_RECORDS, 2, DeleteRecordsRequest(records, timeout_ms=1000)
    epochs = [OffsetForLeaderTopic(topic, [OffsetForLeaderPartition(index, -1, 0)]) for topic, _, index in places]
    yield "epochs twice", ApiKey.OFFSET_FOR_LEADER_EPOCH, 4, OffsetForLeaderEpochRequest(topics=epochs)
    producers = [TopicRequest(topic, [index]) for topic, _, index in places]
    yield "producers twice", ApiKey.DESCRIBE_PRODUCERS, 0, DescribeProducersRequest(producers)


def _offsets(places: Places, group: str, name: str) -> Iterator[Asked]:
    for version in (9, 10):
        asked = [
            OffsetCommitRequestTopic(*topic, [OffsetCommitRequestPartition(index, 5, -1, "")])
            for *topic, index in places
        ]
        yield f"commit {version} twice", ApiKey.OFFSET_COMMIT, version, OffsetCommitRequest(group, topics=asked)
    for version in (5, 6):
        offsets = [
            TxnOffsetCommitRequestTopic(*topic, [TxnOffsetCommitRequestPartition(index, 1)]) for *topic, index in places
        ]
        committed = TxnOffsetCommitRequest(name, group, *_WHO, topics=offsets)
        yield f"commit offsets {version} twice", ApiKey.TXN_OFFSET_COMMIT, version, committed
    gone = [OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(7)]) for topic, *_ in places]
    yield "delete offsets twice", ApiKey.OFFSET_DELETE, 0, OffsetDeleteRequest(group, gone)
    some = [OffsetFetchRequestTopics(*topic, [index]) for *topic, index in places[:3]]
    for version in (8, 10):
        groups = [OffsetFetchRequestGroup(one, topics=some) for one in (group, "others", group)]
        yield f"offsets {version} twice", ApiKey.OFFSET_FETCH, version, OffsetFetchRequest(groups=groups)


def _views(topics: tuple[str, str, str], group: str) -> Iterator[Asked]:
    seen, other, gone = topics
    groups = [group, "others", group]
    yield "describe groups twice", ApiKey.DESCRIBE_GROUPS, 5, DescribeGroupsRequest(groups)
    found = FindCoordinatorRequest(key_type=0, coordinator_keys=groups)
    yield "coordinators twice", ApiKey.FIND_COORDINATOR, 6, found
    resources = [DescribeConfigsResource(*one, ["retention.ms"]) for one in ((2, seen), (4, "1"), (2, seen))]
    yield "describe configs twice", ApiKey.DESCRIBE_CONFIGS, 4, DescribeConfigsRequest(resources)
    named = [MetadataRequestTopic(name=name) for name in (seen, gone, seen, other, gone)]
    yield "topics twice", ApiKey.METADATA, 9, MetadataRequest(named, False)
    partitions = [NamedTopic(name) for name in (seen, other, seen)]
    yield "partitions twice", ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, DescribeTopicPartitionsRequest(partitions)
