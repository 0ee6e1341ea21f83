"""CreateTopics: what is created, what is refused. Every text is compared with Kafka's in `test_topics_as_kafka`."""

from __future__ import annotations

import pytest

from kafkastub.state.topics import create_topic
from kafkawire.errors import ErrorCode
from kafkawire.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from tests.handlers.in_process import InProcess
from tests.handlers.topic_scenario import new


@pytest.fixture
def broker() -> InProcess:
    return InProcess()


def ask(broker: InProcess, *topics: CreatableTopic, version: int = 7, timeout_ms: int = 1000, validate: bool = False):
    request = CreateTopicsRequest(topics=topics, timeout_ms=timeout_ms, validate_only=validate)
    return broker.ask(request, version).topics


def codes(*args: object, **options: object) -> list[tuple[str, int]]:
    return [(topic.name, topic.error_code) for topic in ask(*args, **options)]


@pytest.mark.behaviour("CT-1")
@pytest.mark.parametrize("version", range(2, 8))
def test_a_created_topic_is_there(broker: InProcess, version: int):
    assert codes(broker, new("t", 3), version=version) == [("t", ErrorCode.NONE)]
    topic = broker.state.cluster.topics["t"]
    assert all(broker.state.logs.log(topic.topic_id, index) is not None for index in range(3))


