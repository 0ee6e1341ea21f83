"""What is over leaves nothing to the garbage collector: in `kafkastub serve` that does not look at what it spares."""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import ShareConsumer

from kafkastub import KafkaStub
from kafkastub.state.deferred import Deferred
from kafkawire.messages.heartbeat_response import HeartbeatResponse
from kafkawire.schema import Message
from tests.clients.client import until


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


def fetches(stub: KafkaStub, consumer: ShareConsumer) -> int:
    consumer.poll(0.1)
    return len(stub.journal.requests(api="ShareFetch"))


def test_share_fetches_that_waited_and_connections_that_have_gone() -> None:
    config: dict[str, object] = {
        "group.share.min.heartbeat.interval.ms": 50,
        "group.share.heartbeat.interval.ms": 50,
    }
    with KafkaStub(topics={"orders": 2}, config=config) as stub:
        for _ in range(3):
            settings = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "workers", "log_level": 0}
            consumer = ShareConsumer(settings)
            consumer.subscribe(["orders"])
            wanted = len(stub.journal.requests(api="ShareFetch")) + 3
            until(lambda: fetches(stub, consumer) > wanted, "share fetches that wait")  # noqa: B023
            consumer.close()
        stub.wait_quiet()
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            gc.collect()
            found = Counter(
                type(one).__qualname__ for one in gc.garbage if type(one).__module__.startswith("kafkastub")
            )
        finally:
            gc.set_debug(0)
            gc.garbage.clear()
    assert not found
