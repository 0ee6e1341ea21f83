"""Records of dead-letter topics, and their way there: `dead_letters` in both `share_partitions`.

What Kafka writes was seen on Apache Kafka 4.4.0.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkastub.metadata import Topic
from kafkastub.share_partitions.dead_letters import CLIENT_REJECT, DELIVERY_COUNT_EXCEEDED, DeadLetter, Rules, refusal
from kafkastub.state.share_partitions.dead_letters import DeadLetters
from kafkastub.views.records import decoded, stretch
from kafkawire.records import HEADER_SIZE, Compression, NewRecord, build_batch, record_size
from tests.handlers.desk import Desk

DLQ: dict[str, Any] = {"errors_deadletterqueue_group_enable": "true"}
AUTO_CREATE: dict[str, object] = {"errors.deadletterqueue.auto.create.topics.enable": "true"}


def rejected(first: int, last: int, count: int = 1) -> DeadLetter:
    return DeadLetter(first, last, count, CLIENT_REJECT)


class Office:
    """A broker with a topic `orders`, whose group `g` has the dead-letter topic `dlq.orders`."""

    def __init__(self, partitions: int = 1, copy: bool = False, config: dict[str, object] | None = None) -> None:
        self.desk = Desk(config, nodes=2)
        self.state = self.desk.state
        self.orders = self.desk.topic("orders", partitions)
        self.dead_letters = DeadLetters(self.state)
        self.archived: list[DeadLetter] = []
        self.configure({"errors.deadletterqueue.topic.name": "dlq.orders"})
        if copy:
            self.configure({"errors.deadletterqueue.copy.record.enable": "true"})

    def configure(self, texts: dict[str, str]) -> None:
        configs = self.state.cluster.group_configs
        configs["g"] = configs.get("g", {}) | texts

    def with_topic(self, partitions: int = 1, **configs: str) -> Topic:
        return self.desk.topic("dlq.orders", partitions, **(DLQ | configs))

    def send(self, *letters: DeadLetter, partition: int = 0) -> None:
        now = self.desk.broker_ms, self.desk.timer_ms
        self.dead_letters.send("g", self.orders.topic_id, partition, letters, self.archive, now)

    def archive(self, letter: DeadLetter, now: tuple[int, int]) -> None:
        self.archived.append(letter)

    def finish(self) -> int:
        """Let it have its turns until nothing is left to do at this time; how many it took."""
        turns = 0
        while (at := self.dead_letters.next_deadline()) is not None and at <= self.desk.timer_ms:
            self.dead_letters.expire(self.desk.broker_ms, self.desk.timer_ms)
            turns += 1
        return turns

    def wait(self) -> int:
        """Go on to the next attempt; gives the milliseconds until then."""
        at = self.dead_letters.next_deadline()
        assert at is not None
        passed, self.desk.timer_ms = at - self.desk.timer_ms, at
        self.dead_letters.expire(self.desk.broker_ms, at)
        return passed

    def written(self, partition: int = 0) -> list[Any]:
        found = stretch(self.state, "dlq.orders", partition, 0, committed=False)
        return list(decoded(found, committed=False))

    def offsets(self) -> list[int]:
        """The source's offsets in the order of their dead letters."""
        return [offset for batch in self.batches() for offset in batch]

    def batches(self, partition: int = 0) -> list[list[int]]:
        """The source's offsets, batch by batch."""
        found = stretch(self.state, "dlq.orders", partition, 0, committed=False)
        return [
            [int(dict(record.headers)[b"__dlq.errors.offset"] or b"") for record in batch.records()]
            for batch in found.batches
        ]


def produce(office: Office, *records: NewRecord, compression: int = Compression.NONE) -> None:
    answer = office.desk.produce(build_batch(records, compression=compression))
    assert answer.error_code == 0


def record(key: bytes | None, value: bytes | None, **more: Any) -> NewRecord:
    return NewRecord(key, value, 1_700_000_000_000, **more)


@pytest.mark.behaviour("AK-16")
def test_record_as_kafka_writes_it() -> None:
    office = Office()
    office.with_topic()
    office.send(rejected(3, 4))
    found = office.written()
    assert [(one.key, one.value, one.timestamp) for one in found] == [(None, None, office.desk.broker_ms)] * 2
    assert [one.headers for one in found] == [
        (
            ("__dlq.errors.topic", b"orders"),
            ("__dlq.errors.partition", b"0"),
            ("__dlq.errors.offset", offset),
            ("__dlq.errors.group", b"g"),
            ("__dlq.errors.delivery.count", b"1"),
            ("__dlq.errors.message", b"Offset rejected by client."),
        )
        for offset in (b"3", b"4")
    ]
    assert found[0].producer_id == -1
    assert office.archived == [rejected(3, 4)]


