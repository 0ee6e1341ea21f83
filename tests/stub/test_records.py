"""Records and offsets without a client: `stub.produce`, `stub.records`, `stub.commit`, `stub.lag`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kafkastub import GroupTimeout, KafkaStub, RecordsTimeout, TopicError
from tests.waiting import SECONDS, until


@pytest.fixture(params=[False, True], ids=["thread", "process"])
def stub(request: pytest.FixtureRequest) -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 3, "one": 1}, process=request.param) as running:
        yield running


def consumer(stub: KafkaStub, **settings: Any) -> Consumer:
    return Consumer(
        {"bootstrap.servers": stub.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest", **settings}
    )


def test_a_consumer_gets_what_the_test_wrote(stub: KafkaStub) -> None:
    stub.clock.freeze()
    where = stub.produce("one", "värde", key="k", headers={"h": "x", "n": None}, timestamp=1_700_000_000_000)
    assert where == ("one", 0, 0, 1_700_000_000_000)
    assert stub.produce("one", None, key=b"k").timestamp == stub.clock.now_ms()
    reader = consumer(stub)
    reader.assign([TopicPartition("one", 0, 0)])
    first, second = reader.consume(2, SECONDS)
    assert (first.key(), first.value(), first.headers()) == (b"k", "värde".encode(), [("h", b"x"), ("n", None)])
    assert first.timestamp()[1] == 1_700_000_000_000
    assert (second.key(), second.value()) == (b"k", None)
    reader.close()


def test_a_waiting_consumer_is_woken() -> None:
    with KafkaStub(topics={"one": 1}) as stub, ThreadPoolExecutor() as pool:
        reader = consumer(stub, **{"fetch.wait.max.ms": 30_000})
        reader.assign([TopicPartition("one", 0, 0)])
        with stub.faults.add(api="Fetch", hold="before", times=1) as fetching:
            found = pool.submit(lambda: until(lambda: reader.poll(1), "a record"))
            fetching.wait(held=1, timeout=SECONDS)
        stub.produce("one", "v")
        assert found.result(SECONDS).value() == b"v"
        reader.close()


def test_keys_go_where_kafkas_producers_put_them(stub: KafkaStub) -> None:
    producer = Producer({"bootstrap.servers": stub.bootstrap_servers, "partitioner": "murmur2_random"})
    keys = [f"key-{number}" for number in range(40)]
    for key in keys:
        producer.produce("orders", b"v", key=key)
    producer.flush(SECONDS)
    theirs = {record.key: record.partition for record in stub.records("orders")}
    ours = {key.encode(): stub.produce("orders", key=key).partition for key in keys}
    assert ours == theirs
    assert [stub.produce("orders", "v").partition for _ in range(4)] == [0, 1, 2, 0]


def test_what_transactions_have_become_is_told(stub: KafkaStub) -> None:
    producer = Producer({"bootstrap.servers": stub.bootstrap_servers, "transactional.id": "t"})
    producer.init_transactions(SECONDS)
    for end in (producer.commit_transaction, producer.abort_transaction, producer.flush):
        producer.begin_transaction()
        producer.produce("one", end.__name__)
        producer.flush(SECONDS)
        end(SECONDS)
    stub.produce("one", "plain")
    found = [(record.value, record.transaction) for record in stub.records("one")]
    assert found == [
        (b"commit_transaction", "committed"),
        (b"abort_transaction", "aborted"),
        (b"flush", "open"),
        (b"plain", None),
    ]
    assert [record.value for record in stub.records("one", isolation="read_committed")] == [b"commit_transaction"]


def test_values_are_read_as_the_test_wants_them(stub: KafkaStub) -> None:
    for number in range(3):
        stub.produce("one", json.dumps({"number": number}), key=str(number))
    stub.produce("one", None)
    read = stub.records("one", deserializer=json.loads, key_deserializer=int)
    assert [(record.key, record.value) for record in read] == [
        (0, {"number": 0}),
        (1, {"number": 1}),
        (2, {"number": 2}),
        (None, None),
    ]
    assert [record.offset for record in stub.records("one", 0, offset=2)] == [2, 3]


def test_what_cannot_be_deserialized_is_named() -> None:
    with KafkaStub(topics=["one"]) as stub:
        stub.produce("one", "5")
        stub.produce("one", "five")
        with pytest.raises(ValueError, match="five") as failed:
            stub.records("one", deserializer=int)
        assert "one-0@1" in failed.value.__notes__[0]


def test_records_of_a_client_are_waited_for(stub: KafkaStub) -> None:
    producer = Producer({"bootstrap.servers": stub.bootstrap_servers})
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(stub.records.wait, "orders", 2, timeout=SECONDS)
        for partition in (2, 0):
            producer.produce("orders", str(partition), partition=partition)
            producer.flush(SECONDS)
        assert sorted(record.value for record in waiting.result(SECONDS)) == [b"0", b"2"]


def test_a_wait_in_vain_says_what_there_is() -> None:
    with KafkaStub(topics=["one"]) as stub:
        stub.produce("one", "there")
        with pytest.raises(RecordsTimeout, match=r"has 1 record after 0\.01 s, 2 were .*one-0@0 .*b'there'"):
            stub.records.wait("one", 2, timeout=0.01)
        with pytest.raises(RecordsTimeout, match="has 0 of 1 records that match after 0 s, 1 were"):
            stub.records.wait("one", match=lambda record: record.value == b"other", timeout=0)


def test_offsets_and_lag(stub: KafkaStub) -> None:
    for _ in range(5):
        stub.produce("one", "v")
    stub.commit("g", {("one", 0): 2, ("orders", 1): 0}, "by hand")
    assert stub.lag("g") == {("one", 0): 3, ("orders", 1): 0}
    reader = consumer(stub, **{"enable.auto.commit": False})
    (found,) = reader.committed([TopicPartition("one", 0)], SECONDS)
    assert (found.offset, found.metadata) == (2, "by hand")
    with ThreadPoolExecutor() as pool:
        caught_up = pool.submit(stub.offsets.wait_lag, "g", "one", timeout=SECONDS)
        reader.commit(offsets=[TopicPartition("one", 0, 5)], asynchronous=False)
        caught_up.result(SECONDS)
    reader.close()


def test_a_group_that_is_behind_is_told_by_how_much(stub: KafkaStub) -> None:
    stub.produce("one", "v")
    with pytest.raises(GroupTimeout, match="group 'g' does not exist after 0 s, a lag of at most 0"):
        stub.offsets.wait_lag("g", timeout=0)
    stub.commit("g", {("one", 0): 0})
    with pytest.raises(GroupTimeout, match="'g' is behind by 1 in one-0 after"):
        stub.offsets.wait_lag("g", timeout=0)
    stub.offsets.wait_lag("g", at_most=1, timeout=0)
    stub.produce("orders", "v", partition=1)
    with pytest.raises(GroupTimeout, match="has committed nothing of orders-1"):
        stub.offsets.wait_lag("g", "orders", timeout=0)
    stub.offsets.wait_lag("g", at_most=1, timeout=0)
    stub.commit("g", {("orders", 0): 0})
    with pytest.raises(GroupTimeout, match="has committed nothing of orders-1"):
        stub.offsets.wait_lag("g", at_most=1, timeout=0)


@pytest.mark.parametrize("days", [8, -8])
def test_records_are_written_at_any_time_that_the_clock_is_set_to(stub: KafkaStub, days: int) -> None:
    stub.create_topic("bounded", configs={"message.timestamp.before.max.ms": "3600000"})
    stub.clock.set(stub.clock.now() + timedelta(days=days))
    produced = stub.produce("bounded", "now")
    # who reads it and writes with its timestamp, as Kafka Streams does, may
    producer = Producer({"bootstrap.servers": stub.bootstrap_servers, "linger.ms": 0})
    producer.produce("bounded", "passed on", timestamp=produced.timestamp)
    producer.produce("bounded", "stamped by the client's clock")
    assert producer.flush(SECONDS) == 0
    assert len(stub.records("bounded")) == 3
    with pytest.raises(TopicError, match="timestamp"):
        stub.produce("bounded", "far from both", timestamp=produced.timestamp + 2 * 8 * 24 * 3_600_000)


@pytest.mark.parametrize(
    ("ask", "refused"),
    [
        (lambda stub: stub.produce("nope", "v"), KeyError),
        (lambda stub: stub.produce("bounded", "v", partition=7), KeyError),
        (lambda stub: stub.produce("one", 5), TypeError),
        (lambda stub: stub.produce("one", "v" * 2_000_000), TopicError),
        (lambda stub: stub.produce("__consumer_offsets", "v"), (TopicError, KeyError)),
        (lambda stub: stub.records("nope"), KeyError),
        (lambda stub: stub.records("one", isolation="none"), ValueError),
        (lambda stub: stub.records("one", deserializer="int"), TypeError),
        (lambda stub: stub.records.wait("nope", timeout=0), RecordsTimeout),
        (lambda stub: stub.records.wait("one", -1, timeout=0), ValueError),
        (lambda stub: stub.commit("g", {("nope", 0): 1}), KeyError),
        (lambda stub: stub.commit("g", {("one", 0): -1}), ValueError),
        (lambda stub: stub.commit("g", {"one": 1}), TypeError),
        (lambda stub: stub.commit("g", {("one", 0): 1}, "m" * 5000), ValueError),
        (lambda stub: stub.lag("nope"), KeyError),
        (lambda stub: stub.offsets.wait_lag("g", at_most="0"), TypeError),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_has_happened(ask: Any, refused: Any) -> None:
    with KafkaStub(topics=["one"]) as stub:
        with pytest.raises(refused):
            ask(stub)
        assert stub.records("one") == []
        with pytest.raises(KeyError):
            stub.lag("g")


def test_nobody_commits_for_a_group_with_members(stub: KafkaStub) -> None:
    reader = consumer(stub)
    reader.subscribe(["one"])
    until(lambda: reader.poll(0.05) or _has_members(stub), "a member")
    with pytest.raises(ValueError, match="'g' has members"):
        stub.commit("g", {("one", 0): 1})
    reader.close()


def _has_members(stub: KafkaStub) -> bool:
    try:
        stub.wait_group("g", members=1, timeout=0)
    except GroupTimeout:
        return False
    return True


def test_records_are_waited_for_before_their_topic_is_there() -> None:
    """As of a worker whose first record makes the topic."""
    with KafkaStub() as stub, ThreadPoolExecutor() as pool:
        with pytest.raises(RecordsTimeout, match=r"topic 'later' does not exist after 0 s, 1 record was waited for"):
            stub.records.wait("later", timeout=0)
        waiting = pool.submit(stub.records.wait, "later", 2, timeout=SECONDS)
        until(lambda: stub._running().state.topic_watchers, "somebody who waits")
        stub.create_topic("later", 2)
        for index in range(2):
            stub.produce("later", f"{index}", partition=index)
        assert [record.value for record in waiting.result(SECONDS)] == [b"0", b"1"]
        assert not stub._running().state.topic_watchers


def test_records_that_a_restore_brings_are_seen_at_once() -> None:
    with KafkaStub(topics=["orders"]) as stub, ThreadPoolExecutor() as pool:
        nothing = stub.snapshot()
        stub.produce("orders", "x")
        one = stub.snapshot()
        stub.restore(nothing)
        waiting = pool.submit(stub.records.wait, "orders", 1, timeout=SECONDS)
        until(lambda: stub._running().state.topic_watchers, "somebody who waits")
        stub.restore(one)
        assert [record.value for record in waiting.result(SECONDS / 4)] == [b"x"]
        waiting = pool.submit(stub.records.wait, "orders", 2, timeout=SECONDS)
        until(lambda: stub._running().state.topic_watchers, "somebody who waits")
        stub.restore(nothing)
        for _ in range(2):
            stub.produce("orders", "x")
        assert len(waiting.result(SECONDS / 4)) == 2
