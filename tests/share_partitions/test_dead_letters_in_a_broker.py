"""Dead letters from ShareAcknowledge to the topic, and what of it is kept of the share partition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kafkastub.metadata import SHARE_GROUP_STATE
from kafkastub.state.topics import auto_create
from kafkastub.views.records import LogRecord, decoded, stretch
from kafkawire.messages.share_acknowledge_request import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from kafkawire.messages.share_acknowledge_response import ShareAcknowledgeResponse
from kafkawire.messages.share_fetch_request import FetchPartition, FetchTopic, ShareFetchRequest
from kafkawire.messages.share_fetch_response import ShareFetchResponse
from kafkawire.records import NewRecord, build_batch
from tests.handlers.desk import Desk

ACCEPT, RELEASE, REJECT = 1, 2, 3
LOCK_MS = 30_000
MEMBER = "m"


class Worker:
    """A broker, a topic `orders` with one partition, and the only member of its group `g`."""

    def __init__(self, **group: str) -> None:
        self.desk = Desk()
        self.state = self.desk.state
        self.orders = self.desk.topic("orders")
        self.desk.topic("dlq.orders", errors_deadletterqueue_group_enable="true")
        self.configure(share_auto_offset_reset="earliest", errors_deadletterqueue_topic_name="dlq.orders", **group)
        auto_create(self.state, SHARE_GROUP_STATE)
        self.state.share_partitions.persister.initialize("g", self.orders.topic_id, 0, 1, -1, self.desk.broker_ms)
        self.epoch = 0
        self.begin()

    def begin(self) -> None:
        """The first fetch brings the share partition into memory, and does not wait for that."""
        assert self.fetch() == []

    def configure(self, **texts: str) -> None:
        configs = self.state.cluster.group_configs
        named = {name.replace("_", "."): text for name, text in texts.items()}
        configs["g"] = configs.get("g", {}) | named

    def produce(self, count: int) -> None:
        records = [NewRecord(b"k%d" % at, b"v%d" % at, self.desk.broker_ms) for at in range(count)]
        assert self.desk.produce(build_batch(records)).error_code == 0

    def fetch(self) -> list[tuple[int, int, int]]:
        """What is acquired: first offset, last offset, delivery count."""
        topics = [FetchTopic(self.orders.topic_id, [FetchPartition(0)])]
        request = ShareFetchRequest("g", MEMBER, self.epoch, 0, 0, 1 << 20, 5000, 5000, topics=topics)
        answer = self.desk.ask(2, request, ShareFetchResponse)
        assert answer.error_code == 0
        self.epoch += 1
        return [
            (one.first_offset, one.last_offset, one.delivery_count)
            for topic in answer.responses
            for partition in topic.partitions
            for one in partition.acquired_records
        ]

    def acknowledge(self, *batches: tuple[int, int, Sequence[int]]) -> int:
        said = [AcknowledgementBatch(*batch) for batch in batches]
        topics = [AcknowledgeTopic(self.orders.topic_id, [AcknowledgePartition(0, said)])]
        answer = self.desk.ask(
            2, ShareAcknowledgeRequest("g", MEMBER, self.epoch, topics=topics), ShareAcknowledgeResponse
        )
        assert answer.error_code == 0
        self.epoch += 1
        code: int = answer.responses[0].partitions[0].error_code
        return code

    def written(self) -> list[LogRecord]:
        return list(decoded(stretch(self.state, "dlq.orders", 0, 0, committed=False), committed=False))

    def letters(self) -> list[tuple[int, int, str]]:
        """Of each dead letter the source's offset, its delivery count, and the cause."""
        return [
            (
                int(headers["__dlq.errors.offset"] or b""),
                int(headers["__dlq.errors.delivery.count"] or b""),
                (headers["__dlq.errors.message"] or b"").decode(),
            )
            for headers in (dict(one.headers) for one in self.written())
        ]

    def kept(self) -> tuple[int, int, list[tuple[int, ...]]]:
        """Start offset, how many behind it are done with, and what is in flight, as the share coordinator knows it."""
        read = self.state.share_partitions.persister.read("g", self.orders.topic_id, 0, 0, self.desk.broker_ms)
        return read.start_offset, read.delivery_complete_count, [tuple(batch) for batch in read.batches]

    def in_flight(self) -> list[Any]:
        (live,) = self.state.share_partitions.of_group("g")
        return [(one.first_offset, one.last_offset, one.state.name) for one in live.partition.view()]


CLIENT = "Offset rejected by client."
LIMIT = "Offset delivery count exceeded the threshold."


@pytest.mark.behaviour("AK-14")
def test_rejected_records_have_their_dead_letters_and_are_archived() -> None:
    worker = Worker()
    worker.produce(5)
    assert worker.fetch() == [(0, 4, 1)]
    assert worker.acknowledge((0, 4, [REJECT])) == 0
    assert worker.letters() == [(offset, 1, CLIENT) for offset in range(5)]
    assert worker.kept()[1:] == (5, [(0, 4, 4, 1)])
    assert worker.in_flight() == []
    assert worker.fetch() == []


