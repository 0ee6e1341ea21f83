"""`stub.transactions`: what a test sees of transactional ids, and what it can do to them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from kafkastub import KafkaStub, StubError, TransactionTimeout
from kafkastub.views.transactions import HangingTransaction, each_hanging
from kafkawire.errors import KafkaError
from tests.waiting import SECONDS

BOTH = (("orders", 0), ("orders", 1))


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 2}) as stub:
        yield stub


def producing(stub: KafkaStub, transactional_id: str = "shop", partitions: int = 2) -> Producer:
    """A producer whose transaction has a record in each partition."""
    producer = Producer({"bootstrap.servers": stub.bootstrap_servers, "transactional.id": transactional_id})
    producer.init_transactions(SECONDS)
    producer.begin_transaction()
    for partition in range(partitions):
        producer.produce("orders", f"{transactional_id} {partition}".encode(), partition=partition)
    producer.flush()
    return producer


def committed(stub: KafkaStub, partition: int = 0) -> list[bytes]:
    """What a reader of committed records gets, up to where it can come."""
    config = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "g", "enable.partition.eof": True}
    config["fetch.wait.max.ms"] = 10
    consumer = Consumer({**config, "isolation.level": "read_committed", "auto.offset.reset": "earliest"})
    consumer.assign([TopicPartition("orders", partition, 0)])
    found = []
    while (message := consumer.poll(SECONDS)) is not None and message.error() is None:
        found.append(message.value())
    consumer.close()
    return found


def test_there_is_nothing_before_the_first_transaction(stub: KafkaStub) -> None:
    assert dict(stub.transactions) == {}
    assert len(stub.transactions) == 0
    assert stub.transactions.find_hanging() == []
    with pytest.raises(KeyError, match="no transactional id 'shop'"):
        stub.transactions["shop"]
    with pytest.raises(KeyError, match="no transactional id 'shop'"):
        stub.transactions.abort("shop")
    stub.transactions.release_markers("shop")
    assert stub._running().state.has_transactions is False


def test_a_transaction_from_its_beginning_to_its_end(stub: KafkaStub) -> None:
    producer = producing(stub)
    now = stub.transactions["shop"]
    assert (now.state, now.timeout_ms, now.partitions, now.held) == ("Ongoing", 60_000, BOTH, False)
    assert (now.producer_id, now.producer_epoch) == (0, 0)
    assert now.start_ms is not None
    assert abs(now.start_ms - stub.clock.now_ms()) < 60_000
    assert list(stub.transactions) == ["shop"]
    assert committed(stub) == []
    producer.commit_transaction(SECONDS)
    then = stub.transactions["shop"]
    assert (then.state, then.partitions, then.pending_markers) == ("CompleteCommit", (), ())
    assert committed(stub) == [b"shop 0"]


def test_markers_that_are_held_keep_a_transaction_between_decision_and_end(stub: KafkaStub) -> None:
    producer = producing(stub)
    with stub.transactions.hold_markers("shop"):
        producer.commit_transaction(SECONDS)
        now = stub.transactions["shop"]
        assert (now.state, now.held) == ("PrepareCommit", True)
        assert set(now.partitions) == set(now.pending_markers) == set(BOTH)
        assert committed(stub) == []
    assert stub.transactions["shop"].state == "CompleteCommit"
    assert stub.transactions["shop"].held is False
    assert committed(stub) == [b"shop 0"]


def test_markers_of_others_are_not_held(stub: KafkaStub) -> None:
    stub.transactions.hold_markers("other")
    producing(stub).commit_transaction(SECONDS)
    assert stub.transactions["shop"].state == "CompleteCommit"


def test_an_abort_fences_the_producer(stub: KafkaStub) -> None:
    producer = producing(stub)
    stub.transactions.abort("shop")
    now = stub.transactions["shop"]
    assert (now.state, now.producer_epoch) == ("CompleteAbort", 1)
    with pytest.raises(KafkaException) as refused:
        producer.commit_transaction(SECONDS)
    assert refused.value.args[0].fatal()
    assert committed(stub) == []
    with pytest.raises(ValueError, match="no transaction is open: it is CompleteAbort"):
        stub.transactions.abort("shop")


def test_a_hanging_transaction_holds_readers_until_it_is_aborted(stub: KafkaStub) -> None:
    hanging = stub.transactions.hang("orders", 1, b"never")
    producing(stub).commit_transaction(SECONDS)
    assert (hanging.topic, hanging.partition, hanging.start_offset) == ("orders", 1, 0)
    assert committed(stub, 0) == [b"shop 0"]
    assert committed(stub, 1) == []
    assert stub.transactions.find_hanging() == [hanging]
    stub.transactions.abort(hanging)
    assert stub.transactions.find_hanging() == []
    assert committed(stub, 1) == [b"shop 1"]
    with pytest.raises(ValueError, match="has no hanging transaction of producer"):
        stub.transactions.abort(hanging)


def test_what_goes_on_does_not_hang(stub: KafkaStub) -> None:
    producer = producing(stub)
    assert stub.transactions.find_hanging() == []
    with stub.transactions.hold_markers("shop"):
        producer.commit_transaction(SECONDS)
        assert stub.transactions.find_hanging() == []


def looked_for(stub: KafkaStub, meanwhile: Callable[[], object], after: int) -> list[HangingTransaction]:
    """Those that hang in `orders`, where something happens after so many of the looks."""
    state = stub._running().state
    steps = stub._call(lambda: each_hanging(state, state.transactions, BOTH))
    found = [stub._call(lambda: next(steps)) for _ in range(after)]
    meanwhile()
    return [one for one in found + stub._call(lambda: list(steps)) if one is not None]


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_what_ends_while_it_is_looked_for_does_not_hang(stub: KafkaStub, after: int) -> None:
    producer = producing(stub)
    assert looked_for(stub, lambda: producer.commit_transaction(SECONDS), after) == []


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_what_begins_while_others_are_looked_for_does_not_hang(stub: KafkaStub, after: int) -> None:
    hanging = stub.transactions.hang("orders", 0)
    producing(stub).commit_transaction(SECONDS)
    found = looked_for(stub, lambda: producing(stub, "other"), after)
    assert found == [hanging]


def test_nothing_hangs_by_a_coordinator_that_begins_to_load(stub: KafkaStub) -> None:
    stub.transactions.hang("orders", 0)
    producing(stub)
    loading = stub.coordinator_loading()
    with pytest.raises(KafkaError, match="COORDINATOR_LOAD_IN_PROGRESS"), ExitStack() as stack:
        looked_for(stub, lambda: stack.enter_context(loading), 1)


@pytest.mark.parametrize(
    ("topic", "partition", "error", "why"),
    [
        ("orders", 2, KeyError, "no partition 2 of a topic 'orders'"),
        ("nothing", 0, KeyError, "no partition 0 of a topic 'nothing'"),
        ("__transaction_state", 0, ValueError, "written by the broker itself"),
    ],
)
def test_where_no_transaction_can_hang(
    stub: KafkaStub, topic: str, partition: int, error: type[Exception], why: str
) -> None:
    producing(stub)
    with pytest.raises(error, match=why):
        stub.transactions.hang(topic, partition)


def test_waiting_for_the_end_of_a_transaction(stub: KafkaStub) -> None:
    producer = producing(stub)
    with stub.transactions.hold_markers("shop"):
        producer.commit_transaction(SECONDS)
        with pytest.raises(TransactionTimeout, match="'shop' is PrepareCommit after 0 s, CompleteCommit was waited"):
            stub.transactions.wait("shop", state="CompleteCommit", timeout=0)
        release = threading.Timer(0.05, stub.transactions.release_markers, ["shop"])
        release.start()
        found = stub.transactions.wait("shop", state="completecommit", timeout=SECONDS)
        release.join()
    assert found is not None
    assert found.state == "CompleteCommit"
    assert stub._running().state.transactions.watchers == []
    assert stub.transactions.wait("nobody", state="Dead", timeout=0) is None
    with pytest.raises(TransactionTimeout, match=r"'nobody' is not there \(Dead\) after 0 s, Empty was waited for"):
        stub.transactions.wait("nobody", state="Empty", timeout=0)
    with pytest.raises(ValueError, match="state='Finished' is refused: expected one of Empty, Ongoing"):
        stub.transactions.wait("shop", state="Finished")


async def test_waiting_beside_a_client_on_the_same_loop(stub: KafkaStub) -> None:
    producer = producing(stub)
    stub.transactions.hold_markers("shop")
    await asyncio.to_thread(producer.commit_transaction, SECONDS)
    waiting = asyncio.create_task(asyncio.to_thread(stub.transactions.wait, "shop", state="CompleteCommit"))
    stub.transactions.release_markers("shop")
    assert (await waiting) is not None


def test_the_coordinator_of_a_transactional_id_moves() -> None:
    with KafkaStub(topics={"orders": 2}, nodes=2) as stub:
        producer = producing(stub)
        there = stub.transactions.coordinator_of("shop")
        other = 3 - there
        stub.transactions.move_coordinator("shop", other)
        assert stub.transactions.coordinator_of("shop") == other
        producer.commit_transaction(SECONDS)
        assert stub.transactions["shop"].state == "CompleteCommit"
        assert committed(stub) == [b"shop 0"]
        with pytest.raises(ValueError, match="7"):
            stub.transactions.move_coordinator("shop", 7)


@pytest.mark.parametrize("name", ["", None, 7])
def test_a_transactional_id_that_is_none(stub: KafkaStub, name: object) -> None:
    with pytest.raises(TypeError, match="expected a string"):
        stub.transactions.hold_markers(name)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a string"):
        stub.transactions.coordinator_of(name)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a string"):
        stub.transactions.wait(name, state="Empty", timeout=0.01)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda stub: stub.transactions.abort(7), "7 cannot be aborted: expected a transactional id"),
        (lambda stub: stub.transactions.wait("shop", state=("Empty", "Ongoing")), r"state=\('Empty', 'Ongoing'\)"),
        (lambda stub: stub.transactions.hang(7), "topic=7 is refused: expected a string"),
        (lambda stub: stub.transactions.hang("orders", "0"), "partition='0' is refused: expected a whole number"),
        (lambda stub: stub.transactions.hang("orders", 0, "text"), "value='text' is refused: expected bytes"),
    ],
)
def test_what_is_of_the_wrong_type(stub: KafkaStub, wrong: Callable[[KafkaStub], object], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        wrong(stub)
    assert stub.transactions.find_hanging() == []


def test_while_the_coordinator_is_loading(stub: KafkaStub) -> None:
    producing(stub)
    with stub.coordinator_loading():
        for ask in (
            lambda: stub.transactions["shop"],
            lambda: len(stub.transactions),
            lambda: stub.transactions.abort("shop"),
            stub.transactions.find_hanging,
        ):
            with pytest.raises(StubError, match="is being loaded"):
                ask()
        with pytest.raises(TransactionTimeout, match="is being loaded after 0 s"):
            stub.transactions.wait("shop", state="Ongoing", timeout=0)
    assert stub.transactions["shop"].state == "Ongoing"
    assert stub.transactions.find_hanging() == []


def test_open_offsets_do_not_hang(stub: KafkaStub) -> None:
    producer = producing(stub)
    consumer = Consumer({"bootstrap.servers": stub.bootstrap_servers, "group.id": "g"})
    offset = [TopicPartition("orders", 0, 1)]
    producer.send_offsets_to_transaction(offset, consumer.consumer_group_metadata(), SECONDS)
    assert "__consumer_offsets" in {topic for topic, _ in stub.transactions["shop"].partitions}
    assert stub.transactions.find_hanging() == []
    producer.commit_transaction(SECONDS)
    assert consumer.committed([TopicPartition("orders", 0)], SECONDS)[0].offset == 1
    consumer.close()


@pytest.mark.parametrize("flush", ["message", "never"])
def test_with_a_data_directory(tmp_path: Path, flush: str) -> None:
    config = {"kafkastub.flush": flush}
    with KafkaStub(topics={"orders": 2}, data_dir=tmp_path, config=config) as stub:
        producer = producing(stub)
        with stub.transactions.hold_markers("shop"):
            producer.commit_transaction(SECONDS)
            assert stub.transactions["shop"].state == "PrepareCommit"
        stub.transactions.wait("shop", state="CompleteCommit", timeout=SECONDS)
        producing(stub, "other")
        stub.transactions.abort("other")
        stub.transactions.wait("other", state="CompleteAbort", timeout=SECONDS)
        hanging = stub.transactions.hang("orders", 1)
        open_one = producing(stub, "open", partitions=1)
    with KafkaStub(data_dir=tmp_path, config=config) as stub:
        states = {name: one.state for name, one in stub.transactions.items()}
        assert states == {"shop": "CompleteCommit", "other": "CompleteAbort", "open": "Ongoing"}
        (left,) = stub.transactions.find_hanging()
        assert left._replace(last_timestamp_ms=0) == hanging._replace(last_timestamp_ms=0)
        stub.transactions.abort(left)
        assert committed(stub, 1) == [b"shop 1"]
    del open_one


def test_what_is_held_at_the_end_is_complete_at_the_next_start(tmp_path: Path) -> None:
    with KafkaStub(topics={"orders": 2}, data_dir=tmp_path) as stub:
        producer = producing(stub)
        stub.transactions.hold_markers("shop")
        producer.commit_transaction(SECONDS)
        assert committed(stub) == []
    with KafkaStub(data_dir=tmp_path) as stub:
        done = stub.transactions.wait("shop", state="CompleteCommit", timeout=SECONDS)
        assert done is not None
        assert not done.held
        assert committed(stub) == [b"shop 0"]


def test_a_stub_that_is_closed() -> None:
    with KafkaStub() as stub:
        transactions = stub.transactions
    with pytest.raises(StubError):
        transactions.find_hanging()


def test_a_stub_in_a_process_of_its_own() -> None:
    with KafkaStub(topics={"orders": 2}, process=True) as stub:
        producer = producing(stub)
        assert "shop" in stub.transactions
        assert "nobody" not in stub.transactions
        now = stub.transactions["shop"]
        assert dict(stub.transactions) == dict(stub.transactions.items()) == {"shop": now}
        assert (list(stub.transactions.keys()), list(stub.transactions.values())) == (["shop"], [now])
        with stub.transactions.hold_markers("shop"):
            producer.commit_transaction(SECONDS)
            assert stub.transactions["shop"].state == "PrepareCommit"
        assert stub.transactions["shop"].state == "CompleteCommit"
        hanging = stub.transactions.hang("orders")
        stub.transactions.abort(hanging)
        assert stub.transactions.find_hanging() == []


def test_who_is_forgotten_is_waited_for(stub: KafkaStub) -> None:
    producing(stub).commit_transaction(SECONDS)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(stub.transactions.wait, "shop", state="Dead", timeout=SECONDS)
        stub.clock.advance(days=7)
        assert waiting.result(SECONDS) is None
    assert list(stub.transactions) == []
