"""Answers of guards that were others than Apache Kafka's, which the ACL matrix has recorded."""

from __future__ import annotations

from typing import Any

import pytest

from kafkastub.handlers.context import ConnectionInfo, RequestContext
from kafkastub.handlers.registry import registrations
from kafkastub.layers.acls.guards import GUARDS
from kafkastub.security import Acl, Operation, PatternType, Permission, ResourceType
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.delete_records_request import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafkawire.schema import Message
from tests.handlers.desk import Desk, batch

CLASS = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
TWICE = ("orders", 0), ("orders", 1)
MIXED = ("orders", 0), ("mine", 0), ("orders", 1), ("mine", 1)


def guarded(key: ApiKey, version: int, request: Message) -> Any:
    """The answer to who may do everything but with the topic "orders"."""
    desk = Desk(CLASS)
    for name in ("orders", "mine"):
        desk.topic(name, 2)
    authorizer = desk.state.authorizer
    assert authorizer is not None
    kinds = (ResourceType.GROUP, "g"), (ResourceType.TRANSACTIONAL_ID, "tx"), (ResourceType.TOPIC, "mine")
    who = PatternType.LITERAL, "User:ANONYMOUS", "*"
    authorizer.replace(Acl(*one, *who, Operation.ALL, Permission.ALLOW) for one in kinds)
    info = ConnectionInfo(1, "/127.0.0.1", "127.0.0.1:1", desk.listener, desk.node_id)
    context = RequestContext(desk.state, info, key, version, 1, "test", desk.broker_ms, desk.timer_ms)
    return GUARDS[key](registrations()[key])(context, request)


def codes(answer: Any) -> dict[str, list[tuple[int, int]]]:
    """By topic; each is there once."""
    found = {topic.name: [(one.partition_index, one.error_code) for one in topic.partitions] for topic in answer.topics}
    assert len(found) == len(answer.topics)
    return found


def committed(places: tuple[tuple[str, int], ...]) -> Message:
    topics = [OffsetCommitRequestTopic(name, partitions=[OffsetCommitRequestPartition(i, 5)]) for name, i in places]
    return OffsetCommitRequest("g", topics=topics)


def pending(places: tuple[tuple[str, int], ...]) -> Message:
    topics = [
        TxnOffsetCommitRequestTopic(name, partitions=[TxnOffsetCommitRequestPartition(i, 5)]) for name, i in places
    ]
    return TxnOffsetCommitRequest("tx", "g", 7, 0, topics=topics)


def deleted(places: tuple[tuple[str, int], ...]) -> Message:
    topics = [DeleteRecordsTopic(name, [DeleteRecordsPartition(i, 0)]) for name, i in places]
    return DeleteRecordsRequest(topics, 1000)


@pytest.mark.parametrize(
    ("key", "version", "make"),
    [
        (ApiKey.OFFSET_COMMIT, 9, committed),
        (ApiKey.TXN_OFFSET_COMMIT, 5, pending),
        (ApiKey.DELETE_RECORDS, 2, deleted),
    ],
)
def test_a_refused_topic_that_is_named_twice_was_answered_twice(key: ApiKey, version: int, make: Any):
    refused = [(0, REFUSED), (1, REFUSED)]
    assert codes(guarded(key, version, make(TWICE))) == {"orders": refused}
    answer = codes(guarded(key, version, make(MIXED)))
    assert answer["orders"] == refused
    assert [index for index, _ in answer["mine"]] == [0, 1]


def test_transactional_records_of_no_transactional_id_were_refused_by_their_topic():
    """Kafka asks for the transactional id first, and nobody may write by none: KafkaApis.handleProduceRequest."""
    records = batch(b"v", producer_id=0, producer_epoch=0, base_sequence=0, attributes=0x10)
    data = [TopicProduceData("orders", bytes(16), [PartitionProduceData(0, records)])]
    request = ProduceRequest(None, -1, 1000, data)
    (topic,) = guarded(ApiKey.PRODUCE, 9, request).responses
    assert [one.error_code for one in topic.partition_responses] == [ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED]


UNREADABLE = batch(b"v")[:16] + b"\x07" + batch(b"v")[17:]
"""A magic that is none."""


@pytest.mark.parametrize(
    ("first", "second"), [(UNREADABLE, batch(b"v")), (batch(b"v"), UNREADABLE)], ids=["refused", "mine"]
)
def test_a_batch_that_cannot_be_read_was_not_the_whole_requests_error_beside_a_refused_topic(
    first: bytes, second: bytes
):
    data = [
        TopicProduceData(name, bytes(16), [PartitionProduceData(0, records)])
        for name, records in (("orders", first), ("mine", second))
    ]
    answer = guarded(ApiKey.PRODUCE, 9, ProduceRequest(None, -1, 1000, data))
    codes = [one.error_code for topic in answer.responses for one in topic.partition_responses]
    assert codes == [ErrorCode.CORRUPT_MESSAGE] * 2


@pytest.mark.parametrize("cut", [slice(0, 30), slice(0, -5)], ids=["header", "records"])
def test_half_a_batch_was_taken_for_a_transactions(cut: slice):
    """What is not all there is no batch: nobody is asked for a transactional id."""
    records = batch(b"v", producer_id=0, producer_epoch=0, base_sequence=0, attributes=0x10)[cut]
    data = [TopicProduceData("orders", bytes(16), [PartitionProduceData(0, records)])]
    (topic,) = guarded(ApiKey.PRODUCE, 9, ProduceRequest(None, -1, 1000, data)).responses
    assert [one.error_code for one in topic.partition_responses] == [REFUSED]


def test_an_isolation_level_that_is_none_was_looked_at_where_all_topics_are_refused():
    request = ListOffsetsRequest(-1, 9, [ListOffsetsTopic("orders", [ListOffsetsPartition(0, -1, -1)])])
    assert codes(guarded(ApiKey.LIST_OFFSETS, 7, request)) == {"orders": [(0, REFUSED)]}
