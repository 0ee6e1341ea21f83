"""confluent-kafka (librdkafka)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka import Message as Delivered
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from kafkawire.errors import ErrorCode
from tests.clients.client import (
    BY_DEFAULT,
    DEADLINE_SECONDS,
    HEARTBEAT_MS,
    SESSION_MS,
    Client,
    Group,
    Member,
    MemberOptions,
    Message,
    Place,
    Record,
    Refused,
)


class ConfluentMember(Member):
    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer

    def poll(self, seconds: float = 0.05) -> list[Record]:
        delivered = self._consumer.consume(500, seconds)
        for message in delivered:
            if message.error():
                raise KafkaException(message.error())
        return [_record(message) for message in delivered]

    def assignment(self) -> set[Place]:
        return {(place.topic, place.partition) for place in self._consumer.assignment()}

    def commit(self) -> None:
        self._consumer.commit(asynchronous=False)

    def seek_to_time(self, ms: int) -> None:
        wanted = [TopicPartition(topic, partition, ms) for topic, partition in self.assignment()]
        for found in self._consumer.offsets_for_times(wanted, DEADLINE_SECONDS):
            if found.offset < 0:
                # where the end is now: OFFSET_END would be looked up some time after seek() has returned
                _, found.offset = self._consumer.get_watermark_offsets(found, DEADLINE_SECONDS)
            self._consumer.seek(found)

    def _leave(self) -> None:
        self._consumer.close()


class ConfluentClient(Client):
    def __init__(self, servers: str) -> None:
        super().__init__()
        self._servers = servers
        self._admin_client: AdminClient | None = None

    def produce(self, topic: str, messages: Iterable[Message], codec: str = "none") -> list[tuple[int, int]]:
        producer = Producer(
            {"bootstrap.servers": self._servers, "compression.codec": codec, "enable.idempotence": True}
        )
        places: dict[int, tuple[int, int]] = {}
        count = 0
        try:
            for message in messages:
                # what is None must not be said at all
                given = {"key": message.key, "partition": message.partition, "timestamp": message.timestamp}
                producer.produce(
                    topic,
                    message.value.encode(),
                    on_delivery=_placed(places, count),
                    **{name: value for name, value in given.items() if value is not None},
                )
                producer.poll(0)
                count += 1
            left = producer.flush(DEADLINE_SECONDS)
        finally:
            producer.close()
        assert left == 0, f"{left} records were not delivered"
        return [places[index] for index in range(count)]

    def member(self, group: str, topics: list[str], options: MemberOptions = BY_DEFAULT) -> Member:
        config: dict[str, Any] = {
            "bootstrap.servers": self._servers,
            "group.id": group,
            "client.id": options.client_id,
            "enable.auto.commit": options.auto_commit,
            "auto.offset.reset": "earliest",
            "partition.assignment.strategy": options.assignor,
            "heartbeat.interval.ms": HEARTBEAT_MS,
            "session.timeout.ms": SESSION_MS,
            "fetch.wait.max.ms": options.fetch_wait_ms,
        }
        if options.instance is not None:
            config["group.instance.id"] = options.instance
        consumer = Consumer(config)
        consumer.subscribe(topics)
        member = ConfluentMember(consumer)
        self.members.append(member)
        return member

    def create_topic(self, topic: str, partitions: int = 1, configs: Mapping[str, str] | None = None) -> None:
        new = NewTopic(topic, partitions, 1, config=dict(configs or {}))
        _one(self._admin.create_topics([new], request_timeout=DEADLINE_SECONDS))

    def delete_topic(self, topic: str) -> None:
        _one(self._admin.delete_topics([topic], request_timeout=DEADLINE_SECONDS))

    def topics(self) -> dict[str, int]:
        found = self._admin.list_topics(timeout=DEADLINE_SECONDS).topics
        return {name: len(topic.partitions) for name, topic in found.items()}

    def topic_config(self, topic: str) -> dict[str, str | None]:
        entries = _one(self._admin.describe_configs([ConfigResource(ResourceType.TOPIC, topic)]))
        return {name: entry.value for name, entry in entries.items()}

    def alter_topic_config(self, topic: str, name: str, value: str) -> None:
        entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        changed = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        _one(self._admin.incremental_alter_configs([changed]))

    def groups(self) -> set[str]:
        listed = self._admin.list_consumer_groups(request_timeout=DEADLINE_SECONDS).result()
        assert not listed.errors
        return {group.group_id for group in listed.valid}

    def describe_group(self, group: str) -> Group:
        described = _one(self._admin.describe_consumer_groups([group], request_timeout=DEADLINE_SECONDS))
        members = {
            member.client_id: {(place.topic, place.partition) for place in member.assignment.topic_partitions}
            for member in described.members
        }
        return Group(described.state.name.capitalize(), described.partition_assignor, members)

    def committed(self, group: str) -> dict[Place, int]:
        found = _one(self._admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]))
        return {(place.topic, place.partition): place.offset for place in found.topic_partitions}

    def delete_group(self, group: str) -> None:
        _one(self._admin.delete_consumer_groups([group], request_timeout=DEADLINE_SECONDS))

    def close(self) -> None:
        super().close()
        self._admin_client = None  # it has no close(): it ends with the last reference

    @property
    def _admin(self) -> AdminClient:
        if self._admin_client is None:
            self._admin_client = AdminClient({"bootstrap.servers": self._servers})
        return self._admin_client


def _placed(places: dict[int, tuple[int, int]], index: int) -> Any:
    def delivered(error: Any, message: Delivered) -> None:
        assert error is None, error
        partition, offset = message.partition(), message.offset()
        assert partition is not None
        assert offset is not None
        places[index] = (partition, offset)

    return delivered


def _record(message: Any) -> Record:
    key = message.key()
    return Record(
        message.topic(),
        message.partition(),
        message.offset(),
        None if key is None else key.decode(),
        message.value().decode(),
        message.timestamp()[1],
    )


def _one(futures: Mapping[Any, Any]) -> Any:
    """The result of the only future. Raises Refused where the broker said no."""
    [future] = futures.values()
    try:
        return future.result(DEADLINE_SECONDS)
    except KafkaException as error:
        code = error.args[0].code()
        if code < 0:  # librdkafka's own
            raise
        raise Refused(ErrorCode(code).name) from error
