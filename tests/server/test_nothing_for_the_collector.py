"""What is over leaves nothing to the garbage collector: in `kafkastub serve` that does not look at what it spares."""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from confluent_kafka import Producer, ShareConsumer

from kafkastub import KafkaStub
from kafkastub.client import Client, topics
from kafkastub.client.errors import BrokerError, ClientError
from kafkastub.journal.extract import error_tally
from kafkastub.state.deferred import Deferred
from kafkawire.messages.heartbeat_response import HeartbeatResponse
from kafkawire.schema import Message
from tests.clients.client import until

OURS, THEIRS = "kafkastub", "kafkastub.client"
"""Of the broker, and of the client with which a test asks it."""


@pytest.fixture(autouse=True)
def by_counting_alone() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


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
    waiting = Waiting()
    known = weakref.ref(waiting)
    ending(waiting)
    del waiting
    assert known() is None


@contextmanager
def nothing_left() -> Iterator[None]:
    """In the block nothing of ours comes about that only the collector would find."""
    gc.collect()
    yield
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        kinds = [type(one) for one in gc.garbage]
        ours = [kind for kind in kinds if kind.__module__.startswith(OURS) and not kind.__module__.startswith(THEIRS)]
        found = Counter(kind.__qualname__ for kind in ours)
    finally:
        gc.set_debug(0)
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
            consumer = ShareConsumer(settings)
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


def test_what_counts_errors_is_made_once_for_a_version() -> None:
    """For each entry of a journal that somebody looks at it would take longer to make than to use."""
    assert error_tally(HeartbeatResponse, 3) is error_tally(HeartbeatResponse, 3)
