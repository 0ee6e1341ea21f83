"""Rounds of what clients do all day, each of which leaves the broker as it was: topics and groups go with it.

What a broker still has behind a round, and had not before, it keeps for ever.
"""

from __future__ import annotations

from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from kafkastub.client import Client
from kafkawire.errors import ErrorCode
from kafkawire.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.messages.share_acknowledge_request import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from kafkawire.messages.share_fetch_request import FetchPartition, FetchTopic, ShareFetchRequest
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from tests.streams_instance import Instance, words
from tests.waiting import until

QUICK: Final[dict[str, object]] = {
    "group.initial.rebalance.delay.ms": 0,
    "group.consumer.assignment.interval.ms": 0,
    "group.share.assignment.interval.ms": 0,
    "group.streams.assignment.interval.ms": 0,
    "group.streams.initial.rebalance.delay.ms": 0,
    "offsets.topic.num.partitions": 2,
    "transaction.state.log.num.partitions": 2,
    "share.coordinator.state.topic.num.partitions": 2,
}
"""For a broker on which a round takes a second."""
RECORDS: Final = 40
_PARTITIONS: Final = 2
_SHARE_VERSION: Final = 1


class Rounds:
    """The clients of one broker."""

    def __init__(self, servers: str) -> None:
        self.servers = servers
        self.count = 0
        self._client = Client(servers)
        self._producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True, "linger.ms": 1})

    def __enter__(self) -> Rounds:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def once(self) -> None:
        """Everything, once, in a topic and groups of its own."""
        self.count += 1
        topic = f"orders-{self.count}"
        made = CreateTopicsRequest([CreatableTopic(topic, _PARTITIONS, 1)], 10_000)
        _fine(self._client.ask_controller(made).topics)
        self._produce(topic)
        groups = [f"{kind}-{self.count}" for kind in ("classic", "consumer", "share", "streams")]
        self._consume(topic, groups[0], "classic")
        self._consume(topic, groups[1], "consumer")
        self._copy(topic, groups[1])
        self._share(topic, groups[2])
        self._stream(topic, groups[3])
        for group in groups:
            _fine(self._client.ask_coordinator(group, DeleteGroupsRequest([group])).results)
        left = [name for name in self._topics() if str(self.count) == name.split("-")[1]]
        deleted = DeleteTopicsRequest([DeleteTopicState(name) for name in left], timeout_ms=10_000)
        _fine(self._client.ask_controller(deleted).responses)

    def _topics(self) -> list[str]:
        answer = self._client.ask(MetadataRequest(None))
        return [one.name for one in answer.topics if not one.is_internal]

    def _produce(self, topic: str) -> None:
        for index in range(RECORDS):
            self._producer.produce(topic, b"value" * 20, str(index).encode(), index % _PARTITIONS)
        assert self._producer.flush(30) == 0

    def _consume(self, topic: str, group: str, protocol: str) -> None:
        """A member reads all of it, and commits."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.servers,
                "group.id": group,
                "group.protocol": protocol,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 10,
                "topic.metadata.refresh.interval.ms": 100,
            }
        )
        consumer.subscribe([topic])
        read = 0

        def all_of_it() -> bool:
            nonlocal read
            for message in consumer.consume(RECORDS, 0.1):
                error = message.error()
                assert error is None or error.code() in _PASSING, error
                read += error is None
            return read >= RECORDS

        until(all_of_it, lambda: f"{read} of {RECORDS} records by a {protocol} group")
        consumer.commit(asynchronous=False)
        consumer.close()

    def _copy(self, topic: str, group: str) -> None:
        """Two transactions: one is committed, with offsets, one aborted; each time by another producer."""
        producer = Producer({"bootstrap.servers": self.servers, "transactional.id": "copier"})
        producer.init_transactions(30)
        offsets = Consumer({"bootstrap.servers": self.servers, "group.id": group})
        for commit in (True, False):
            producer.begin_transaction()
            producer.produce(topic, b"copied", b"key", 0)
            if commit:
                place = TopicPartition(topic, 0, self.count)
                producer.send_offsets_to_transaction([place], offsets.consumer_group_metadata(), 30)
                producer.commit_transaction(30)
            else:
                producer.flush(30)
                producer.abort_transaction(30)
        offsets.close()

    def _share(self, topic: str, group: str) -> None:
        """A member takes what is new, accepts it, and leaves."""
        (told,) = self._client.ask(MetadataRequest([MetadataRequestTopic(name=topic)])).topics
        epoch = 0

        def beat() -> Any:
            nonlocal epoch
            topics = None if epoch else [topic]
            request = ShareGroupHeartbeatRequest(group, _member(self.count), epoch, None, topics)
            answer = self._client.ask_coordinator(group, request)
            assert not answer.error_code, answer
            epoch = answer.member_epoch
            return answer.assignment is not None and answer.assignment.topic_partitions

        until(beat, "an assignment of a share group")
        session, taken = 0, 0

        def acquired() -> bool:
            nonlocal session, taken
            asked = [FetchTopic(told.topic_id, [FetchPartition(index) for index in range(_PARTITIONS)])]
            request = ShareFetchRequest(
                group, _member(self.count), session, 10, 1, 1 << 20, 100, 100, topics=() if session else asked
            )
            answer = self._client.ask(request, version=_SHARE_VERSION)
            assert not answer.error_code, ErrorCode(answer.error_code)
            session += 1
            rows = [row for one in answer.responses for row in one.partitions if row.acquired_records]
            if not rows and not taken:
                self._produce(topic)  # the first fetch settles where a share group begins: at the end
                return False
            for row in rows:
                taken += len(row.acquired_records)
                batches = [AcknowledgementBatch(one.first_offset, one.last_offset, [1]) for one in row.acquired_records]
                told_of = [AcknowledgeTopic(told.topic_id, [AcknowledgePartition(row.partition_index, batches)])]
                done = ShareAcknowledgeRequest(group, _member(self.count), session, topics=told_of)
                assert not self._client.ask(done, version=_SHARE_VERSION).error_code
                session += 1
            return bool(taken)

        until(acquired, "records of a share group")
        last = ShareAcknowledgeRequest(group, _member(self.count), -1)
        assert not self._client.ask(last, version=_SHARE_VERSION).error_code
        epoch = -1
        beat()

    def _stream(self, topic: str, group: str) -> None:
        """An instance whose topology has topics of its own."""
        topology = words(topic, f"app-{self.count}")
        with Instance(self.servers, f"instance-{self.count}", group, topology) as instance:

            def has_tasks() -> bool:
                assert not instance.beat().error_code
                return bool(instance.tasks["active_tasks"])

            until(has_tasks, "tasks of a streams group")
            instance.leave()


def _member(count: int) -> str:
    return f"AAAAAAAAAAAAAAAAAA{count:04d}"


_PASSING: Final = (KafkaError._PARTITION_EOF, KafkaError.UNKNOWN_TOPIC_OR_PART)


def _fine(rows: Any) -> None:
    for row in rows:
        assert not row.error_code, row