def test_only_what_is_rejected_has_a_dead_letter() -> None:
    worker = Worker()
    worker.produce(6)
    worker.fetch()
    assert worker.acknowledge((0, 5, [REJECT, ACCEPT, REJECT, REJECT, RELEASE, 0])) == 0
    assert worker.letters() == [(0, 1, CLIENT), (2, 1, CLIENT), (3, 1, CLIENT)]
    assert worker.fetch() == [(4, 4, 2)]


@pytest.mark.behaviour("AK-14")
def test_released_at_the_limit() -> None:
    worker = Worker(share_delivery_count_limit="2")
    worker.produce(3)
    worker.fetch()
    worker.acknowledge((0, 2, [RELEASE]))
    assert worker.letters() == []
    assert worker.fetch() == [(0, 2, 2)]
    worker.acknowledge((0, 2, [RELEASE]))
    assert worker.letters() == [(offset, 2, LIMIT) for offset in range(3)]
    assert worker.fetch() == []


def test_locks_that_end_at_the_limit() -> None:
    worker = Worker(share_delivery_count_limit="2")
    worker.produce(3)
    worker.fetch()
    worker.desk.wait_until(LOCK_MS)
    assert worker.fetch() == [(0, 2, 2)]
    worker.desk.wait_until(2 * LOCK_MS)
    assert worker.letters() == [(offset, 2, LIMIT) for offset in range(3)]
    assert worker.fetch() == []


def test_session_that_ends_at_the_limit() -> None:
    worker = Worker(share_delivery_count_limit="2")
    worker.produce(2)
    worker.fetch()
    worker.acknowledge((0, 1, [RELEASE]))
    worker.fetch()
    worker.desk.ask(2, ShareAcknowledgeRequest("g", MEMBER, -1), ShareAcknowledgeResponse)
    assert worker.letters() == [(0, 2, LIMIT), (1, 2, LIMIT)]


@pytest.mark.behaviour("AK-14")
def test_records_are_archived_at_once_where_there_is_no_dead_letter_topic() -> None:
    worker = Worker()
    worker.produce(4)
    worker.fetch()
    worker.state.features.update([("share.version", 1, 2)])
    worker.acknowledge((0, 1, [REJECT]))
    assert worker.letters() == []
    worker.state.features.update([("share.version", 2, 1)])
    worker.acknowledge((2, 3, [REJECT]))
    assert worker.letters() == [(2, 1, CLIENT), (3, 1, CLIENT)]


@pytest.mark.behaviour("AK-14")
def test_archiving_while_the_dead_letter_topic_has_no_leader() -> None:
    worker = Worker()
    dead = worker.state.cluster.topics["dlq.orders"].partitions[0]
    leader, dead.leader = dead.leader, -1
    worker.produce(4)
    worker.fetch()
    assert worker.acknowledge((0, 3, [REJECT])) == 0
    assert worker.kept()[1:] == (0, [(0, 3, 3, 1)])
    assert worker.in_flight() == [(0, 3, "ARCHIVING")]
    assert worker.acknowledge((0, 3, [ACCEPT])) == 121
    assert worker.fetch() == []
    dead.leader = leader
    worker.desk.wait_until(2_400)
    assert worker.letters() == [(offset, 1, CLIENT) for offset in range(4)]
    assert worker.kept()[1:] == (4, [(0, 3, 4, 1)])


def test_share_partition_that_moves_while_its_records_are_archiving() -> None:
    """Who leads the partition next finds them ARCHIVING, and writes what is missing, once."""
    worker = Worker(share_delivery_count_limit="3")
    dead = worker.state.cluster.topics["dlq.orders"].partitions[0]
    leader, dead.leader = dead.leader, -1
    worker.produce(4)
    worker.fetch()
    worker.acknowledge((0, 3, [REJECT]))
    (live,) = worker.state.share_partitions.of_group("g")
    worker.state.share_partitions.forget(live)
    dead.leader = leader
    worker.epoch = 0
    worker.begin()
    worker.desk.wait_until(60_000)
    assert worker.letters() == [(offset, 1, CLIENT) for offset in range(4)]
    assert worker.in_flight() == []


def test_rejected_by_thousands() -> None:
    worker = Worker()
    worker.produce(2000)
    assert worker.fetch() == [(0, 1999, 1)]
    assert worker.acknowledge((0, 1999, [REJECT] * 2000)) == 0
    turns = 0
    while (at := worker.state.next_event()) is not None and at <= worker.desk.timer_ms:
        worker.desk.wait_until(worker.desk.timer_ms)
        turns += 1
    assert turns >= 5
    assert [letter[0] for letter in worker.letters()] == list(range(2000))
    assert worker.in_flight() == []


def test_dead_letter_topic_that_is_the_source() -> None:
    worker = Worker(errors_deadletterqueue_copy_record_enable="true")
    worker.orders.configs = {"errors.deadletterqueue.group.enable": "true"}
    worker.state.config.set_dynamic({"errors.deadletterqueue.topic.name.prefix": ""}, per_broker=False)
    worker.configure(errors_deadletterqueue_topic_name="orders")
    worker.produce(2)
    worker.fetch()
    worker.acknowledge((0, 1, [REJECT]))
    assert worker.fetch() == [(2, 3, 1)]
    found = list(decoded(stretch(worker.state, "orders", 0, 2, committed=False), committed=False))
    assert [(one.key, one.value) for one in found] == [(b"k0", b"v0"), (b"k1", b"v1")]
