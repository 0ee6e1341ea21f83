"""Metadata: which topics are told, which are made on the way."""

from __future__ import annotations

import pytest

from kafkastub.state.topics import create_topic
from kafkawire.errors import ErrorCode
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from tests.handlers.in_process import InProcess

LOWEST = -(2**31)


def named(*names: str | None, create: bool = False, **flags: bool) -> MetadataRequest:
    topics = [MetadataRequestTopic(name=name) for name in names]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=create, **flags)


@pytest.fixture
def broker() -> InProcess:
    broker = InProcess(nodes=3)
    create_topic(broker.state, "a", 2, 3)
    create_topic(broker.state, "b")
    return broker


@pytest.mark.behaviour("MD-1")
@pytest.mark.parametrize("version", range(14))
def test_no_list_is_all_topics_and_an_empty_list_is_none(broker: InProcess, version: int):
    all_topics = MetadataRequest(topics=[] if version == 0 else None)
    assert [topic.name for topic in broker.ask(all_topics, version).topics] == ["a", "b"]
    if version > 0:
        assert broker.ask(MetadataRequest(topics=[]), version).topics == ()


@pytest.mark.behaviour("MD-2")
@pytest.mark.parametrize("version", range(4, 14))
def test_missing_and_invalid_names_follow_the_existing(broker: InProcess, version: int):
    topics = broker.ask(named("nope", "b", "a/b"), version).topics
    assert [(topic.name, topic.error_code, len(topic.partitions)) for topic in topics] == [
        ("b", ErrorCode.NONE, 1),
        ("nope", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 0),
        ("a/b", ErrorCode.INVALID_TOPIC_EXCEPTION, 0),
    ]


@pytest.mark.behaviour("MD-3")
@pytest.mark.parametrize("version", range(14))
def test_a_missing_topic_is_created_at_once(version: int):
    broker = InProcess({"num.partitions": 4, "default.replication.factor": 2}, nodes=2)
    (topic,) = broker.ask(named("new", create=True), version).topics
    assert (topic.name, topic.error_code) == ("new", ErrorCode.NONE)
    assert [len(partition.replica_nodes) for partition in topic.partitions] == [2, 2, 2, 2]
    assert broker.state.logs.log(broker.state.cluster.topics["new"].topic_id, 3) is not None


@pytest.mark.behaviour("MD-3")
@pytest.mark.parametrize(("enabled", "asked"), [(False, True), (True, False)])
def test_no_topic_is_created_where_broker_or_client_does_not_want_it(enabled: bool, asked: bool):
    broker = InProcess({"auto.create.topics.enable": enabled})
    (topic,) = broker.ask(named("new", create=asked)).topics
    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert broker.state.cluster.topics == {}


@pytest.mark.behaviour("MD-4")
def test_a_creation_bound_to_fail_leaves_the_topic_unknown():
    broker = InProcess()
    create_topic(broker.state, "a.b")
    assert broker.ask(named("a_b", create=True)).topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    broker = InProcess({"default.replication.factor": 2})
    assert broker.ask(named("c", create=True)).topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.behaviour("MD-4")
