"""Consumer groups of real client libraries: join, rebalance, leave, commit, resume."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack

import pytest

from tests.clients.adapters import NAMES, connect
from tests.clients.client import Client, Member, MemberOptions, Message, Record, poll_all, until

PARTITIONS = 4
Unique = Callable[[str], str]


def spread(topic: str, members: Sequence[Member], received: list[Record]) -> None:
    """Poll until the members share the topic evenly, between them all of it; what arrives meanwhile is kept."""

    def even() -> bool:
        received.extend(poll_all(members))
        parts = [member.assignment() for member in members]
        return Counter(place for part in parts for place in part) == Counter(
            (topic, partition) for partition in range(PARTITIONS)
        ) and {len(part) for part in parts} == {PARTITIONS // len(members)}

    until(even, f"{topic} shared by {len(members)}")


def poll_until(members: Sequence[Member], received: list[Record], wanted: set[str]) -> None:
    def complete() -> bool:
        received.extend(poll_all(members))
        return {record.value for record in received} >= wanted

    until(complete, f"{len(wanted)} values")


class Feed:
    """Produces numbered values, so that a lost or doubled one is seen."""

    def __init__(self, client: Client, topic: str) -> None:
        self.client = client
        self.topic = topic
        self.values: list[str] = []

    def send(self, count: int) -> set[str]:
        """Send so many more; gives all values sent so far."""
        new = [f"value {len(self.values) + number}" for number in range(count)]
        self.client.produce(self.topic, [Message(value, key=value) for value in new])
        self.values += new
        return set(self.values)


def lost_and_doubled(feed: Feed, received: Iterable[Record]) -> tuple[set[str], set[str]]:
    counts = Counter(record.value for record in received)
    return set(feed.values) - set(counts), {value for value, count in counts.items() if count > 1}


def joined_rebalanced_left(client: Client, unique: Unique, assignor: str) -> None:
    topic, group = unique("work"), unique("workers")
    client.create_topic(topic, partitions=PARTITIONS)
    feed = Feed(client, topic)
    received: list[Record] = []

    first = client.member(group, [topic], MemberOptions("first", assignor=assignor))
    poll_until([first], received, feed.send(1000))
    assert first.assignment() == {(topic, partition) for partition in range(PARTITIONS)}

    feed.send(500)
    second = client.member(group, [topic], MemberOptions("second", assignor=assignor))
    spread(topic, [first, second], received)
    poll_until([first, second], received, feed.send(1000))
    assert {record.partition for record in received} == set(range(PARTITIONS))

    feed.send(500)
    first.close()
    spread(topic, [second], received)
    poll_until([second], received, feed.send(1000))
    assert lost_and_doubled(feed, received) == (set(), set())

    second.close()
    assert client.describe_group(group).state == "Empty"
    assert sum(client.committed(group).values()) == len(feed.values)


def test_two_consumers_share_a_group_without_loss_or_doubles(client: Client, unique: Unique) -> None:
    joined_rebalanced_left(client, unique, "range")


@pytest.mark.parametrize("client", ["confluent-kafka", "kafka-python", "java"], indirect=True)
def test_a_cooperative_rebalance_loses_and_doubles_nothing(client: Client, unique: Unique) -> None:
    joined_rebalanced_left(client, unique, "cooperative-sticky")


def test_members_of_different_libraries_share_one_group(
    servers: str, unique: Unique, request: pytest.FixtureRequest
) -> None:
    topic, group = unique("work"), unique("workers")
    with ExitStack() as stack:
        clients = [connect(name, servers, lambda: request.getfixturevalue("jvm")) for name in NAMES]
        for client in clients:
            stack.callback(client.close)
        clients[0].create_topic(topic, partitions=PARTITIONS)
        feed = Feed(clients[0], topic)
        members: list[Member] = []
        received: list[Record] = []
        for name, client in zip(NAMES, clients, strict=True):
            members.append(client.member(group, [topic], MemberOptions(name)))
            until(lambda: _joined(members, received), f"{name} has joined")
            feed.send(100)
        spread(topic, members, received)
        poll_until(members, received, feed.send(400))
        assert {client_id for client_id, part in clients[0].describe_group(group).members.items() if part} == set(NAMES)
        while len(members) > 1:
            members.pop(0).close()
            poll_until(members, received, feed.send(100))
        assert lost_and_doubled(feed, received) == (set(), set())


def _joined(members: Sequence[Member], received: list[Record]) -> bool:
    """Poll all once; whether the newest one has partitions by now."""
    received.extend(poll_all(members))
    return bool(members[-1].assignment())


def test_a_new_consumer_resumes_where_the_group_committed(client: Client, unique: Unique) -> None:
    topic, group = unique("work"), unique("workers")
    client.create_topic(topic, partitions=PARTITIONS)
    feed = Feed(client, topic)
    by_hand = MemberOptions(auto_commit=False)

    received: list[Record] = []
    member = client.member(group, [topic], by_hand)
    poll_until([member], received, feed.send(300))
    member.commit()
    committed = feed.send(0)
    poll_until([member], received, feed.send(200))
    member.close()
    assert sum(client.committed(group).values()) == len(committed)

    again: list[Record] = []
    member = client.member(group, [topic], by_hand)
    poll_until([member], again, set(feed.values) - committed)
    assert Counter(record.value for record in again) == Counter(set(feed.values) - committed)


def test_a_static_member_comes_back_to_its_partitions_without_a_rebalance(client: Client, unique: Unique) -> None:
    topic, group = unique("work"), unique("workers")
    client.create_topic(topic, partitions=PARTITIONS)
    feed = Feed(client, topic)
    received: list[Record] = []
    moving = MemberOptions("moving", instance="a")
    first = client.member(group, [topic], moving)
    second = client.member(group, [topic], MemberOptions("staying", instance="b"))
    spread(topic, [first, second], received)
    places = first.assignment()

    first.close()
    described = client.describe_group(group)
    assert described.state == "Stable"
    assert described.members == {"moving": places, "staying": second.assignment()}

    first = client.member(group, [topic], moving)
    spread(topic, [first, second], received)
    assert first.assignment() == places
    poll_until([first, second], received, feed.send(400))
    assert lost_and_doubled(feed, received) == (set(), set())
