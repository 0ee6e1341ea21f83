"""DescribeTopicPartitions: pages of partitions."""

from __future__ import annotations

import pytest

from kafkastub.state.topics import create_topic
from kafkawire.errors import ErrorCode
from kafkawire.messages.describe_topic_partitions_request import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from tests.handlers.in_process import InProcess


@pytest.fixture
def broker() -> InProcess:
    broker = InProcess({"max.request.partition.size.limit": 5})
    for name in ("b", "a", "c"):
        create_topic(broker.state, name, 3)
    return broker


def ask(broker: InProcess, *names: str, limit: int = 100, cursor: tuple[str, int] | None = None):
    return broker.ask(
        DescribeTopicPartitionsRequest(
            topics=[TopicRequest(name=name) for name in names],
            response_partition_limit=limit,
            cursor=cursor and Cursor(topic_name=cursor[0], partition_index=cursor[1]),
        )
    )


def pages(answer) -> dict[str, list[int]]:
    return {topic.name: [partition.partition_index for partition in topic.partitions] for topic in answer.topics}


def at(answer) -> tuple[str, int] | None:
    return answer.next_cursor and (answer.next_cursor.topic_name, answer.next_cursor.partition_index)


@pytest.mark.behaviour("TP-1")
def test_topics_come_sorted_and_once(broker: InProcess):
    answer = ask(broker, "b", "a", "b", limit=5)
    assert list(pages(answer)) == ["a", "b"]
    assert list(pages(ask(broker))) == ["a", "b"]


@pytest.mark.behaviour("TP-2")
def test_missing_and_invalid_topics_keep_their_place(broker: InProcess):
    assert [(topic.name, topic.error_code) for topic in ask(broker, "a/b", "a", "aa").topics] == [
        ("a", ErrorCode.NONE),
        ("a/b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("aa", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]


@pytest.mark.behaviour("TP-3")
@pytest.mark.parametrize(
    ("limit", "expected", "cursor"),
    [
        (-1, {"a": [0]}, ("a", 1)),
        (0, {"a": [0]}, ("a", 1)),
        (2, {"a": [0, 1]}, ("a", 2)),
        (3, {"a": [0, 1, 2]}, ("b", 0)),
        (4, {"a": [0, 1, 2], "b": [0]}, ("b", 1)),
        (100, {"a": [0, 1, 2], "b": [0, 1]}, ("b", 2)),
    ],
)
def test_a_page_has_at_most_so_many_partitions(broker: InProcess, limit: int, expected: object, cursor: object):
    answer = ask(broker, limit=limit)
    assert (pages(answer), at(answer)) == (expected, cursor)


@pytest.mark.behaviour("TP-4")
def test_cursors_lead_through_everything(broker: InProcess):
    seen, cursor = [], None
    while True:
        answer = ask(broker, limit=2, cursor=cursor)
        seen += [(name, index) for name, indexes in pages(answer).items() for index in indexes]
        cursor = at(answer)
        if cursor is None:
            break
    assert seen == [(name, index) for name in "abc" for index in range(3)]


@pytest.mark.behaviour("TP-4")
def test_a_cursor_between_topics_goes_on_behind_it(broker: InProcess):
    assert pages(ask(broker, cursor=("bb", 1))) == {"c": [0, 1, 2]}


@pytest.mark.behaviour("TP-5")
@pytest.mark.parametrize("cursor", [("a", -1), ("z", 0)])
def test_cursors_that_are_refused(broker: InProcess, cursor: tuple[str, int]):
    answer = ask(broker, "b", "a", cursor=cursor)
    assert [(topic.name, topic.error_code) for topic in answer.topics] == [
        ("b", ErrorCode.INVALID_REQUEST),
        ("a", ErrorCode.INVALID_REQUEST),
    ]


@pytest.mark.behaviour("TP-6")
def test_operations_and_internal_topics(broker: InProcess):
    answer = ask(broker, "a", "__consumer_offsets")
    assert [(topic.name, topic.is_internal, topic.topic_authorized_operations) for topic in answer.topics] == [
        ("__consumer_offsets", True, 3576),
        ("a", False, 3576),
    ]


@pytest.mark.behaviour("TP-7")
def test_an_empty_name_is_an_unknown_error(broker: InProcess):
    assert [topic.error_code for topic in ask(broker, "", "a").topics] == [ErrorCode.UNKNOWN_SERVER_ERROR] * 2


@pytest.mark.behaviour("TP-7")
def test_an_empty_name_is_an_error_of_its_own_only_beside_a_cursor(broker: InProcess):
    assert pages(ask(broker, "", "a", cursor=("a", 2))) == {"a": [2]}
    told = ask(broker, "", "a", cursor=("", 1))
    assert [topic.error_code for topic in told.topics] == [ErrorCode.INVALID_TOPIC_EXCEPTION, ErrorCode.NONE]
    assert [topic.error_code for topic in ask(broker, "", "a").topics] == [ErrorCode.UNKNOWN_SERVER_ERROR] * 2
