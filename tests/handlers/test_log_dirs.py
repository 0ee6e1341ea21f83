"""AlterReplicaLogDirs, and where DescribeLogDirs finds logs in several directories.

`test_log_dirs_as_kafka` compares it with Apache Kafka.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafkastub.state import log_dirs
from kafkastub.state.leadership import Now, reassign
from kafkawire.errors import ErrorCode
from kafkawire.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kafkawire.messages.alter_partition_reassignments_response import AlterPartitionReassignmentsResponse
from kafkawire.messages.alter_replica_log_dirs_request import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from kafkawire.messages.alter_replica_log_dirs_response import AlterReplicaLogDirsResponse
from kafkawire.messages.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kafkawire.messages.create_partitions_response import CreatePartitionsResponse
from kafkawire.messages.create_topics_request import CreatableReplicaAssignment, CreatableTopic, CreateTopicsRequest
from kafkawire.messages.create_topics_response import CreateTopicsResponse
from kafkawire.messages.describe_log_dirs_request import DescribeLogDirsRequest
from kafkawire.messages.describe_log_dirs_response import DescribeLogDirsResponse
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkawire.messages.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from tests.handlers.desk import START_MS, Desk

THREE = {"log.dirs": "/d/one,/d/two,/d/three"}
NOW: Now = (START_MS, 0)
NONE, UNKNOWN = ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.fixture
def desk() -> Desk:
    return Desk(THREE)


def create(desk: Desk, *rows: tuple[str, int]) -> CreateTopicsResponse:
    topics = [CreatableTopic(name=name, num_partitions=count, replication_factor=-1) for name, count in rows]
    return desk.ask(7, CreateTopicsRequest(topics=topics, timeout_ms=1000), CreateTopicsResponse)


def move(desk: Desk, *rows: tuple[str, str, Sequence[int]], version: int = 2) -> dict[tuple[str, int], ErrorCode]:
    """Rows of directory, topic and partitions."""
    asked = [
        AlterReplicaLogDir(path, [AlterReplicaLogDirTopic(name, list(partitions))]) for path, name, partitions in rows
    ]
    answer = desk.ask(version, AlterReplicaLogDirsRequest(asked), AlterReplicaLogDirsResponse)
    return {
        (topic.topic_name, one.partition_index): ErrorCode(one.error_code)
        for topic in answer.results
        for one in topic.partitions
    }


def places(desk: Desk) -> dict[str, set[tuple[str, int]]]:
    """The logs of each directory, by the last part of its path."""
    answer = desk.ask(5, DescribeLogDirsRequest(None), DescribeLogDirsResponse)
    assert not any(
        one.is_future_key for result in answer.results for topic in result.topics for one in topic.partitions
    )
    return {
        result.log_dir.rpartition("/")[2]: {
            (topic.name, one.partition_index) for topic in result.topics for one in topic.partitions
        }
        for result in answer.results
    }


def cordon(desk: Desk, value: str | None, *, broker: str = "1") -> tuple[ErrorCode, str | None]:
    change = AlterableConfig("cordoned.log.dirs", 0 if value is not None else 1, value)
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(4, broker, [change])])
    (one,) = desk.ask(1, request, IncrementalAlterConfigsResponse).responses
    return ErrorCode(one.error_code), one.error_message


@pytest.mark.behaviour("LD-3")
def test_new_logs_go_where_the_fewest_are(desk: Desk):
    create(desk, ("a", 5))  # by the hashes of its partitions: 2, 1, 0, 4, 3
    assert places(desk) == {"one": {("a", 2), ("a", 4)}, "two": {("a", 1), ("a", 3)}, "three": {("a", 0)}}
    create(desk, ("b", 1))
    assert ("b", 0) in places(desk)["three"]
    desk.delete("a")
    create(desk, ("c", 1))
    assert places(desk) == {"one": {("c", 0)}, "two": set(), "three": {("b", 0)}}


@pytest.mark.behaviour("LD-3")
def test_topics_of_one_request_are_placed_together():
    alone, together = Desk(THREE), Desk(THREE)
    for name in ("m1", "m2"):
        create(alone, (name, 3))
    create(together, ("m1", 3), ("m2", 3))
    assert places(alone) != places(together)
    assert places(together) == {
        "one": {("m1", 0), ("m1", 2)}, "two": {("m1", 1), ("m2", 1)}, "three": {("m2", 0), ("m2", 2)},
    }  # fmt: skip


@pytest.mark.behaviour("LD-3")
def test_partitions_that_are_added_and_replicas_that_are_reassigned():
    desk = Desk(THREE | {"default.replication.factor": 1}, nodes=2)
    on_the_first = CreatableTopic("a", -1, -1, [CreatableReplicaAssignment(0, [1])])
    desk.ask(7, CreateTopicsRequest([on_the_first], 1000), CreateTopicsResponse)
    assert places(desk)["one"] == {("a", 0)}
    topic = desk.state.cluster.topics["a"]
    reassign(desk.state, topic, topic.partitions[0], [2], NOW)
    assert places(desk) == {"one": set(), "two": set(), "three": set()}
    desk.node_id = 2
    assert places(desk)["one"] == {("a", 0)}
    desk.ask(3, CreatePartitionsRequest([CreatePartitionsTopic("a", 3, None)], 1000), CreatePartitionsResponse)
    found = places(desk)
    desk.node_id = 1
    told = [found, places(desk)]
    assert sorted(index for one in told for rows in one.values() for _, index in rows) == [0, 1, 2]


@pytest.mark.behaviour("RD-1", "RD-2")
@pytest.mark.parametrize("version", [1, 2])
def test_a_replica_moves(desk: Desk, version: int):
    desk.topic("a", 2)
    assert move(desk, ("/d/three", "a", [0, 1]), version=version) == {("a", 0): NONE, ("a", 1): NONE}
    assert places(desk) == {"one": set(), "two": set(), "three": {("a", 0), ("a", 1)}}
    assert move(desk, ("/d/three", "a", [0]), version=version) == {("a", 0): NONE}
    desk.topic("b")
    assert places(desk)["one"] == {("b", 0)}


@pytest.mark.behaviour("RD-1")
@pytest.mark.parametrize("path", ["/d/four", "one", "/d/one/", "/d/./one", "/d", "", "*"])
def test_a_directory_that_is_not_configured(desk: Desk, path: str):
    desk.topic("a")
    missing = ErrorCode.LOG_DIR_NOT_FOUND
    assert move(desk, (path, "a", [0, 7]), (path, "nope", [0])) == {
        ("a", 0): missing, ("a", 7): missing, ("nope", 0): missing,
    }  # fmt: skip


@pytest.mark.behaviour("RD-1")
def test_the_one_directory_of_a_broker():
    desk = Desk()
    desk.topic("a")
    assert move(desk, ("/tmp/kafka-logs", "a", [0, 1])) == {("a", 0): NONE, ("a", 1): UNKNOWN}
    assert move(desk, ("/tmp/other", "a", [0])) == {("a", 0): ErrorCode.LOG_DIR_NOT_FOUND}
    assert move(desk) == {}


@pytest.mark.behaviour("RD-1")
def test_a_name_that_is_too_long(desk: Desk):
    name, invalid = "q" * 213, ErrorCode.INVALID_TOPIC_EXCEPTION
    assert move(desk, ("/d/two", name, [0, 10])) == {(name, 0): UNKNOWN, (name, 10): invalid}
    assert move(desk, ("nowhere", name, [10])) == {(name, 10): invalid}


@pytest.mark.behaviour("RD-3")
def test_a_wish_for_what_is_not_there_yet(desk: Desk):
    assert move(desk, ("/d/two", "a", [0, -1]), ("/d/three", "", [0])) == {
        ("a", 0): UNKNOWN, ("a", -1): UNKNOWN, ("", 0): UNKNOWN,
    }  # fmt: skip
    assert move(desk, ("/d/three", "a", [0])) == {("a", 0): UNKNOWN}
    desk.topic("a")
    assert places(desk)["three"] == {("a", 0)}
    desk.delete("a")
    desk.topic("a")
    assert places(desk)["one"] == {("a", 0)}, "a wish is granted once"


@pytest.mark.behaviour("RD-3")
def test_wishes_are_not_kept_without_end(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(log_dirs, "MOST_PREFERENCES", 2)
    move(desk, ("/d/three", "a", [0, 1, 2]))
    desk.topic("a", 3)
    assert places(desk) == {"one": {("a", 0)}, "two": set(), "three": {("a", 1), ("a", 2)}}


@pytest.mark.behaviour("RD-3")
def test_a_replica_on_another_node():
    desk = Desk(THREE, nodes=2)
    on_the_first = CreatableTopic("a", -1, -1, [CreatableReplicaAssignment(0, [1])])
    desk.ask(7, CreateTopicsRequest([on_the_first], 1000), CreateTopicsResponse)
    desk.node_id = 2
    assert move(desk, ("/d/two", "a", [0])) == {("a", 0): ErrorCode.REPLICA_NOT_AVAILABLE}
    topic = desk.state.cluster.topics["a"]
    reassign(desk.state, topic, topic.partitions[0], [2], NOW)
    assert places(desk)["two"] == {("a", 0)}


@pytest.mark.behaviour("RD-4")
def test_the_last_mention_counts(desk: Desk):
    desk.topic("a")
    asked = [
        AlterReplicaLogDir("/d/two", [AlterReplicaLogDirTopic("a", [0, 0]), AlterReplicaLogDirTopic("a", [0])]),
        AlterReplicaLogDir("/d/three", [AlterReplicaLogDirTopic("a", [0])]),
        AlterReplicaLogDir("/d/one", []),
    ]
    answer = desk.ask(2, AlterReplicaLogDirsRequest(asked), AlterReplicaLogDirsResponse)
    assert [(one.topic_name, len(one.partitions)) for one in answer.results] == [("a", 1)]
    assert places(desk)["three"] == {("a", 0)}


@pytest.mark.behaviour("RD-5", "LD-5")
def test_cordoned_directories(desk: Desk):
    desk.topic("a", 3)
    assert cordon(desk, "/d/two,/d/three") == (NONE, None)
    told = desk.ask(5, DescribeLogDirsRequest(None), DescribeLogDirsResponse).results
    assert [one.is_cordoned for one in told] == [False, True, True]
    desk.topic("b", 2)
    assert places(desk)["one"] >= {("b", 0), ("b", 1)}
    refused = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert move(desk, ("/d/two", "b", [0, 9])) == {("b", 0): refused, ("b", 9): refused}
    assert move(desk, ("/d/one", "a", [0, 1, 2])).keys() == {("a", 0), ("a", 1), ("a", 2)}
    assert cordon(desk, None) == (NONE, None)
    assert move(desk, ("/d/two", "b", [0])) == {("b", 0): NONE}


@pytest.mark.behaviour("RD-5", "LD-5")
def test_all_directories_cordoned():
    desk = Desk(THREE | {"cordoned.log.dirs": "*"})
    (refused,) = create(desk, ("a", 1)).topics
    assert (refused.error_code, refused.error_message) == (
        ErrorCode.INVALID_REPLICATION_FACTOR,
        "Unable to replicate the partition 1 time(s): All brokers are currently fenced, or have all their log "
        "directories cordoned.",
    )
    manual = CreatableTopic("b", -1, -1, assignments=[CreatableReplicaAssignment(0, [1])])
    (refused,) = desk.ask(7, CreateTopicsRequest([manual], 1000), CreateTopicsResponse).topics
    text = "The manual partition assignment includes broker 1, but all its log directories are cordoned."
    assert (refused.error_code, refused.error_message) == (ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)
    assert cordon(desk, "") == (NONE, None)
    desk.topic("c")
    assert cordon(desk, "*") == (NONE, None)
    grow = CreatePartitionsRequest([CreatePartitionsTopic("c", 2, None)], 1000)
    (result,) = desk.ask(3, grow, CreatePartitionsResponse).results
    assert (result.error_code, result.error_message) == (
        ErrorCode.INVALID_REPLICATION_FACTOR,
        "All brokers are currently fenced, or have all their log directories cordoned.",
    )
    again = AlterPartitionReassignmentsRequest(1000, True, [ReassignableTopic("c", [ReassignablePartition(0, [1])])])
    (topic,) = desk.ask(1, again, AlterPartitionReassignmentsResponse).responses
    assert (topic.partitions[0].error_code, topic.partitions[0].error_message) == (
        ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        text,
    )


@pytest.mark.behaviour("LD-5")
@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("/d/four,/x", "requirement failed: All entries in cordoned.log.dirs must be present in log.dirs or log.dir. "
                       "Missing entries : /d/four, /x"),
        ("/d/one/", "requirement failed: All entries in cordoned.log.dirs must be present in log.dirs or log.dir. "
                    "Missing entries : /d/one/"),
        ("/d/one,*", "requirement failed: When cordoned.log.dirs is set to *, it must not contain other values"),
        ("/d/one,/d/one", "Configuration 'cordoned.log.dirs' values must not be duplicated."),
    ],
)  # fmt: skip
def test_what_cannot_be_cordoned(desk: Desk, value: str, why: str):
    assert cordon(desk, value) == (ErrorCode.INVALID_REQUEST, why)
    code, text = cordon(desk, "/d/one", broker="")
    assert code == ErrorCode.INVALID_REQUEST
    assert (
        text == "Cannot update these configs at default cluster level, broker id must be specified: [cordoned.log.dirs]"
    )