def test_cause_and_delivery_count() -> None:
    office = Office()
    office.with_topic()
    office.send(DeadLetter(0, 0, 5, DELIVERY_COUNT_EXCEEDED))
    headers = dict(office.written()[0].headers)
    assert headers["__dlq.errors.delivery.count"] == b"5"
    assert headers["__dlq.errors.message"] == b"Offset delivery count exceeded the threshold."


@pytest.mark.behaviour("AK-16")
def test_partition_is_that_of_the_source_modulo_those_of_the_topic() -> None:
    office = Office(partitions=5)
    office.with_topic(2)
    for partition in range(5):
        office.send(rejected(0, 0), partition=partition)
    assert [dict(one.headers)["__dlq.errors.partition"] for one in office.written(0)] == [b"0", b"2", b"4"]
    assert [dict(one.headers)["__dlq.errors.partition"] for one in office.written(1)] == [b"1", b"3"]


@pytest.mark.behaviour("AK-16")
@pytest.mark.parametrize("compression", [Compression.NONE, Compression.GZIP])
def test_copies_key_and_value_alone(compression: int) -> None:
    office = Office(copy=True)
    office.with_topic()
    records = record(b"k", b"v", headers=((b"h", b"1"),)), record(None, b"v"), record(b"k", None), record(b"", b"")
    produce(office, record(b"before", b"1"), *records, record(b"behind", b"2"), compression=compression)
    office.send(rejected(1, 4))
    found = office.written()
    assert [(one.key, one.value) for one in found] == [(one.key, one.value) for one in records]
    assert all(name.startswith("__dlq") for one in found for name, _ in one.headers)


def test_copies_nothing_where_the_first_record_was_deleted() -> None:
    office = Office(copy=True)
    office.with_topic()
    produce(office, *(record(b"k", b"v") for _ in range(6)))
    log = office.state.logs.log(office.orders.topic_id, 0)
    assert log is not None
    log.delete_records_before(3)
    office.send(rejected(0, 5))
    assert [one.key for one in office.written()] == [None] * 6
    assert office.archived == [rejected(0, 5)]


def test_what_is_larger_than_the_topic_takes_is_not_copied() -> None:
    office = Office(copy=True)
    office.with_topic(max_message_bytes="2000")
    produce(office, record(b"k", b"x" * 3000), record(b"k", b"x" * 700))
    produce(office, *(record(b"k", b"x" * 1000) for _ in range(5)), compression=Compression.GZIP)
    office.send(rejected(0, 6))
    assert [one.value for one in office.written()] == [None, b"x" * 700, *[None] * 5]


@pytest.mark.behaviour("AK-15")
def test_what_is_too_large_with_its_headers_is_lost() -> None:
    office = Office(copy=True)
    office.with_topic(max_message_bytes="2000")
    produce(office, record(b"k", b"x" * 1900), record(b"k", b"x" * 1900), record(b"k", b"x"))
    letters = [rejected(0, 0), rejected(1, 1), rejected(2, 2)]
    office.send(*letters)
    assert [one.value for one in office.written()] == [b"x"]
    assert office.archived == letters
    assert (office.dead_letters.written, office.dead_letters.failed) == (1, 2)


def test_batches_fit_the_topic() -> None:
    office = Office()
    office.with_topic(max_message_bytes="1000")
    office.send(rejected(0, 19))
    assert office.batches() == [list(range(first, first + 5)) for first in range(0, 20, 5)]


def test_letters_of_one_request_share_batches() -> None:
    office = Office()
    office.with_topic()
    letters = [rejected(offset, offset) for offset in (1, 3, 4)]
    office.send(*letters)
    assert office.batches() == [[1, 3, 4]]
    assert office.archived == letters


def test_letter_whose_records_are_too_large_is_given_up_as_a_whole() -> None:
    office = Office()
    office.with_topic(max_message_bytes="100")
    office.send(rejected(0, 2), rejected(5, 5))
    assert office.written() == []
    assert office.archived == [rejected(0, 2), rejected(5, 5)]


def test_recompressed_and_stamped_as_the_topic_says() -> None:
    office = Office()
    office.with_topic(compression_type="gzip", message_timestamp_type="LogAppendTime")
    office.send(rejected(0, 0))
    header = stretch(office.state, "dlq.orders", 0, 0, committed=False).batches[0].header()
    assert (header.compression, header.log_append_time) == (Compression.GZIP, True)


def test_clock_far_ahead_of_the_wall() -> None:
    office = Office()
    office.state.logs.wall_ms = lambda: office.desk.broker_ms - 30 * 86_400_000
    office.with_topic()
    office.send(rejected(0, 0))
    assert len(office.written()) == 1


