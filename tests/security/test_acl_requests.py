"""DescribeAcls, CreateAcls and DeleteAcls, and what is configured about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkastub import KafkaStub
from kafkastub.config import ConfigError
from kafkastub.handlers.outcome import CLOSE
from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.messages.create_acls_request import AclCreation, CreateAclsRequest
from kafkawire.messages.create_acls_response import CreateAclsResponse
from kafkawire.messages.delete_acls_request import DeleteAclsFilter, DeleteAclsRequest
from kafkawire.messages.delete_acls_response import DeleteAclsResponse
from kafkawire.messages.describe_acls_request import DescribeAclsRequest
from kafkawire.messages.describe_acls_response import DescribeAclsResponse
from kafkawire.messages.describe_topic_partitions_request import DescribeTopicPartitionsRequest, TopicRequest
from kafkawire.messages.describe_topic_partitions_response import DescribeTopicPartitionsResponse
from kafkawire.messages.end_txn_request import EndTxnRequest
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.init_producer_id_response import InitProducerIdResponse
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.produce_response import ProduceResponse
from kafkawire.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafkawire.messages.txn_offset_commit_response import TxnOffsetCommitResponse
from tests.handlers.desk import Desk, batch
from tests.rawclient import RawClient
from tests.waiting import until

CLASS = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
OPEN = {**CLASS, "super.users": "User:x;User:ANONYMOUS"}
EVERYTHING = (1, None, 1, None, None, 1, 1)


def entry(name: str = "t", pattern: int = 3, principal: str = "User:a", operation: int = 3) -> AclCreation:
    return AclCreation(2, name, pattern, principal, "*", operation, 3)


def create(desk: Desk, *entries: AclCreation) -> list[tuple[int, str | None]]:
    answer = desk.ask(3, CreateAclsRequest(entries), CreateAclsResponse)
    return [(one.error_code, one.error_message) for one in answer.results]


def described(desk: Desk, *wanted: object) -> list[tuple[str, int, list[tuple[str, int]]]]:
    answer = desk.ask(3, DescribeAclsRequest(*(wanted or EVERYTHING)), DescribeAclsResponse)  # type: ignore[arg-type]
    assert answer.error_code == ErrorCode.NONE
    return [
        (one.resource_name, one.pattern_type, [(a.principal, a.operation) for a in one.acls])
        for one in answer.resources
    ]


@pytest.mark.behaviour("DA-1", "DA-2", "CA-1", "CA-2")
def test_entries_are_told_by_their_pattern():
    desk = Desk(OPEN)
    made = [entry(), entry("t", 4), entry(principal="User:b"), entry("u"), entry()]
    assert create(desk, *made) == [(0, "")] * 5  # not null, as Kafka
    assert described(desk) == [
        ("t", 3, [("User:a", 3), ("User:b", 3)]),
        ("t", 4, [("User:a", 3)]),
        ("u", 3, [("User:a", 3)]),
    ]
    assert [name for name, _, _ in described(desk, 2, "table", 2, None, None, 1, 1)] == ["t"]


@pytest.mark.behaviour("CA-2", "CA-3")
def test_what_kafka_refuses_about_an_entry():
    desk = Desk(OPEN)
    codes = [code for code, _ in create(desk, entry(""), entry(principal="nobody"), entry())]
    assert codes == [ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_REQUEST, ErrorCode.NONE]
    assert create(desk, entry("v"), entry("w", 2)) == [(ErrorCode.UNKNOWN_SERVER_ERROR, None)] * 2
    assert [name for name, _, _ in described(desk)] == ["t"]


@pytest.mark.behaviour("XA-1", "XA-2")
def test_deleting_tells_what_goes():
    desk = Desk(OPEN)
    create(desk, entry(), entry("u"), entry("v"))
    filters = [DeleteAclsFilter(2, "t", 3, None, None, 1, 1), DeleteAclsFilter(2, None, 3, None, None, 1, 1)]
    answer = desk.ask(
        3, DeleteAclsRequest([*filters, DeleteAclsFilter(3, "t", 3, None, None, 1, 1)]), DeleteAclsResponse
    )
    found = [[acl.resource_name for acl in one.matching_acls] for one in answer.filter_results]
    assert found == [["t"], ["t", "u", "v"], []]
    assert described(desk) == []


@pytest.mark.behaviour("DA-3", "CA-4", "XA-3")
def test_who_may_not_look_at_them_or_change_them():
    desk, code = Desk(CLASS), ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert desk.ask(3, DescribeAclsRequest(*EVERYTHING), DescribeAclsResponse).error_code == code
    assert [one for one, _ in create(desk, entry(), entry("u"))] == [code, code]
    answer = desk.ask(3, DeleteAclsRequest([DeleteAclsFilter(*EVERYTHING)]), DeleteAclsResponse)
    assert [one.error_code for one in answer.filter_results] == [code]


@pytest.mark.behaviour("DA-4", "CA-5", "XA-4")
def test_without_an_authorizer():
    desk, code = Desk(), ErrorCode.SECURITY_DISABLED
    answer = desk.ask(3, DescribeAclsRequest(*EVERYTHING), DescribeAclsResponse)
    assert (answer.error_code, answer.error_message) == (code, "No Authorizer is configured on the broker")
    assert create(desk, entry()) == [(code, "No Authorizer is configured.")]
    deleted = desk.ask(3, DeleteAclsRequest([DeleteAclsFilter(*EVERYTHING)]), DeleteAclsResponse)
    assert deleted.filter_results[0].error_code == code


@pytest.mark.behaviour("DA-5", "CA-6", "XA-5")
def test_numbers_without_a_word():
    desk = Desk(OPEN)
    zero = (1, None, 1, None, None, 0, 1)
    assert desk.outcome(ApiKey.DESCRIBE_ACLS, 3, DescribeAclsRequest(*zero)) is CLOSE
    assert desk.outcome(ApiKey.DELETE_ACLS, 3, DeleteAclsRequest([DeleteAclsFilter(*zero)])) is CLOSE
    assert desk.outcome(ApiKey.CREATE_ACLS, 3, CreateAclsRequest([entry(operation=0)])) is CLOSE
    assert described(desk, 1, None, 1, None, None, 99, 1) == []
    assert create(desk, entry(operation=99)) == [(ErrorCode.INVALID_REQUEST, "Invalid operation UNKNOWN")]
    unheard = DeleteAclsRequest([DeleteAclsFilter(1, None, 1, None, None, 99, 1)])
    refused = desk.ask(3, unheard, DeleteAclsResponse).filter_results[0]
    assert (refused.error_code, refused.error_message) == (ErrorCode.INVALID_REQUEST, "Unknown entryFilter.")


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({"authorizer.class.name": "kafka.security.authorizer.AclAuthorizer"}, "allowed is org.apache.kafka.metadata"),
        ({**CLASS, "super.users": "alice"}, "'alice' is not TYPE:NAME, for example User:alice"),
        ({**CLASS, "allow.everyone.if.no.acl.found": "perhaps"}, "allowed are true and false"),
    ],
)
def test_a_configuration_that_is_refused(config: dict[str, str], text: str):
    with pytest.raises(ConfigError, match=text):
        Desk(dict(config))


def test_entries_outlive_the_process(tmp_path: Path):
    from confluent_kafka.admin import (
        AclBinding,
        AclBindingFilter,
        AclOperation,
        AclPermissionType,
        AdminClient,
        ResourcePatternType,
        ResourceType,
    )

    allowed = (ResourcePatternType.PREFIXED, "User:alice", "*", AclOperation.READ, AclPermissionType.ALLOW)
    made = AclBinding(ResourceType.TOPIC, "orders-", *allowed)
    config = {**CLASS, "super.users": "User:ANONYMOUS"}
    with KafkaStub(config=config, data_dir=tmp_path) as stub:
        admin = AdminClient({"bootstrap.servers": stub.bootstrap_servers})
        for future in admin.create_acls([made]).values():
            future.result(10)
    with KafkaStub(config=config, data_dir=tmp_path) as stub:
        admin = AdminClient({"bootstrap.servers": stub.bootstrap_servers})
        any_of_them = AclBindingFilter(
            ResourceType.ANY, None, ResourcePatternType.ANY, None, None, AclOperation.ANY, AclPermissionType.ANY
        )
        assert admin.describe_acls(any_of_them).result(10) == [made]


@pytest.mark.behaviour("TP-7")
def test_what_fails_as_a_whole_tells_no_operations():
    request = DescribeTopicPartitionsRequest([TopicRequest("t"), TopicRequest("")])
    answer = Desk(OPEN).ask(0, request, DescribeTopicPartitionsResponse)
    told = [(one.name, one.error_code, one.topic_authorized_operations) for one in answer.topics]
    assert told == [(name, ErrorCode.UNKNOWN_SERVER_ERROR, -(2**31)) for name in ("t", "")]


def test_offsets_of_very_many_topics_and_some_refused():
    """The answer comes part by part, and what is refused stands in it all the same."""
    config = {**CLASS, "allow.everyone.if.no.acl.found": True}
    with KafkaStub(topics={"a": 1, "secret": 1}, config=config) as stub, RawClient(stub.bootstrap_servers) as client:
        denied = AclCreation(2, "secret", 3, "User:ANONYMOUS", "*", 3, 2)
        client.exchange(ApiKey.CREATE_ACLS, 3, encode(CreateAclsRequest([denied]), 3))
        asked = encode(InitProducerIdRequest("tx", 60_000), 4)
        producer = decode(InitProducerIdResponse, 4, client.exchange(ApiKey.INIT_PRODUCER_ID, 4, asked))
        mentions = [
            TxnOffsetCommitRequestTopic(name, partitions=[TxnOffsetCommitRequestPartition(0, 1)])
            for name in ["a", "secret"] * 1000
        ]
        request = TxnOffsetCommitRequest("tx", "g", producer.producer_id, producer.producer_epoch, topics=mentions)
        data = client.exchange(ApiKey.TXN_OFFSET_COMMIT, 5, encode(request, 5))
        found = [
            (one.name, [partition.error_code for partition in one.partitions])
            for one in decode(TxnOffsetCommitResponse, 5, data).topics
        ]
    assert found == [("secret", [ErrorCode.TOPIC_AUTHORIZATION_FAILED] * 1000), ("a", [ErrorCode.NONE] * 1000)]


def test_a_batch_that_waits_beside_one_that_is_refused():
    """The first batch of a transaction, while the one before it is being ended, and one for a topic that is denied."""
    config = {**CLASS, "allow.everyone.if.no.acl.found": True, "add.partitions.to.txn.retry.backoff.max.ms": 60_000}
    with KafkaStub(topics={"a": 1, "secret": 1}, config=config) as stub, RawClient(stub.bootstrap_servers) as client:
        denied = AclCreation(2, "secret", 3, "User:ANONYMOUS", "*", 4, 2)
        client.exchange(ApiKey.CREATE_ACLS, 3, encode(CreateAclsRequest([denied]), 3))
        asked = encode(InitProducerIdRequest("tx", 60_000), 4)
        producer = decode(InitProducerIdResponse, 4, client.exchange(ApiKey.INIT_PRODUCER_ID, 4, asked)).producer_id

        def produce(epoch: int, *topics: str) -> bytes:
            records = batch(producer_id=producer, producer_epoch=epoch, base_sequence=0, attributes=0x10)
            data = [TopicProduceData(name=name, partition_data=[PartitionProduceData(0, records)]) for name in topics]
            return encode(ProduceRequest("tx", -1, 10_000, data), 12)

        client.exchange(ApiKey.PRODUCE, 12, produce(0, "a"))
        stub.transactions.hold_markers("tx")
        client.exchange(ApiKey.END_TXN, 5, encode(EndTxnRequest("tx", producer, 0, True), 5))
        client.send(ApiKey.PRODUCE, 12, produce(1, "a", "secret"), True)
        until(lambda: stub._call(lambda: stub._running().state.transactions.watchers), "a batch that waits")
        stub.transactions.release_markers("tx")
        data = client.receive()
        assert data is not None
        found = {
            one.name: one.partition_responses[0].error_code for one in decode(ProduceResponse, 12, data[5:]).responses
        }
    assert found == {"a": ErrorCode.NONE, "secret": ErrorCode.TOPIC_AUTHORIZATION_FAILED}
