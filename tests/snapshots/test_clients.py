"""Real clients come back by themselves behind a restore, to the restored offsets and records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError

import pytest

from kafkastub import KafkaStub
from tests.clients.adapters import connect
from tests.clients.client import Client, Member, MemberOptions, Message, Record, until
from tests.conftest import CONFIG
from tests.nodes.test_clients import close_the_rest

SEED, MORE = [f"seed {number}" for number in range(5)], [f"more {number}" for number in range(5)]


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 2}, config=CONFIG) as stub:
        yield stub


@pytest.fixture(params=["aiokafka", "confluent-kafka", "java", "kafka-python"])
def client(request: pytest.FixtureRequest, stub: KafkaStub) -> Iterator[Client]:
    library = connect(request.param, stub.bootstrap_servers, lambda: request.getfixturevalue("jvm"))
    yield library
    for member in library.members:
        leave(member)
    library.close()


def leave(member: Member) -> None:
    """Where a connection went in the middle of a request, aiokafka may have to be helped."""
    try:
        member.close()
    except CancelledError:
        close_the_rest(member)


def all_of(member: Member, received: list[Record], wanted: list[str]) -> Callable[[], bool]:
    """Whether the member has got just these by now; it polls."""

    def look() -> bool:
        received.extend(member.poll())
        return [record.value for record in received] == wanted

    return look


def test_a_member_goes_on(stub: KafkaStub, client: Client) -> None:
    client.produce("orders", [Message(value, partition=0) for value in SEED])
    member, received = client.member("worker", ["orders"], MemberOptions("one")), list[Record]()
    until(all_of(member, received, SEED), "the seed is consumed")
    with stub.rolled_back():
        stub.create_topic("others")
        stub.commit("others", {("orders", 0): 1})
    client.produce("orders", [Message(value, partition=0) for value in MORE])
    until(all_of(member, received, SEED + MORE), "what came behind the restore is consumed")
    assert [record.offset for record in received] == list(range(10))


def test_who_comes_back_begins_at_the_restored_offsets(stub: KafkaStub, client: Client) -> None:
    client.produce("orders", [Message(value, partition=0) for value in SEED])
    member, received = client.member("worker", ["orders"], MemberOptions("one", auto_commit=False)), list[Record]()
    until(all_of(member, received, SEED), "the seed is consumed")
    member.commit()
    with stub.rolled_back():
        client.produce("orders", [Message("undone", partition=0)])
        until(all_of(member, received, [*SEED, "undone"]), "what is undone is consumed")
        member.commit()
        assert stub.lag("worker")["orders", 0] == 0
    leave(member)
    stub.clock.advance(minutes=1, timers=True)  # whose connection was gone could not say that it leaves
    client.produce("orders", [Message(value, partition=0) for value in MORE])
    assert stub.lag("worker")["orders", 0] == len(MORE)
    other, received = client.member("worker", ["orders"], MemberOptions("two", auto_commit=False)), list[Record]()
    until(all_of(other, received, MORE), "what came behind the restore is consumed")


def test_a_producer_goes_on_behind_the_restored_records(stub: KafkaStub, client: Client) -> None:
    client.produce("orders", [Message(value, partition=0) for value in SEED])
    saved = stub.snapshot()
    client.produce("orders", [Message("undone", partition=0)])
    stub.restore(saved)
    client.produce("orders", [Message(value, partition=0) for value in MORE])
    assert [record.value for record in stub.records("orders", 0, deserializer=bytes.decode)] == SEED + MORE