@pytest.mark.parametrize(
    ("name", "rules", "why"),
    [
        ("", Rules(False, False, True, ""), "Configured DLQ topic name in share group: g is empty."),
        (
            "__dlq",
            Rules(True, True, True, ""),
            "Configured DLQ topic name in share group: g cannot start with __, topic: __dlq.",
        ),
        (
            "dlq.a",
            Rules(True, False, True, "dlq."),
            "DLQ is not enabled on configured DLQ topic for share group: g, topic: dlq.a.",
        ),
        (
            "dlq.a",
            Rules(False, False, False, "dlq."),
            "DLQ topic does not exist and auto create is disabled on cluster for share group: g, topic: dlq.a.",
        ),
        (
            "a",
            Rules(True, True, False, "dlq."),
            "Configured DLQ topic name does not comply with the DLQ topic prefix in share group: g, topic: a, "
            "prefix: dlq..",
        ),
        ("a", Rules(True, True, False, ""), None),
        ("dlq.a", Rules(False, False, True, "dlq."), None),
    ],
)  # fmt: skip
def test_refusals(name: str, rules: Rules, why: str | None) -> None:
    assert refusal("g", name, rules) == why


@pytest.mark.behaviour("AK-15")
@pytest.mark.parametrize("configs", [None, {}, DLQ])
def test_archived_though_it_cannot_be_written(configs: dict[str, Any] | None) -> None:
    """No such topic; one that is not for dead letters; one whose name is not allowed."""
    office = Office()
    if configs is not None:
        office.desk.topic("dlq.orders", **configs)
    if configs:
        office.state.config.set_dynamic({"errors.deadletterqueue.topic.name.prefix": "dead-"}, per_broker=False)
    office.send(rejected(0, 3))
    assert office.archived == [rejected(0, 3)]
    if configs is not None:
        assert office.written() == []


def test_topic_is_made_where_that_is_allowed() -> None:
    office = Office(config=AUTO_CREATE | {"num.partitions": "3"}, partitions=5)
    office.send(rejected(0, 1), partition=4)
    topic = office.state.cluster.topic("dlq.orders")
    assert topic is not None
    assert len(topic.partitions) == 3
    made_with = {"errors.deadletterqueue.group.enable": "true", "message.timestamp.type": "CreateTime"}
    assert topic.configs == made_with
    assert len(office.written(1)) == 2


def test_topic_with_an_impossible_name_is_not_made() -> None:
    office = Office(config=AUTO_CREATE)
    office.configure({"errors.deadletterqueue.topic.name": "dlq.a b"})
    office.send(rejected(0, 1))
    assert office.archived == [rejected(0, 1)]
    assert office.state.cluster.topic("dlq.a b") is None


def test_enabled_by_the_group_and_share_version() -> None:
    office = Office()
    assert office.dead_letters.enabled("g")
    assert not office.dead_letters.enabled("another")
    office.configure({"errors.deadletterqueue.topic.name": ""})
    assert not office.dead_letters.enabled("g")
    office.configure({"errors.deadletterqueue.topic.name": "dlq.orders"})
    office.state.features.update([("share.version", 1, 2)])
    assert not office.dead_letters.enabled("g")


def test_waits_for_a_leader() -> None:
    office = Office()
    topic = office.with_topic()
    leader, topic.partitions[0].leader = topic.partitions[0].leader, -1
    office.send(rejected(0, 1))
    assert office.archived == []
    assert 1600 <= office.wait() <= 2400
    assert 3200 <= office.wait() <= 4800
    topic.partitions[0].leader = leader
    assert 6400 <= office.wait() <= 9600
    assert office.batches() == [[0, 1]]
    assert office.archived == [rejected(0, 1)]
    assert office.dead_letters.next_deadline() is None


@pytest.mark.behaviour("AK-15")
def test_gives_up_after_five_attempts() -> None:
    office = Office()
    office.with_topic().partitions[0].leader = -1
    office.send(rejected(0, 1))
    assert [office.wait() > 0 for _ in range(4)] == [True] * 4
    assert office.archived == [rejected(0, 1)]
    assert office.dead_letters.next_deadline() is None


def test_others_do_not_wait_for_a_leader_with_it() -> None:
    office = Office(partitions=2)
    office.with_topic(2).partitions[0].leader = -1
    office.send(rejected(0, 1))
    office.send(rejected(7, 7), partition=1)
    assert office.archived == [rejected(7, 7)]


