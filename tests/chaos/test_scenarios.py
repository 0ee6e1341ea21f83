"""Requests of a transaction that overtake each other: what clients of version 1 lose, and those of version 2 do not."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, cast

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from kafkastub import FaultError, KafkaProxy, KafkaStub
from kafkastub.client import Client, groups
from kafkastub.client.routing import TRANSACTION
from kafkastub.faults import SCENARIOS
from kafkawire.errors import ErrorCode
from kafkawire.messages.end_txn_request import EndTxnRequest
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.records import NewRecord, build_batch
from tests.conftest import CONFIG
from tests.fronts import clean
from tests.oracle.jars import OracleError, compiled, java_command
from tests.waiting import SECONDS, until

JAVA: Final = Path(__file__).parent / "java"
QUICK = {"retry.backoff.ms": 5, "reconnect.backoff.ms": 5, "reconnect.backoff.max.ms": 20, "log_level": 0}
Front = Callable[[str], Any]
"""A broker that plays a scenario."""


@contextmanager
def _stub(scenario: str) -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 2}, config=CONFIG, chaos=scenario) as stub:
        yield stub


@contextmanager
def _proxy(servers: str, scenario: str) -> Iterator[KafkaStub]:
    with KafkaProxy(servers, chaos=scenario) as proxy:
        proxy.create_topic("orders", 2)
        yield cast(KafkaStub, proxy)


@pytest.fixture(params=["stub", "proxy", pytest.param("kafka", marks=pytest.mark.oracle_proxy)])
def front(request: pytest.FixtureRequest) -> Iterator[Front]:
    """On the stub, through a proxy in front of one, and through a proxy in front of Apache Kafka."""
    with ExitStack() as behind:

        def make(scenario: str) -> Any:
            if request.param == "stub":
                return _stub(scenario)
            if request.param == "proxy":
                return _proxy(behind.enter_context(KafkaStub(config=CONFIG)).bootstrap_servers, scenario)
            servers = request.getfixturevalue("apache_kafka").bootstrap_servers
            clean(servers)
            return _proxy(servers, scenario)

        yield make


def producer_of(stub: KafkaStub, name: str = "shop") -> Producer:
    producer = Producer({"bootstrap.servers": stub.bootstrap_servers, "transactional.id": name, **QUICK})
    producer.init_transactions(SECONDS)
    return producer


def write(producer: Producer, value: str, partition: int) -> None:
    producer.produce("orders", value, partition=partition)
    assert producer.flush(SECONDS) == 0


def transaction(producer: Producer, value: str, partition: int) -> None:
    producer.begin_transaction()
    producer.produce("orders", value, partition=partition)
    producer.flush(SECONDS)
    producer.commit_transaction(SECONDS)


def has_arrived(stub: KafkaStub) -> None:
    until(lambda: any("has arrived" in act.what for act in stub.chaos.acts), "what the network has held back")


def committed(stub: KafkaStub) -> set[str]:
    """What a reader of committed records gets."""
    reader = Consumer(
        {
            "bootstrap.servers": stub.bootstrap_servers,
            "group.id": "reader",
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 10,
        }
    )
    found, ended = set(), set()
    reader.assign([TopicPartition("orders", index, 0) for index in range(2)])
    while len(ended) < 2:
        message = reader.poll(SECONDS)
        assert message is not None
        if message.error() is None:
            found.add(message.value().decode())
        else:
            ended.add(message.partition())
    reader.close()
    return found


def test_a_late_abort_loses_acknowledged_writes_of_a_committed_transaction(front: Front) -> None:
    with front("late-abort") as stub:
        producer = producer_of(stub)
        producer.begin_transaction()
        write(producer, "aborted", 0)
        producer.abort_transaction(SECONDS)
        producer.begin_transaction()
        write(producer, "lost", 0)
        has_arrived(stub)
        write(producer, "kept", 1)
        producer.commit_transaction(SECONDS)
        until(lambda: committed(stub) == {"kept"}, "the rest of the transaction, and nothing else")


def test_a_late_commit_lets_aborted_writes_be_read(front: Front) -> None:
    with front("late-commit") as stub:
        producer = producer_of(stub)
        producer.begin_transaction()
        write(producer, "first", 0)
        producer.commit_transaction(SECONDS)
        producer.begin_transaction()
        write(producer, "aborted", 0)
        has_arrived(stub)
        write(producer, "aborted, too", 1)
        producer.abort_transaction(SECONDS)
        until(lambda: committed(stub) == {"first", "aborted"}, "a part of the aborted transaction")


def test_a_transaction_of_one_partition_cannot_be_ended_any_more() -> None:
    with _stub("late-abort") as stub:
        producer = producer_of(stub)
        producer.begin_transaction()
        write(producer, "aborted", 0)
        producer.abort_transaction(SECONDS)
        producer.begin_transaction()
        write(producer, "lost", 0)
        has_arrived(stub)
        with pytest.raises(KafkaException) as refused:
            producer.commit_transaction(SECONDS)
        assert refused.value.args[0].fatal()
        assert committed(stub) == set()


def test_late_partitions_begin_a_transaction_that_fences_its_producer() -> None:
    with _stub("late-partitions") as stub:
        producer = producer_of(stub)
        producer.begin_transaction()
        write(producer, "first", 0)
        producer.commit_transaction(SECONDS)
        has_arrived(stub)
        until(lambda: stub.transactions["shop"].state == "Ongoing", "the transaction that nobody has begun")
        stub.clock.advance(minutes=1, timers=True)
        stub.transactions.wait("shop", state="CompleteAbort")
        with pytest.raises(KafkaException) as refused:
            transaction(producer, "second", 0)
        assert refused.value.args[0].fatal()
        assert committed(stub) == {"first"}


@pytest.mark.parametrize("scenario", ["late-records", "late-offsets"])
def test_late_records_and_offsets_do_no_harm(scenario: str) -> None:
    with _stub(scenario) as stub:
        producer = producer_of(stub)
        reader = Consumer({"bootstrap.servers": stub.bootstrap_servers, "group.id": "shipping"})
        for number in range(2):
            producer.begin_transaction()
            write(producer, str(number), number)
            offsets = [TopicPartition("orders", 0, number + 1)]
            producer.send_offsets_to_transaction(offsets, reader.consumer_group_metadata(), SECONDS)
            producer.commit_transaction(SECONDS)
            if not number:
                has_arrived(stub)
        reader.close()
        assert committed(stub) == {"0", "1"}
        assert [record.value for record in stub.records("orders")] == [b"0", b"1"]
        assert stub.transactions.find_hanging() == []
        assert stub.transactions["shop"].state == "CompleteCommit"
        with Client(stub.bootstrap_servers) as client:
            assert groups.offsets(client, "shipping")["orders", 0].offset == 2


def test_of_another_transactional_id_nothing_comes_late() -> None:
    with KafkaStub(topics={"orders": 2}, config=CONFIG) as stub:
        stub.chaos.scenario("late-commit", transactional_id="other")
        producer = producer_of(stub)
        for number in range(2):
            producer.begin_transaction()
            write(producer, str(number), number)
            producer.commit_transaction(SECONDS)
        assert stub.chaos.acts == []
        assert stub.chaos.left == 1


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(FaultError, match="the scenarios are late-abort, late-commit"):
        KafkaStub(chaos="late")


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_says_what_is_seen_and_who_has_told_of_it(scenario: str) -> None:
    found = SCENARIOS[scenario]
    assert found.seen
    assert all(source.startswith("https://") for source in found.sources)


# -- version 2 -------------------------------------------------------------------------------------------------------


def test_with_version_2_a_late_end_is_refused() -> None:
    """Each end raises the epoch (KIP-890): what arrives late has an old one."""
    with _stub("late-abort") as stub, Client(stub.bootstrap_servers) as client:

        def coordinator(request: Any, version: int) -> Any:
            return client.ask_coordinator("shop", request, TRANSACTION, version, {ErrorCode.CONCURRENT_TRANSACTIONS})

        known = coordinator(InitProducerIdRequest("shop", 60_000), 5)
        epoch = known.producer_epoch

        def produce(value: bytes, partition: int) -> None:
            batch = build_batch(
                [NewRecord(timestamp=1, key=None, value=value)], producer_id=known.producer_id, producer_epoch=epoch,
                base_sequence=0, attributes=0x10,
            )  # fmt: skip
            data = [TopicProduceData("orders", partition_data=[PartitionProduceData(partition, batch)])]
            answer = client.ask(ProduceRequest("shop", acks=-1, timeout_ms=10_000, topic_data=data), version=12)
            assert not answer.responses[0].partition_responses[0].error_code

        def end(commit: bool) -> int:
            answer = coordinator(EndTxnRequest("shop", known.producer_id, epoch, commit), 5)
            assert not answer.error_code, ErrorCode(answer.error_code).name
            return cast(int, answer.producer_epoch)

        produce(b"aborted", 0)
        epoch = end(commit=False)
        produce(b"first", 0)
        has_arrived(stub)
        produce(b"second", 1)
        epoch = end(commit=True)
        until(lambda: committed(stub) == {"first", "second"}, "all of the transaction")


@pytest.mark.parametrize(
    ("scenario", "commits", "expected"),
    [("late-abort", "false", {"second", "second, too"}), ("late-commit", "true", {"first"})],
)
def test_javas_client_loses_nothing(scenario: str, commits: str, expected: set[str]) -> None:
    try:
        classes = compiled(JAVA / "TwoTransactions.java")
    except OracleError as missing:
        pytest.skip(str(missing))
    with _stub(scenario) as stub:
        command = java_command("TwoTransactions", stub.bootstrap_servers, commits, classes=classes, log_level="OFF")
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                assert process.stdout.readline() == b"half\n"
                has_arrived(stub)
                out, _ = process.communicate(b"\n", SECONDS)
            finally:
                process.kill()
        assert out == b"done\n"
        assert {entry.api_version for entry in stub.journal.requests(api="EndTxn")} == {5}
        until(lambda: committed(stub) == expected, "all of the transaction that commits, and nothing else")
