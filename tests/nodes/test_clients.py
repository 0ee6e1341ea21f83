"""Real clients go on consuming while coordinators and leaders move and nodes stop and come back."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from concurrent.futures import CancelledError
from typing import Any

import pytest

from kafkastub import KafkaStub
from tests.clients.adapters import connect
from tests.clients.client import Client, Member, MemberOptions, Message, until

ROUNDS = 10
PARTITIONS = 3


@pytest.fixture
def stub(request: pytest.FixtureRequest) -> Iterator[KafkaStub]:
    """Three nodes, of which each has everything; where leaders move one has, or a follower would serve the fetches."""
    replicas = 1 if "leaders_move" in request.node.name else 3
    config = {"default.replication.factor": replicas, "group.initial.rebalance.delay.ms": 0}
    with KafkaStub(topics={"orders": PARTITIONS}, nodes=3, config=config) as stub:
        yield stub


@pytest.fixture(params=["aiokafka", "confluent-kafka", "java"])
def client(request: pytest.FixtureRequest, stub: KafkaStub) -> Iterator[Client]:
    library = connect(request.param, stub.bootstrap_servers, lambda: request.getfixturevalue("jvm"))
    yield library
    try:
        library.close()
    except CancelledError:
        # Where a node went in the middle of a request, aiokafka's own task may have been cancelled, and its `stop`
        # hands that on without having closed everything.
        for member in library.members:
            close_the_rest(member)
        library.close()


def close_the_rest(member: Any) -> None:
    """What such a member of aiokafka has left open."""

    async def close() -> None:
        consumer = member._consumer
        coordinator = consumer._coordinator
        for step in (
            coordinator._stop_heartbeat_task,
            coordinator._stop_commit_offsets_refresh_task,
            consumer._fetcher.close,
            consumer._client.close,
        ):
            with contextlib.suppress(asyncio.CancelledError):
                await step()

    member._thread.run(close())


class Reader:
    """A member that remembers all that it was given."""

    def __init__(self, client: Client, fetch_wait_ms: int = MemberOptions.fetch_wait_ms) -> None:
        options = MemberOptions(client_id="reader", auto_commit=False, fetch_wait_ms=fetch_wait_ms)
        self.member: Member = client.member("shipping", ["orders"], options)
        self.read: list[tuple[int, int]] = []

    def until(self, count: int) -> None:
        def enough() -> bool:
            self.read += [(record.partition, record.offset) for record in self.member.poll(0.05)]
            return len(set(self.read)) >= count

        until(enough, f"{count} records, only {sorted(set(self.read))}", 60)


def others(stub: KafkaStub, node: int) -> int:
    """A running node other than this one."""
    return next(one.id for one in stub.nodes.values() if one.id != node and one.running)


def send(client: Client) -> None:
    client.produce("orders", [Message(str(partition), "x", partition) for partition in range(PARTITIONS)])


def errors(stub: KafkaStub, *apis: str) -> set[str]:
    """The errors that the reader was answered by these APIs."""
    return {
        name for entry in stub.journal.requests(client_id="reader") if entry.api in apis for name in entry.error_names
    }


def test_nothing_is_lost_while_the_coordinator_moves(stub: KafkaStub, client: Client):
    reader = Reader(client)
    for number in range(1, ROUNDS + 1):
        stub.move_coordinator("shipping", others(stub, stub.coordinator_of("shipping")))
        send(client)
        reader.until(number * PARTITIONS)
        reader.member.commit()
    assert sorted(reader.read) == [(p, o) for p in range(PARTITIONS) for o in range(ROUNDS)]
    assert set(client.committed("shipping").values()) == {ROUNDS}
    assert "NOT_COORDINATOR" in errors(stub, "OffsetCommit", "Heartbeat", "JoinGroup")
    # the new coordinator knows the member: there was one rebalance, the first
    assert stub.metrics()["group-completed-rebalances"] <= 2


def test_nothing_is_lost_while_leaders_move(stub: KafkaStub, client: Client):
    reader = Reader(client)
    send(client)
    # A position that aiokafka has not found yet it never looks for on another node: nothing moves before that.
    reader.until(PARTITIONS)
    for number in range(2, ROUNDS + 2):
        for partition in range(PARTITIONS):
            stub.move_leader("orders", partition, others(stub, stub.leader_of("orders", partition)))
        send(client)
        reader.until(number * PARTITIONS)
    assert sorted(reader.read) == [(p, o) for p in range(PARTITIONS) for o in range(ROUNDS + 1)]
    told = errors(stub, "Fetch", "ListOffsets", "OffsetForLeaderEpoch")
    assert told & {"NOT_LEADER_OR_FOLLOWER", "FENCED_LEADER_EPOCH"}


def test_nothing_is_lost_while_nodes_stop_and_come_back(stub: KafkaStub, client: Client):
    reader = Reader(client, fetch_wait_ms=300)  # so that a fetch is under way when a node stops, on a busy machine too
    for number in range(1, ROUNDS + 1):
        coordinates = number % 2 == 0
        victim = stub.nodes[
            stub.coordinator_of("shipping") if coordinates else stub.leader_of("orders", number % PARTITIONS)
        ]
        victim.stop()
        send(client)
        reader.until(number * PARTITIONS)
        reader.member.commit()
        victim.start()
    send(client)
    reader.until((ROUNDS + 1) * PARTITIONS)
    reader.member.commit()
    assert set(reader.read) == {(p, o) for p in range(PARTITIONS) for o in range(ROUNDS + 1)}
    assert set(client.committed("shipping").values()) == {ROUNDS + 1}
    # Each stop ended a connection of the reader's, some in the middle of a fetch; it came back, and looked for its
    # coordinator whenever that one had gone.
    seen = list(stub.journal.requests(client_id="reader"))
    assert {entry.sender.node_id for entry in seen} == {1, 2, 3}
    assert len({entry.sender.connection_id for entry in seen}) > ROUNDS
    assert "dropped" in {entry.outcome for entry in seen if entry.api == "Fetch"}
    assert sum(entry.api == "FindCoordinator" for entry in seen) > ROUNDS // 2


def test_a_node_is_added_and_removed_while_a_client_reads(stub: KafkaStub, client: Client):
    reader = Reader(client)
    send(client)
    reader.until(PARTITIONS)
    added = stub.add_node()
    stub.move_leader("orders", 0, added.id)
    stub.move_coordinator("shipping", added.id)
    send(client)
    reader.until(2 * PARTITIONS)
    reader.member.commit()
    stub.move_leader("orders", 0, 1)
    stub.remove_node(added.id)
    send(client)
    reader.until(3 * PARTITIONS)
    reader.member.commit()
    assert sorted(set(reader.read)) == [(p, o) for p in range(PARTITIONS) for o in range(3)]
    assert "NOT_COORDINATOR" in errors(stub, "OffsetCommit", "Heartbeat", "JoinGroup")
