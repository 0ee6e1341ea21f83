"""DeleteTopics: by name and by id, and what goes with a topic."""

from __future__ import annotations

import pytest

from kafkastub.state.topics import create_topic
from kafkawire.errors import ErrorCode
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestTopic
from tests.handlers.in_process import InProcess


@pytest.fixture
def broker() -> InProcess:
    broker = InProcess()
    for name in ("a", "b", "c"):
        create_topic(broker.state, name)
    return broker


def by_name(broker: InProcess, *names: str, version: int = 5, timeout_ms: int = 1000) -> list[tuple[str, int]]:
    request = DeleteTopicsRequest(topic_names=names, timeout_ms=timeout_ms)
    return sorted((topic.name, topic.error_code) for topic in broker.ask(request, version).responses)


def by_state(broker: InProcess, *states: tuple[str | None, bytes]) -> list[tuple[str | None, bytes, int]]:
    topics = [DeleteTopicState(name=name, topic_id=topic_id) for name, topic_id in states]
    answer = broker.ask(DeleteTopicsRequest(topics=topics, timeout_ms=1000), 6)
    return [(topic.name, topic.topic_id, topic.error_code) for topic in answer.responses]


def id_of(broker: InProcess, name: str) -> bytes:
    return broker.state.cluster.topics[name].topic_id


@pytest.mark.behaviour("DT-1")
@pytest.mark.parametrize("version", range(1, 6))
def test_a_deleted_topic_is_gone_with_its_logs(broker: InProcess, version: int):
    topic_id = id_of(broker, "a")
    assert by_name(broker, "a", version=version) == [("a", ErrorCode.NONE)]
    assert list(broker.state.cluster.topics) == ["b", "c"]
    assert broker.state.logs.log(topic_id, 0) is None


@pytest.mark.behaviour("DT-1")
def test_a_deleted_topic_takes_committed_offsets_along(broker: InProcess):
    partitions = [OffsetCommitRequestPartition(partition_index=0, committed_offset=7)]
    topics = [OffsetCommitRequestTopic(name=name, partitions=partitions) for name in ("a", "b")]
    broker.ask(OffsetCommitRequest(group_id="g", generation_id_or_member_epoch=-1, topics=topics), 8)
    by_name(broker, "a")
    create_topic(broker.state, "a")
    asked = [OffsetFetchRequestTopic(name=name, partition_indexes=[0]) for name in ("a", "b")]
    answer = broker.ask(OffsetFetchRequest(group_id="g", topics=asked), 7)
    committed = {topic.name: topic.partitions[0].committed_offset for topic in answer.topics}
    assert committed == {"a": -1, "b": 7}


@pytest.mark.behaviour("DT-2")
def test_unknown_names(broker: InProcess):
    assert by_name(broker, "nope", "a/b", "") == [
        ("", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("a/b", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("nope", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]


@pytest.mark.behaviour("DT-3")
def test_by_id(broker: InProcess):
    known, unknown = id_of(broker, "a"), b"\x07" * 16
    assert by_state(broker, (None, unknown), (None, known)) == [
        (None, unknown, ErrorCode.UNKNOWN_TOPIC_ID),
        ("a", known, ErrorCode.NONE),
    ]
    assert list(broker.state.cluster.topics) == ["b", "c"]


@pytest.mark.behaviour("DT-4")
def test_what_is_given_twice_stays(broker: InProcess):
    assert by_name(broker, "a", "a", "b") == [("a", ErrorCode.INVALID_REQUEST), ("b", ErrorCode.NONE)]
    topic_id = id_of(broker, "c")
    assert by_state(broker, (None, topic_id), (None, topic_id)) == [(None, topic_id, ErrorCode.INVALID_REQUEST)]
    assert list(broker.state.cluster.topics) == ["a", "c"]


@pytest.mark.behaviour("DT-5")
def test_neither_and_both(broker: InProcess):
    topic_id = id_of(broker, "a")
    assert by_state(broker, (None, bytes(16)), ("a", topic_id)) == [
        (None, bytes(16), ErrorCode.INVALID_REQUEST),
        ("a", topic_id, ErrorCode.INVALID_REQUEST),
    ]
    assert "a" in broker.state.cluster.topics


@pytest.mark.behaviour("DT-6")
def test_a_name_and_its_id_are_one_too_many(broker: InProcess):
    topic_id = id_of(broker, "a")
    assert by_state(broker, (None, topic_id), ("a", bytes(16))) == [("a", topic_id, ErrorCode.INVALID_REQUEST)]
    assert "a" in broker.state.cluster.topics


@pytest.mark.behaviour("DT-7")
@pytest.mark.parametrize(("version", "code"), [(2, ErrorCode.INVALID_REQUEST), (3, ErrorCode.TOPIC_DELETION_DISABLED)])
def test_deletion_disabled(version: int, code: ErrorCode):
    broker = InProcess({"delete.topic.enable": "false"})
    create_topic(broker.state, "a")
    assert by_name(broker, "a", "nope", version=version) == [("a", code), ("nope", code)]
    assert "a" in broker.state.cluster.topics


@pytest.mark.behaviour("DT-8")
def test_without_time_nothing_is_deleted(broker: InProcess):
    assert by_name(broker, "a", "nope", timeout_ms=0) == [
        ("a", ErrorCode.REQUEST_TIMED_OUT),
        ("nope", ErrorCode.REQUEST_TIMED_OUT),
    ]
    assert "a" in broker.state.cluster.topics
    assert by_name(broker, "a", timeout_ms=1) == [("a", ErrorCode.NONE)]


@pytest.mark.behaviour("DT-9")
def test_a_text_goes_with_the_code(broker: InProcess):
    (topic,) = broker.ask(DeleteTopicsRequest(topic_names=["nope"], timeout_ms=1000), 5).responses
    assert topic.error_message == "This server does not host this topic-partition."
