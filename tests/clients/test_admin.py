"""The libraries' admin clients: topics, configurations, groups and their offsets."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.clients.client import Client, Member, MemberOptions, Message, Refused, drain, until

Unique = Callable[[str], str]


def refusal(action: Callable[[], None]) -> str:
    """The name of the error that the broker answers."""
    with pytest.raises(Refused) as caught:
        action()
    return caught.value.code


def reading(client: Client, group: str, topic: str) -> Member:
    """A member that has read one record of a new topic, and committed."""
    client.create_topic(topic, partitions=2)
    client.produce(topic, [Message("value", partition=1)])
    member = client.member(group, [topic], MemberOptions("reader", auto_commit=False))
    drain(member, 1)
    member.commit()
    return member


def test_topics_are_created_listed_and_deleted(client: Client, unique: Unique) -> None:
    topic = unique("topic")
    client.create_topic(topic, partitions=3)
    assert until(lambda: client.topics().get(topic), "the topic is listed") == 3
    assert refusal(lambda: client.create_topic(topic)) == "TOPIC_ALREADY_EXISTS"
    client.delete_topic(topic)
    until(lambda: topic not in client.topics(), "the topic is gone")
    assert refusal(lambda: client.delete_topic(topic)) == "UNKNOWN_TOPIC_OR_PARTITION"


@pytest.mark.parametrize(
    ("name", "partitions", "configs", "code"),
    [
        ("no spaces please", 1, {}, "INVALID_TOPIC_EXCEPTION"),
        ("x" * 250, 1, {}, "INVALID_TOPIC_EXCEPTION"),
        ("none", 0, {}, "INVALID_PARTITIONS"),
        ("many", 10_001, {}, "POLICY_VIOLATION"),
        ("wrong", 1, {"cleanup.policy": "sometimes"}, "INVALID_CONFIG"),
        ("unheard", 1, {"no.such.config": "1"}, "INVALID_CONFIG"),
    ],
)
def test_a_topic_that_kafka_refuses_is_refused(
    client: Client, unique: Unique, name: str, partitions: int, configs: dict[str, str], code: str
) -> None:
    assert refusal(lambda: client.create_topic(name, partitions, configs)) == code


def test_a_topics_configuration_shows_defaults_and_overrides(client: Client, unique: Unique) -> None:
    topic = unique("topic")
    client.create_topic(topic, configs={"cleanup.policy": "compact", "segment.bytes": "2097152"})
    found = until(lambda: client.topic_config(topic), "the configuration")
    wanted = {
        "cleanup.policy": "compact",
        "segment.bytes": "2097152",
        "max.message.bytes": "1048588",
        "compression.type": "producer",
        "retention.ms": "-1",
        "message.timestamp.type": "CreateTime",
    }
    assert {name: found[name] for name in wanted} == wanted


def test_a_topics_configuration_can_be_changed(client: Client, unique: Unique) -> None:
    topic = unique("topic")
    client.create_topic(topic)
    until(lambda: client.topic_config(topic), "the configuration")
    client.alter_topic_config(topic, "max.message.bytes", "12345")
    assert until(lambda: client.topic_config(topic)["max.message.bytes"] == "12345", "the new value")
    assert refusal(lambda: client.alter_topic_config(topic, "max.message.bytes", "-1")) == "INVALID_CONFIG"
    assert refusal(lambda: client.alter_topic_config(topic, "no.such.config", "1")) == "INVALID_CONFIG"


def test_a_group_is_listed_described_and_its_offsets_shown(client: Client, unique: Unique) -> None:
    group, topic = unique("group"), unique("topic")
    member = reading(client, group, topic)

    assert group in client.groups()
    described = client.describe_group(group)
    assert described.state == "Stable"
    assert described.assignor == "range"
    assert described.members == {"reader": {(topic, 0), (topic, 1)}}
    assert client.committed(group)[topic, 1] == 1

    member.close()
    described = client.describe_group(group)
    assert (described.state, described.members) == ("Empty", {})
    assert group in client.groups()


@pytest.mark.parametrize("client", ["confluent-kafka", "kafka-python", "java"], indirect=True)
def test_a_group_is_deleted_once_its_members_have_left(client: Client, unique: Unique) -> None:
    group, topic = unique("group"), unique("topic")
    member = reading(client, group, topic)

    assert refusal(lambda: client.delete_group(group)) == "NON_EMPTY_GROUP"
    assert client.committed(group)[topic, 1] == 1

    member.close()
    client.delete_group(group)
    assert group not in client.groups()
    assert refusal(lambda: client.delete_group(group)) == "GROUP_ID_NOT_FOUND"


@pytest.mark.parametrize("client", ["kafka-python", "java"], indirect=True)
def test_offsets_of_a_topic_are_deleted_once_nobody_subscribes_it(client: Client, unique: Unique) -> None:
    group, left, read = unique("group"), unique("left"), unique("read")
    reading(client, group, left).close()
    member = reading(client, group, read)

    assert refusal(lambda: client.delete_offset(group, (read, 1))) == "GROUP_SUBSCRIBED_TO_TOPIC"
    client.delete_offset(group, (left, 1))
    committed = client.committed(group)
    assert (left, 1) not in committed
    assert committed[read, 1] == 1

    member.close()
    client.delete_offset(group, (read, 1))
    assert (read, 1) not in client.committed(group)
    assert refusal(lambda: client.delete_offset(unique("nobody"), (read, 1))) == "GROUP_ID_NOT_FOUND"
