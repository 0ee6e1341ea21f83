"""Kafka's own Java clients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

from tests.clients.client import (
    BY_DEFAULT,
    HEARTBEAT_MS,
    SESSION_MS,
    Client,
    Group,
    Member,
    MemberOptions,
    Message,
    Place,
    Record,
)
from tests.clients.jvm import Jvm

ASSIGNORS = {
    "range": "org.apache.kafka.clients.consumer.RangeAssignor",
    "cooperative-sticky": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
}
_NAMES = count()


class JavaMember(Member):
    def __init__(self, jvm: Jvm, name: str) -> None:
        self._jvm = jvm
        self._name = name

    def poll(self, seconds: float = 0.05) -> list[Record]:
        return [Record(*fields) for fields in self._jvm.ask("poll", consumer=self._name, ms=int(seconds * 1000))]

    def assignment(self) -> set[Place]:
        return _places(self._jvm.ask("assignment", consumer=self._name))

    def commit(self) -> None:
        self._jvm.ask("commit", consumer=self._name)

    def seek_to_time(self, ms: int) -> None:
        self._jvm.ask("seek_to_time", consumer=self._name, ms=ms)

    def _leave(self) -> None:
        self._jvm.ask("close", consumer=self._name)


class JavaClient(Client):
    def __init__(self, servers: str, jvm: Jvm) -> None:
        super().__init__()
        self._servers = servers
        self._jvm = jvm

    def produce(self, topic: str, messages: Iterable[Message], codec: str = "none") -> list[tuple[int, int]]:
        # The first of a JVM's producers may look for its topic for longer than a minute, on a busy machine.
        config = {"bootstrap.servers": self._servers, "compression.type": codec, "max.block.ms": 300_000}
        records = [(one.partition, one.key, one.value, one.timestamp) for one in messages]
        placed = self._jvm.ask("produce", config=config, topic=topic, records=records)
        return [(partition, offset) for partition, offset in placed]

    def member(self, group: str, topics: list[str], options: MemberOptions = BY_DEFAULT) -> Member:
        config: dict[str, object] = {
            "bootstrap.servers": self._servers,
            "group.id": group,
            "group.protocol": "classic",
            "client.id": options.client_id,
            "enable.auto.commit": str(options.auto_commit).lower(),
            "auto.offset.reset": "earliest",
            "partition.assignment.strategy": ASSIGNORS[options.assignor],
            "heartbeat.interval.ms": HEARTBEAT_MS,
            "session.timeout.ms": SESSION_MS,
            "fetch.max.wait.ms": options.fetch_wait_ms,
        }
        if options.instance is not None:
            config["group.instance.id"] = options.instance
        name = f"{options.client_id}-{next(_NAMES)}"
        self._jvm.ask("subscribe", consumer=name, config=config, topics=topics)
        member = JavaMember(self._jvm, name)
        self.members.append(member)
        return member

    def create_topic(self, topic: str, partitions: int = 1, configs: Mapping[str, str] | None = None) -> None:
        self._admin("create_topic", name=topic, partitions=partitions, configs=configs or {})

    def delete_topic(self, topic: str) -> None:
        self._admin("delete_topic", name=topic)

    def topics(self) -> dict[str, int]:
        return dict(self._admin("topics"))

    def topic_config(self, topic: str) -> dict[str, str | None]:
        return dict(self._admin("topic_config", name=topic))

    def alter_topic_config(self, topic: str, name: str, value: str) -> None:
        self._admin("alter_topic_config", name=topic, config=name, value=value)

    def groups(self) -> set[str]:
        return set(self._admin("groups"))

    def describe_group(self, group: str) -> Group:
        found = self._admin("describe_group", name=group)
        members = {client_id: _places(places) for client_id, places in found["members"]}
        return Group(found["state"], found["assignor"], members)

    def committed(self, group: str) -> dict[Place, int]:
        found = self._admin("committed", name=group)
        return {(topic, partition): offset for topic, partition, offset in found}

    def delete_group(self, group: str) -> None:
        self._admin("delete_group", name=group)

    def delete_offset(self, group: str, place: Place) -> None:
        self._admin("delete_offset", name=group, topic=place[0], partition=place[1])

    def close(self) -> None:
        super().close()
        self._jvm.ask("close_admin", servers=self._servers)

    def _admin(self, what: str, **fields: Any) -> Any:
        return self._jvm.ask("admin", servers=self._servers, what=what, **fields)


def _places(pairs: Iterable[Iterable[Any]]) -> set[Place]:
    return {(topic, partition) for topic, partition in pairs}
