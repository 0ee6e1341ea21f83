"""What is over is given back at once: connections, replies, transactions, chaos, groups. Nothing of it waits for
Python's garbage collector, which `kafkastub serve` seldom asks, and the journal, which has the requests of connections,
keeps none of them.
"""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import httpx
import pytest
from confluent_kafka import Consumer, Producer, ShareConsumer

from kafkastub import KafkaStub
from kafkastub.client import Client, topics
from kafkastub.client.errors import BrokerError, ClientError
from kafkastub.server.connection import Connection
from kafkastub.server.protocol import BrokerProtocol
from kafkastub.state.deferred import Deferred
from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.heartbeat_response import HeartbeatResponse
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.schema import Message
from tests.rawclient import RawClient
from tests.security.brokers import Addresses, stub
from tests.security.talk import Talk
from tests.waiting import until

LARGE = 20_000
"""Bytes: such a request is served in slices."""


@pytest.fixture(scope="module")
def addresses() -> Iterator[Addresses]:
    with stub() as addresses:
        yield addresses


def asks(at: Addresses) -> None:
    with Talk(at.plain) as talk:
        talk.ask(ApiKey.METADATA, 12, MetadataRequest(topics=None))


def asks_for_many(at: Addresses) -> None:
    topics = [MetadataRequestTopic(name=f"none-{number}") for number in range(LARGE // 10)]
    with Talk(at.plain) as talk:
        talk.ask(ApiKey.METADATA, 12, MetadataRequest(topics, allow_auto_topic_creation=False))


def waits(at: Addresses) -> None:
    client = RawClient(at.plain)
    topics = [FetchTopic(topic="t", partitions=[FetchPartition(partition=0, partition_max_bytes=1000)])]
    request = FetchRequest(max_wait_ms=60_000, min_bytes=1, session_epoch=-1, topics=topics)
    client.send(ApiKey.FETCH, 12, encode(request, 12), flexible=True)
    client.close()


def breaks_off(at: Addresses) -> None:
    client = RawClient(at.plain)
    client.socket.sendall(b"\0\1\0\0" + bytes(LARGE))
    client.close()


def sends_rubbish(at: Addresses) -> None:
    client = RawClient(at.plain)
    client.socket.sendall(b"\0\0\0\x08" + b"\xff" * 8)
    assert client.receive() is None
    client.close()


def signs_in(at: Addresses) -> None:
    with Talk(at.sasl) as talk:
        assert talk.plain("bob", "b").error_code == 0


def fails(at: Addresses) -> None:
    with Talk(at.sasl) as talk:
        talk.plain("bob", "wrong")


def fails_at_length(at: Addresses) -> None:
    with Talk(at.sasl) as talk:
        talk.plain("bob" * LARGE, "wrong")


def goes_in_the_middle(at: Addresses) -> None:
    with Talk(at.sasl) as talk:
        talk.shake("SCRAM-SHA-256")
        talk.send(b"n,,n=alice,r=" + b"x" * LARGE)


@pytest.mark.parametrize(
    "client",
    [asks, asks_for_many, waits, breaks_off, sends_rubbish, signs_in, fails, fails_at_length, goes_in_the_middle],
)
def test_nothing_of_a_connection_is_left(addresses: Addresses, client: Callable[[Addresses], None]):
    def left() -> int:
        return sum(isinstance(one, Connection | BrokerProtocol) for one in gc.get_objects())

    gc.collect()
    before = left()
    gc.disable()
    try:
        for _ in range(3):
            client(addresses)
        until(lambda: left() <= before, lambda: f"the end of {left() - before} connections and protocols")
    finally:
        gc.enable()


OURS, THEIRS = "kafkastub", "kafkastub.client"
"""Of the broker, and of the client with which a test asks it."""


class Waiting:
    """Who waits for a reply, and is referred to by all that the reply has."""

    def __init__(self) -> None:
        self.replies: list[Message] = []
        self.left = False
        self.deferred = Deferred(self.lower)
        self.deferred.on_abandon = self.leave
        self.deferred.when_done(self.replies.append)

    def lower(self, value: object) -> Message:
        return HeartbeatResponse()

    def leave(self) -> None:
        self.left = True

    def hold(self, reply: Message) -> None:
        self.deferred.release(reply)


def complete(one: Waiting) -> None:
    one.deferred.complete()
    assert one.replies == [HeartbeatResponse()]


def complete_through_its_hook(one: Waiting) -> None:
    one.deferred.hold = one.hold
    complete(one)


def abandon(one: Waiting) -> None:
    one.deferred.hold = one.hold
    one.deferred.abandon()
    assert one.left
    one.deferred.complete()
    assert one.replies == []


@pytest.mark.parametrize("ending", [complete, complete_through_its_hook, abandon])
def test_a_reply_that_is_over_lets_go_of_who_waited(ending: Callable[[Waiting], None]) -> None:
    gc.disable()
    try:
        waiting = Waiting()
        known = weakref.ref(waiting)
        ending(waiting)
        del waiting
        assert known() is None
    finally:
        gc.enable()


@contextmanager
def nothing_left() -> Iterator[None]:
    """In the block nothing of ours comes about that only the collector would find."""
    gc.collect()
    gc.disable()
    try:
        yield
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        kinds = [type(one) for one in gc.garbage]
        ours = [kind for kind in kinds if kind.__module__.startswith(OURS) and not kind.__module__.startswith(THEIRS)]
        found = Counter(kind.__qualname__ for kind in ours)
    finally:
        gc.set_debug(0)
        gc.enable()
        gc.garbage.clear()
    assert not found


def fetches(stub: KafkaStub, consumer: ShareConsumer) -> int:
    consumer.poll(0.1)
    return len(stub.journal.requests(api="ShareFetch"))


def test_share_fetches_that_waited_and_connections_that_have_gone() -> None:
    config: dict[str, object] = {
        "group.share.min.heartbeat.interval.ms": 50,
        "group.share.heartbeat.interval.ms": 50,
    }
    with KafkaStub(topics={"orders": 2}, config=config) as stub, nothing_left():
        for _ in range(3):
            settings = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "workers", "log_level": 0}
            consumer = ShareConsumer({**settings, "fetch.wait.max.ms": 50})
            consumer.subscribe(["orders"])
            wanted = len(stub.journal.requests(api="ShareFetch")) + 3
            until(lambda: fetches(stub, consumer) > wanted, "share fetches that wait")  # noqa: B023
            consumer.close()
        stub.wait_quiet()


def test_transactions_that_have_ended() -> None:
    with KafkaStub(topics={"orders": 1}) as stub:
        settings = {"bootstrap.servers": stub.bootstrap_servers, "transactional.id": "shop", "log_level": 0}
        producer = Producer(settings)
        producer.init_transactions(10)
        with nothing_left():
            for _ in range(3):
                producer.begin_transaction()
                producer.produce("orders", "one")
                producer.commit_transaction(10)


def test_chaos_that_is_over() -> None:
    with KafkaStub(topics={"orders": 1}, nodes=3) as stub, nothing_left():
        for seed in range(3):
            stub.chaos.start(seed, level=3)
            with Client(stub.bootstrap_servers) as client:
                for _ in range(30):
                    with suppress(BrokerError, ClientError):
                        topics.list_offsets(client, {("orders", 0): topics.EARLIEST})
            assert stub.chaos.acts
            stub.chaos.stop()


def test_connections_of_the_control_port() -> None:
    with KafkaStub(topics={"orders": 1}, control_port=0) as stub:
        httpx.get(f"{stub.control_url}/v1/topics")
        with nothing_left():
            for path in ("/v1/topics", "/v1/check", "/metrics"):
                assert httpx.get(stub.control_url + path).status_code == 200
            stub.wait_quiet()


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_groups_that_were_deleted(protocol: str) -> None:
    config: dict[str, object] = {
        "group.initial.rebalance.delay.ms": 0,
        "group.consumer.min.heartbeat.interval.ms": 50,
        "group.consumer.heartbeat.interval.ms": 50,
    }
    with KafkaStub(topics={"orders": 1}, config=config) as stub, nothing_left():
        for number in range(3):
            settings = {"bootstrap.servers": stub.bootstrap_servers, "group.id": f"shop-{number}", "log_level": 0}
            consumer = Consumer({**settings, "group.protocol": protocol})
            consumer.subscribe(["orders" if protocol == "classic" else "^ord.*"])
            until(lambda: consumer.poll(0.05) or consumer.assignment(), "an assignment")  # noqa: B023
            consumer.close()
            with Client(stub.bootstrap_servers) as client:
                answer = client.ask_coordinator(f"shop-{number}", DeleteGroupsRequest([f"shop-{number}"]))
            assert answer.results[0].error_code == 0
        stub.clock.advance(hours=1, timers=True)  # until then deadlines that were called off are kept