@pytest.mark.behaviour("CT-2")
def test_names_that_are_refused(broker: InProcess):
    create_topic(broker.state, "a.b")
    assert codes(broker, new(""), new("."), new("x" * 250), new("a/b"), new("a_b"), new("a.b")) == [
        ("", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (".", ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("x" * 250, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("a/b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("a_b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("a.b", ErrorCode.TOPIC_ALREADY_EXISTS),
    ]
    assert list(broker.state.cluster.topics) == ["a.b"]


@pytest.mark.behaviour("CT-3")
def test_a_name_given_twice_creates_nothing(broker: InProcess):
    assert codes(broker, new("a"), new("b"), new("a")) == [("b", ErrorCode.NONE), ("a", ErrorCode.INVALID_REQUEST)]
    assert list(broker.state.cluster.topics) == ["b"]


@pytest.mark.behaviour("CT-4")
def test_the_metadata_topic_is_reserved(broker: InProcess):
    assert codes(broker, new("__cluster_metadata")) == [("__cluster_metadata", ErrorCode.INVALID_REQUEST)]


@pytest.mark.behaviour("CT-5", "CT-6")
def test_counts(broker: InProcess):
    assert codes(broker, new("a", 0), new("b", -2), new("c", 1, 0), new("d", 1, -2), new("e", 1, 2)) == [
        ("a", ErrorCode.INVALID_PARTITIONS),
        ("b", ErrorCode.INVALID_PARTITIONS),
        ("c", ErrorCode.INVALID_REPLICATION_FACTOR),
        ("d", ErrorCode.INVALID_REPLICATION_FACTOR),
        ("e", ErrorCode.INVALID_REPLICATION_FACTOR),
    ]


@pytest.mark.behaviour("CT-5", "CT-6")
def test_default_counts_are_the_brokers():
    broker = InProcess({"num.partitions": 5, "default.replication.factor": 2}, nodes=2)
    (topic,) = ask(broker, new("a", -1, -1))
    assert (topic.error_code, topic.num_partitions, topic.replication_factor) == (ErrorCode.NONE, 5, 2)


@pytest.mark.behaviour("CT-7")
def test_assignments():
    broker = InProcess(nodes=2)
    assert codes(broker, new("ok", -1, -1, [(1, [1]), (0, [2])])) == [("ok", ErrorCode.NONE)]
    assert [partition.leader for partition in broker.state.cluster.topics["ok"].partitions] == [2, 1]
    assert codes(broker, new("a", 1, -1, [(0, [1])]), new("b", -1, 1, [(0, [1])])) == [
        ("a", ErrorCode.INVALID_REQUEST),
        ("b", ErrorCode.INVALID_REQUEST),
    ]
    bad = ([(0, [1]), (0, [1])], [(1, [1])], [(0, [])], [(0, [3])], [(0, [1, 1])], [(0, [1]), (1, [1, 2])])
    for place in bad:
        assert codes(broker, new("bad", -1, -1, place)) == [("bad", ErrorCode.INVALID_REPLICA_ASSIGNMENT)]


@pytest.mark.behaviour("CT-8")
def test_configurations_are_looked_at_before_counts(broker: InProcess):
    contradiction = {"min_compaction_lag_ms": "10", "max_compaction_lag_ms": "5"}
    topics = [
        new("a", retention_ms=None),
        new("b", nope="1"),
        new("c", 0, segment_bytes="1"),
        new("d", **contradiction),
    ]
    assert codes(broker, *topics) == [(name, ErrorCode.INVALID_CONFIG) for name in "abcd"]


@pytest.mark.behaviour("CT-8")
def test_a_configured_topic_has_logs_that_go_by_it(broker: InProcess):
    assert codes(broker, new("a", max_message_bytes="77")) == [("a", ErrorCode.NONE)]
    log = broker.state.logs.log(broker.state.cluster.topics["a"].topic_id, 0)
    assert log is not None
    assert log.settings.max_message_bytes == 77


@pytest.mark.behaviour("CT-9")
def test_validation_creates_nothing(broker: InProcess):
    assert codes(broker, new("a"), new("b", 0), validate=True) == [
        ("a", ErrorCode.NONE),
        ("b", ErrorCode.INVALID_PARTITIONS),
    ]
    assert broker.state.cluster.topics == {}


@pytest.mark.behaviour("CT-10")
@pytest.mark.parametrize("version", [5, 6, 7])
def test_the_effective_configuration_is_told(version: int):
    broker = InProcess({"log.segment.bytes": 2000000})
    (topic,) = ask(broker, new("a", 2, retention_ms="5"), version=version)
    assert (topic.num_partitions, topic.replication_factor) == (2, 1)
    told = {config.name: (config.value, config.config_source) for config in topic.configs}
    assert told["retention.ms"] == ("5", 1)
    assert told["segment.bytes"] == ("2000000", 4)
    assert told["cleanup.policy"] == ("delete", 5)
    assert list(told) == sorted(told)


@pytest.mark.behaviour("CT-11")
def test_the_id_is_told(broker: InProcess):
    (topic,) = ask(broker, new("a"))
    assert topic.topic_id == broker.state.cluster.topics["a"].topic_id
    (validated,) = ask(broker, new("b"), validate=True)
    assert validated.topic_id != bytes(16)


@pytest.mark.behaviour("CT-12")
@pytest.mark.parametrize("topics", [[new("a", 10001), new("b")], [new("a", 6000), new("b", 6000)], [new("a", 10000)]])
def test_too_much_at_once(broker: InProcess, topics: list[CreatableTopic]):
    assert codes(broker, *topics) == [(topic.name, ErrorCode.POLICY_VIOLATION) for topic in topics]
    assert broker.state.cluster.topics == {}


@pytest.mark.behaviour("CT-12")
def test_partitions_by_default_and_by_assignment_are_counted_too_before_all_else():
    many = InProcess({"num.partitions": 10_001})
    assert codes(many, new("a", -1, 7)) == [("a", ErrorCode.POLICY_VIOLATION)]
    on_no_node = [(index, [9]) for index in range(10_001)]
    assert codes(InProcess(), new("a", -1, -1, on_no_node)) == [("a", ErrorCode.POLICY_VIOLATION)]


@pytest.mark.behaviour("CT-13")
@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_without_time_nothing_is_created(broker: InProcess, timeout_ms: int):
    assert codes(broker, new("a"), new("a/b"), timeout_ms=timeout_ms) == [
        ("a", ErrorCode.REQUEST_TIMED_OUT),
        ("a/b", ErrorCode.REQUEST_TIMED_OUT),
    ]
    assert codes(broker, new("a"), new("a"), timeout_ms=timeout_ms) == [("a", ErrorCode.INVALID_REQUEST)]
    assert broker.state.cluster.topics == {}
    assert codes(broker, new("a"), timeout_ms=1) == [("a", ErrorCode.NONE)]