def test_leader_that_goes_while_a_letter_is_written() -> None:
    office = Office()
    topic = office.with_topic()
    office.send(rejected(0, 999), rejected(2000, 2000))
    before = office.offsets()
    assert 0 < len(before) < 1000
    leader, topic.partitions[0].leader = topic.partitions[0].leader, -1
    office.finish()
    topic.partitions[0].leader = leader
    office.wait()
    office.finish()
    assert office.offsets() == [*range(1000), 2000]
    assert office.archived == [rejected(0, 999), rejected(2000, 2000)]


def test_topic_that_is_deleted_while_a_letter_is_written() -> None:
    office = Office()
    office.with_topic()
    office.send(rejected(0, 999), rejected(2000, 2000))
    office.desk.delete("dlq.orders")
    office.finish()
    assert office.archived == [rejected(0, 999), rejected(2000, 2000)]
    assert office.dead_letters.written + office.dead_letters.failed == 1001


def test_forgotten_ones_are_not_written() -> None:
    office = Office()
    topic = office.with_topic()
    leader, topic.partitions[0].leader = topic.partitions[0].leader, -1
    office.send(rejected(0, 1))
    office.dead_letters.forget({("g", office.orders.topic_id, 0)})
    topic.partitions[0].leader = leader
    assert office.dead_letters.next_deadline() is None
    assert (office.written(), office.archived, len(office.dead_letters)) == ([], [], 0)


def test_more_records_than_anybody_has_in_a_batch_have_no_dead_letters() -> None:
    """What a batch says of itself may be a lie."""
    office = Office()
    office.with_topic()
    office.send(rejected(0, 2**31 - 2), rejected(2**31, 2**31 + 1))
    assert office.finish() == 0
    assert office.offsets() == [2**31, 2**31 + 1]
    assert sorted(office.archived) == [rejected(0, 2**31 - 2), rejected(2**31, 2**31 + 1)]


def test_many_take_their_turns() -> None:
    office = Office()
    office.with_topic()
    office.send(*(rejected(offset, offset) for offset in range(2000)))
    assert 0 < len(office.archived) <= 300
    assert office.finish() >= 6
    assert office.archived == [rejected(offset, offset) for offset in range(2000)]
    assert office.offsets() == list(range(2000))


def test_what_is_sent_while_something_is_archived() -> None:
    office = Office()
    office.with_topic()
    archived = office.archived

    def archive(letter: DeadLetter, now: tuple[int, int]) -> None:
        archived.append(letter)
        if letter.first_offset == 0:
            office.send(rejected(9, 9))

    office.dead_letters.send("g", office.orders.topic_id, 0, [rejected(0, 0), rejected(1, 1)], archive, (0, 0))
    office.finish()
    assert archived == [rejected(0, 0), rejected(1, 1), rejected(9, 9)]


SIZES = st.integers(0, 2500)
MOST = 2000


def size_alone(offset: int, value: bytes | None) -> int:
    """Bytes of the batch with this dead letter alone."""
    office = Office()
    office.with_topic()
    office.send(rejected(offset, offset))
    headers = tuple((name.encode(), content) for name, content in office.written()[0].headers)
    return HEADER_SIZE + record_size(0, 0, record(None, value, headers=headers))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.lists(SIZES, min_size=1, max_size=6), st.booleans()), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), min_size=1, max_size=6),
    st.booleans(),
)
def test_each_offset_has_its_record_or_is_too_large(
    sources: list[tuple[list[int], bool]], ranges: list[tuple[int, int]], copy: bool
) -> None:
    """Model: letter by letter, offset by offset, up to the first that is too large for a batch of its own."""
    office = Office(copy=copy)
    office.with_topic(max_message_bytes=str(MOST))
    values: dict[int, bytes | None] = {}
    for sizes, packed in sources:
        contents = [b"x" * size for size in sizes]
        bytes_of = [record_size(at, 0, record(None, one)) for at, one in enumerate(contents)]
        for one, size in zip(contents, bytes_of, strict=True):
            fits = sum(bytes_of) <= MOST if packed else size <= MOST
            values[len(values)] = one if copy and fits else None
        compression = Compression.GZIP if packed else Compression.NONE
        produce(office, *(record(None, one) for one in contents), compression=compression)
    letters = [rejected(first, first + more) for first, more in ranges]
    expected = []
    for letter in letters:
        for offset in range(letter.first_offset, letter.last_offset + 1):
            if size_alone(offset, values.get(offset)) > MOST:
                break
            expected.append((offset, values.get(offset)))
    office.send(*letters)
    office.finish()
    assert office.archived == letters
    found = [(int(dict(one.headers)["__dlq.errors.offset"] or b""), one.value) for one in office.written()]
    assert found == expected
    assert all(batch.size <= MOST for batch in stretch(office.state, "dlq.orders", 0, 0, committed=False).batches)
