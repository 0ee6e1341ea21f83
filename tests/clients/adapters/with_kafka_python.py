"""kafka-python."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka import codec as kafka_codec
from kafka import errors as kafka_errors
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.errors import BrokerResponseError

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

ASSIGNORS = {"range": RangePartitionAssignor, "cooperative-sticky": CooperativeStickyAssignor}


class KafkaPythonMember(Member):
    def __init__(self, consumer: KafkaConsumer) -> None:
        self._consumer = consumer

    def poll(self, seconds: float = 0.05) -> list[Record]:
        batches = self._consumer.poll(timeout_ms=seconds * 1000)
        return [_record(record) for batch in batches.values() for record in batch]

    def assignment(self) -> set[Place]:
        return {(place.topic, place.partition) for place in self._consumer.assignment()}

    def commit(self) -> None:
        self._consumer.commit()

    def seek_to_time(self, ms: int) -> None:
        wanted = dict.fromkeys(self._consumer.assignment(), ms)
        for place, found in self._consumer.offsets_for_times(wanted).items():
            if found is None:
                self._consumer.seek_to_end(place)
                self._consumer.position(place)  # goes there now, not with the next poll
            else:
                self._consumer.seek(place, found.offset)

    def _leave(self) -> None:
        self._consumer.close()


class KafkaPythonClient(Client):
    def __init__(self, servers: str) -> None:
        super().__init__()
        self._servers = servers
        self._admin_client: KafkaAdminClient | None = None

    def produce(self, topic: str, messages: Iterable[Message], codec: str = "none") -> list[tuple[int, int]]:
        if codec != "none" and not getattr(kafka_codec, f"has_{codec}")():
            raise NotImplementedError(f"kafka-python finds no library for {codec}: see the test requirements")
        compression = None if codec == "none" else codec
        producer = KafkaProducer(bootstrap_servers=self._servers, compression_type=compression, linger_ms=5)
        try:
            sent = [
                producer.send(
                    topic,
                    value=message.value.encode(),
                    key=None if message.key is None else message.key.encode(),
                    partition=message.partition,
                    timestamp_ms=message.timestamp,
                )
                for message in messages
            ]
            producer.flush(DEADLINE_SECONDS)
            placed = [future.get(DEADLINE_SECONDS) for future in sent]
        finally:
            producer.close()
        return [(record.partition, record.offset) for record in placed]

    def member(self, group: str, topics: list[str], options: MemberOptions = BY_DEFAULT) -> Member:
        consumer = KafkaConsumer(
            *topics,
            bootstrap_servers=self._servers,
            group_id=group,
            client_id=options.client_id,
            group_instance_id=options.instance,
            enable_auto_commit=options.auto_commit,
            auto_offset_reset="earliest",
            partition_assignment_strategy=[ASSIGNORS[options.assignor]],
            heartbeat_interval_ms=HEARTBEAT_MS,
            session_timeout_ms=SESSION_MS,
            fetch_max_wait_ms=options.fetch_wait_ms,
        )
        for topic in topics:
            # A consumer that joins before it knows its topics joins again as it learns of them; and kafka-python 3.0.12
            # forgets that second assignment where poll() gives up while the leader's SyncGroup is under way
            # (need_rejoin() is False by then, so nobody looks at the answer), until its session has expired.
            consumer.partitions_for_topic(topic)
        member = KafkaPythonMember(consumer)
        self.members.append(member)
        return member

    def create_topic(self, topic: str, partitions: int = 1, configs: Mapping[str, str] | None = None) -> None:
        options = {"num_partitions": partitions, "replication_factor": 1, "configs": dict(configs or {})}
        self._ask("create_topics", {topic: options}, wait_for_metadata=True)

    def delete_topic(self, topic: str) -> None:
        self._ask("delete_topics", [topic])

    def topics(self) -> dict[str, int]:
        return {topic["name"]: len(topic["partitions"]) for topic in self._ask("describe_topics")}

    def topic_config(self, topic: str) -> dict[str, str | None]:
        found = self._ask("describe_configs", [ConfigResource(ConfigResourceType.TOPIC, topic)], config_filter="all")
        return {name: entry["value"] for name, entry in found["topic"][topic].items()}

    def alter_topic_config(self, topic: str, name: str, value: str) -> None:
        changed = ConfigResource(ConfigResourceType.TOPIC, topic, {name: value})
        outcome = self._ask("alter_configs", [changed], raise_on_unknown=False)["topic"][topic]
        if code := re.match(r"\[Error (\d+)\]", outcome):
            raise Refused(ErrorCode(int(code[1])).name)

    def groups(self) -> set[str]:
        return {group["group_id"] for group in self._ask("list_groups")}

    def describe_group(self, group: str) -> Group:
        described = self._ask("describe_groups", [group])[group]
        assert described["error"] is None, described
        members = {}
        for member in described["members"]:
            assigned = (member["member_assignment"] or {}).get("assigned_partitions", [])
            members[member["client_id"]] = {(one["topic"], index) for one in assigned for index in one["partitions"]}
        return Group(described["group_state"], described["protocol_data"], members)

    def committed(self, group: str) -> dict[Place, int]:
        found = self._ask("list_group_offsets", group)[group]
        return {(place.topic, place.partition): offset.offset for place, offset in found.items()}

    def delete_group(self, group: str) -> None:
        outcome = self._ask("delete_groups", [group])[group]
        if outcome != "OK":
            raise _refused(getattr(kafka_errors, outcome))

    def delete_offset(self, group: str, place: Place) -> None:
        outcome = self._ask("delete_group_offsets", group, [TopicPartition(*place)])[TopicPartition(*place)]
        if outcome is not kafka_errors.NoError:
            raise _refused(outcome)

    def close(self) -> None:
        super().close()
        if self._admin_client is not None:
            self._admin_client.close()

    def _ask(self, method: str, *args: Any, **options: Any) -> Any:
        if self._admin_client is None:
            self._admin_client = KafkaAdminClient(bootstrap_servers=self._servers)
        try:
            return getattr(self._admin_client, method)(*args, **options)
        except BrokerResponseError as error:
            raise _refused(type(error)) from error


def _refused(error: type[BrokerResponseError]) -> Refused:
    return Refused(ErrorCode(error.errno).name)


def _record(record: Any) -> Record:
    key = None if record.key is None else record.key.decode()
    return Record(record.topic, record.partition, record.offset, key, record.value.decode(), record.timestamp)
