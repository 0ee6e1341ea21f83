"""Records through real client libraries: what is sent arrives, and is found by its time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import pytest

from tests.clients.client import Client, MemberOptions, Message, drain, until

RECORDS = 10_000
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
LONG_AGO = 1_700_000_000_000
"""Unix ms."""

Unique = Callable[[str], str]


@pytest.mark.parametrize("codec", CODECS)
def test_ten_thousand_records_arrive_as_they_were_sent(client: Client, unique: Unique, codec: str) -> None:
    topic = unique("records")
    client.create_topic(topic, partitions=3)
    sent = [Message(f"value {number} " + "x" * (number % 200), key=f"key {number % 100}") for number in range(RECORDS)]

    try:
        placed = client.produce(topic, sent, codec)
    except NotImplementedError as missing:
        pytest.skip(str(missing))
    received = drain(client.member(unique("readers"), [topic]), RECORDS)

    assert len(received) == RECORDS
    arrived = {(record.partition, record.offset): (record.key, record.value) for record in received}
    assert arrived == {place: (message.key, message.value) for place, message in zip(placed, sent, strict=True)}
    offsets = defaultdict(list)
    for record in received:
        offsets[record.partition].append(record.offset)
    assert all(found == list(range(len(found))) for found in offsets.values())


def test_records_without_a_key_keep_their_order_and_timestamps(client: Client, unique: Unique) -> None:
    topic = unique("records")
    client.create_topic(topic)
    sent = [Message(f"value {number}", partition=0, timestamp=LONG_AGO + 7 * number) for number in range(500)]

    client.produce(topic, sent)
    received = drain(client.member(unique("readers"), [topic]), len(sent))

    assert [(record.key, record.value, record.timestamp) for record in received] == [
        (None, message.value, message.timestamp) for message in sent
    ]


def test_a_topic_that_nobody_created_comes_into_being_with_its_first_record(client: Client, unique: Unique) -> None:
    topic = unique("surprise")
    client.produce(topic, [Message("hello")])
    [record] = drain(client.member(unique("readers"), [topic]), 1)
    assert (record.topic, record.partition, record.offset, record.value) == (topic, 0, 0, "hello")


def test_a_consumer_that_waits_gets_a_record_as_soon_as_it_is_there(client: Client, unique: Unique) -> None:
    topic = unique("records")
    client.create_topic(topic)
    client.produce(topic, [Message("first")])
    member = client.member(unique("readers"), [topic], MemberOptions(fetch_wait_ms=20_000))
    drain(member, 1)
    for number in range(5):
        assert member.poll(0.1) == []  # the fetch is under way
        client.produce(topic, [Message(f"number {number}")])
        [record] = drain(member, 1, seconds=15)  # sooner than the fetch would end by itself
        assert record.value == f"number {number}"
    client.produce(topic, [Message("last")])  # ends the fetch that is under way: Java's close() waits for it


def test_a_consumer_seeks_by_time(client: Client, unique: Unique) -> None:
    topic = unique("records")
    client.create_topic(topic, partitions=2)
    client.produce(
        topic,
        [Message(f"{partition}:{n}", None, partition, LONG_AGO + 1000 * n) for partition in (0, 1) for n in range(100)],
    )
    member = client.member(unique("readers"), [topic], MemberOptions(auto_commit=False))
    drain(member, 200)

    member.seek_to_time(LONG_AGO + 89_001)
    received = drain(member, 20)
    assert {record.value for record in received} == {f"{partition}:{n}" for partition in (0, 1) for n in range(90, 100)}

    # Nothing is as young as that: the end, and what comes after it.
    member.seek_to_time(LONG_AGO + 1_000_000)
    client.produce(topic, [Message("later", None, 1, LONG_AGO)])
    received = drain(member, 1)
    assert [record.value for record in received] == ["later"]


def test_a_record_over_the_topics_limit_is_refused_and_the_next_is_not(client: Client, unique: Unique) -> None:
    topic = unique("small")
    client.create_topic(topic, configs={"max.message.bytes": "2000"})
    with pytest.raises(Exception, match=r"(?i)too.?large|larger than|MSG_SIZE"):
        client.produce(topic, [Message("x" * 5000)])
    assert until(lambda: client.produce(topic, [Message("y" * 500)]), "a small record") == [(0, 0)]
