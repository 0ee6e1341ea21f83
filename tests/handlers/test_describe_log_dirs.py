"""DescribeLogDirs; `test_topics_as_kafka` compares it with Apache Kafka as well."""

from __future__ import annotations

import pytest

from kafkawire.errors import ErrorCode
from kafkawire.messages.describe_log_dirs_request import DescribableLogDirTopic, DescribeLogDirsRequest
from kafkawire.messages.describe_log_dirs_response import DescribeLogDirsResponse
from tests.handlers.desk import Desk, batch


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.topic("a", 3)
    desk.topic("b")
    desk.fill(batch(b"12345"), batch(b"67890"), topic="a", partition=2)
    return desk


def ask(desk: Desk, *topics: tuple[str, list[int]], every: bool = False, version: int = 5) -> DescribeLogDirsResponse:
    asked = None if every else [DescribableLogDirTopic(topic=name, partitions=indexes) for name, indexes in topics]
    answer = desk.ask(version, DescribeLogDirsRequest(topics=asked), DescribeLogDirsResponse)
    assert answer.error_code == ErrorCode.NONE
    return answer


def told(answer: DescribeLogDirsResponse) -> dict[str, list[int]]:
    return {topic.name: [one.partition_index for one in topic.partitions] for topic in answer.results[0].topics}


@pytest.mark.behaviour("LD-1")
@pytest.mark.parametrize("version", range(1, 6))
def test_what_is_asked_for(desk: Desk, version: int):
    assert told(ask(desk, every=True, version=version)) == {"a": [0, 1, 2], "b": [0]}
    assert told(ask(desk, ("a", [2, 0, 2, 9]), ("a", [-1, 1]), ("b", []), ("nope", [0]), version=version)) == {
        "a": [0, 1, 2]
    }
    assert told(ask(desk, version=version)) == {}


@pytest.mark.behaviour("LD-2")
def test_sizes(desk: Desk):
    (topic,) = ask(desk, ("a", [0, 2])).results[0].topics
    assert [one.partition_size for one in topic.partitions] == [0, 2 * len(batch(b"12345"))]
    assert [(one.offset_lag, one.is_future_key) for one in topic.partitions] == [(0, False)] * 2


@pytest.mark.behaviour("LD-3")
def test_directories():
    assert [result.log_dir for result in ask(Desk(), every=True).results] == ["/tmp/kafka-logs"]
    desk = Desk({"log.dirs": "/data//1/../one/,/data/two"})
    desk.topic("a")
    results = ask(desk, every=True).results
    assert [(result.log_dir, len(result.topics)) for result in results] == [("/data/1/../one", 1), ("/data/two", 0)]


@pytest.mark.behaviour("LD-4", "LD-5")
def test_no_disk(desk: Desk):
    (result,) = ask(desk, every=True).results
    assert (result.total_bytes, result.usable_bytes, result.is_cordoned) == (-1, -1, False)
