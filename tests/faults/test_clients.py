"""What real clients make of faults: they retry, look for the coordinator, join again; nothing is lost or doubled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from kafkastub import KafkaStub
from tests.clients.adapters import connect
from tests.clients.client import Client, Message, drain, until
from tests.clients.jvm import Jvm
from tests.conftest import CONFIG
from tests.fronts import FRONTS, front
from tests.waiting import SECONDS

CLIENTS = ("aiokafka", "confluent-kafka", "java")
SENT = [f"order-{number}" for number in range(20)]

PRODUCE_FAULTS: dict[str, dict[str, Any]] = {
    "an error": {"error": "NOT_LEADER_OR_FOLLOWER"},
    "an error of one partition": {"error": "NOT_LEADER_OR_FOLLOWER", "topic": "orders", "partition": 1},
    "dropped before": {"drop": "before"},
    "dropped after": {"drop": "after"},
    "cut": {"cut": 7},
    "late": {"delay_ms": 100},
    "throttled": {"throttle_time_ms": 50},
}
CONSUME_FAULTS: dict[str, dict[str, Any]] = {
    "a fetch fails": {"api": "Fetch", "error": "NOT_LEADER_OR_FOLLOWER", "topic": "orders"},
    "a fetch is dropped": {"api": "Fetch", "drop": "after"},
    "a fetch is cut": {"api": "Fetch", "cut": 20},
    "a fetch is late": {"api": "Fetch", "delay_ms": 100},
    "no coordinator yet": {"api": "FindCoordinator", "error": "COORDINATOR_NOT_AVAILABLE"},
    "a join fails": {"api": "JoinGroup", "error": "COORDINATOR_LOAD_IN_PROGRESS"},
    "a sync is dropped": {"api": "SyncGroup", "drop": "before"},
    "offsets cannot be read": {"api": "OffsetFetch", "error": "COORDINATOR_LOAD_IN_PROGRESS"},
}


@pytest.fixture(params=FRONTS)
def stub(request: pytest.FixtureRequest) -> Iterator[KafkaStub]:
    with front(request, {"orders": 2}, CONFIG) as running:
        yield running


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest, stub: KafkaStub) -> Iterator[Client]:
    library = connect(request.param, stub.bootstrap_servers, lambda: request.getfixturevalue("jvm"))
    yield library
    library.close()


def send(client: Client) -> None:
    client.produce("orders", [Message(value, partition=number % 2) for number, value in enumerate(SENT)])


@pytest.mark.parametrize("kind", PRODUCE_FAULTS)
def test_nothing_that_is_sent_is_lost_or_doubled(stub: KafkaStub, client: Client, kind: str) -> None:
    with stub.faults.add(api="Produce", times=1, **PRODUCE_FAULTS[kind]) as fault:
        send(client)
        assert fault.hits == 1
    member = client.member("audit", ["orders"])
    records = drain(member, len(SENT)) + member.poll(0.2)
    assert sorted(record.value for record in records) == sorted(SENT)


@pytest.mark.parametrize("kind", CONSUME_FAULTS)
def test_a_consumer_goes_on(stub: KafkaStub, client: Client, kind: str) -> None:
    send(client)
    with stub.faults.add(times=1, **CONSUME_FAULTS[kind]) as fault:
        member = client.member("audit", ["orders"])
        records = drain(member, len(SENT)) + member.poll(0.2)
        assert fault.hits == 1
    assert sorted(record.value for record in records) == sorted(SENT)


@pytest.mark.parametrize("error", ["COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR"])
def test_a_commit_is_tried_again_until_it_is_kept(stub: KafkaStub, client: Client, error: str) -> None:
    send(client)
    member = client.member("audit", ["orders"])
    drain(member, len(SENT))
    with (
        stub.faults.add(api="OffsetCommit", error=error, times=1) as fault,
        stub.faults.add(api="FindCoordinator", delay_ms=1) as looked,
    ):
        member.commit()
        assert fault.hits == 1
        if error == "NOT_COORDINATOR":
            assert looked.hits >= 1
    assert client.committed("audit") == {("orders", 0): 10, ("orders", 1): 10}


@pytest.mark.parametrize("error", ["REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"])
def test_a_heartbeat_that_is_refused_makes_a_member_join_again(
    request: pytest.FixtureRequest, stub: KafkaStub, client: Client, error: str
) -> None:
    name = request.node.callspec.params["client"]
    if error == "UNKNOWN_MEMBER_ID" or (name, error) == ("aiokafka", "ILLEGAL_GENERATION"):
        _ = stub.clock  # they forget their member id: on a proxy the skip comes before a member that waits
    member = client.member("audit", ["orders"])
    until(lambda: member.poll() or len(member.assignment()) == 2, "an assignment")
    with (
        stub.faults.add(api="Heartbeat", error=error, times=1) as fault,
        stub.faults.add(api="JoinGroup", delay_ms=1) as asked,
        stub.faults.add(api="SyncGroup", delay_ms=1) as joined,
    ):

        def again() -> bool:
            member.poll()
            if asked.hits and not joined.hits:  # the broker still waits for the member that the client has forgotten
                stub.clock.advance(seconds=2, timers=True)
            return joined.hits > 0

        until(again, "another join")
        assert fault.hits == 1
    send(client)
    assert sorted(record.value for record in drain(member, len(SENT))) == sorted(SENT)


async def test_aiokafka_gives_up_on_a_silent_broker_and_sends_again(stub: KafkaStub) -> None:
    with stub.faults.add(api="Produce", silent=True, times=1) as fault:
        async with AIOKafkaProducer(
            bootstrap_servers=stub.bootstrap_servers,
            enable_idempotence=True,
            request_timeout_ms=2000,  # the requests with which it starts have no more time either
        ) as producer:
            sent = await producer.send_and_wait("orders", b"one", partition=0)
        assert (sent.offset, fault.hits) == (0, 1)
    assert stored(stub) == [b"one"]


def test_confluent_gives_up_on_a_silent_broker_and_sends_again(stub: KafkaStub) -> None:
    config = {"bootstrap.servers": stub.bootstrap_servers, "enable.idempotence": True, "request.timeout.ms": 500}
    with stub.faults.add(api="Produce", silent=True, times=1) as fault:
        producer = Producer({**config, "socket.timeout.ms": 1000})
        producer.produce("orders", b"one", partition=0)
        assert producer.flush(SECONDS) == 0
        assert fault.hits == 1
    assert stored(stub) == [b"one"]


def test_java_gives_up_on_a_silent_broker_and_sends_again(stub: KafkaStub, jvm: Jvm) -> None:
    serializer = "org.apache.kafka.common.serialization.StringSerializer"
    config = {
        "bootstrap.servers": stub.bootstrap_servers,
        "request.timeout.ms": "500",
        "linger.ms": "0",
        "key.serializer": serializer,
        "value.serializer": serializer,
    }
    with stub.faults.add(api="Produce", silent=True, times=1) as fault:
        assert jvm.ask("produce", topic="orders", config=config, records=[[0, None, "one", None]]) == [[0, 0]]
        assert fault.hits == 1
    assert stored(stub) == [b"one"]


def stored(stub: KafkaStub) -> list[bytes | None]:
    """What is in partition 0 of the topic, until nothing comes for a while."""
    config = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "stored", "enable.partition.eof": True}
    consumer = Consumer(config)
    consumer.assign([TopicPartition("orders", 0, 0)])
    values: list[bytes | None] = []
    while True:
        message = consumer.poll(SECONDS)
        assert message is not None
        if message.error():
            assert message.error().code() == KafkaError._PARTITION_EOF
            consumer.close()
            return values
        values.append(message.value())