@pytest.mark.parametrize("version", range(14))
def test_names_that_cannot_be_created_stand_first_and_leave_the_others_alone(version: int):
    broker = InProcess()
    topics = broker.ask(named("__cluster_metadata", "good", "a/b", create=True), version).topics
    assert [(topic.name, topic.error_code) for topic in topics] == [
        ("good", ErrorCode.NONE),
        ("a/b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("__cluster_metadata", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert list(broker.state.cluster.topics) == ["good"]


@pytest.mark.behaviour("MD-5")
@pytest.mark.parametrize("version", [12, 13])
def test_topics_by_id_leave_names_aside(broker: InProcess, version: int):
    known, unknown = broker.state.cluster.topics["a"].topic_id, b"\x07" * 16
    topics = [MetadataRequestTopic(name=None, topic_id=known), MetadataRequestTopic(name=None, topic_id=unknown)]
    answer = broker.ask(MetadataRequest(topics=[*topics, MetadataRequestTopic(name="b")]), version)
    assert [(topic.name, topic.topic_id, topic.error_code) for topic in answer.topics] == [
        (None, unknown, ErrorCode.UNKNOWN_TOPIC_ID),
        ("a", known, ErrorCode.NONE),
    ]


@pytest.mark.behaviour("MD-6")
@pytest.mark.parametrize("version", [10, 11])
def test_ids_and_null_names_are_refused_before_version_12(broker: InProcess, version: int):
    by_id = MetadataRequestTopic(name="a", topic_id=broker.state.cluster.topics["a"].topic_id)
    for topic in (by_id, MetadataRequestTopic(name=None)):
        answer = broker.ask(MetadataRequest(topics=[topic, MetadataRequestTopic(name="b")]), version)
        assert [topic.error_code for topic in answer.topics] == [ErrorCode.INVALID_REQUEST] * 2
        assert (answer.brokers, answer.controller_id) == ((), -1)


@pytest.mark.behaviour("MD-7")
def test_a_null_name_without_an_id_is_an_unknown_error(broker: InProcess):
    answer = broker.ask(named(None, "a"), 12)
    assert [(topic.name, topic.error_code) for topic in answer.topics] == [
        ("", ErrorCode.UNKNOWN_SERVER_ERROR),
        ("a", ErrorCode.UNKNOWN_SERVER_ERROR),
    ]


@pytest.mark.behaviour("MD-8")
def test_a_topic_named_twice_is_answered_once(broker: InProcess):
    assert [topic.name for topic in broker.ask(named("a", "nope", "a", "nope")).topics] == ["a", "nope"]


@pytest.mark.behaviour("MD-9")
def test_internal_topics_are_flagged(broker: InProcess):
    topics = broker.ask(named("__consumer_offsets", "a")).topics
    assert {topic.name: topic.is_internal for topic in topics} == {"__consumer_offsets": True, "a": False}


@pytest.mark.behaviour("MD-10")
@pytest.mark.parametrize("version", range(8, 14))
def test_operations_are_told_where_asked_for(broker: InProcess, version: int):
    flags = {"include_topic_authorized_operations": True}
    if version <= 10:
        flags["include_cluster_authorized_operations"] = True
    answer = broker.ask(named("a", "nope", **flags), version)
    assert [topic.topic_authorized_operations for topic in answer.topics] == [3576, 3576]
    assert answer.cluster_authorized_operations == (8096 if version <= 10 else LOWEST)
    answer = broker.ask(named("a"), version)
    assert (answer.topics[0].topic_authorized_operations, answer.cluster_authorized_operations) == (LOWEST, LOWEST)


@pytest.mark.behaviour("MD-11")
def test_the_cluster_is_told(broker: InProcess):
    answer = broker.ask(named("a"))
    assert [(node.node_id, node.host, node.port, node.rack) for node in answer.brokers] == [
        (number, f"node-{number}", 9000 + number, f"rack-{number}") for number in (1, 2, 3)
    ]
    assert (answer.cluster_id, answer.controller_id) == (broker.state.cluster.cluster_id, 1)
    assert [(p.partition_index, p.leader_id, p.leader_epoch, p.replica_nodes) for p in answer.topics[0].partitions] == [
        (one.index, one.replicas[0], 0, tuple(one.replicas)) for one in broker.state.cluster.topics["a"].partitions
    ]


@pytest.mark.behaviour("MD-12")
def test_internal_topics_have_their_own_configuration():
    broker = InProcess({"offsets.topic.num.partitions": 7})
    (topic,) = broker.ask(named("__consumer_offsets", create=True)).topics
    assert (topic.error_code, len(topic.partitions), topic.is_internal) == (ErrorCode.NONE, 7, True)
    assert broker.state.cluster.topics["__consumer_offsets"].configs == {
        "cleanup.policy": "compact",
        "compression.type": "producer",
        "segment.bytes": "104857600",
    }
