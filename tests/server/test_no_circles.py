"""A connection that has gone is given back at once: nothing of it waits for Python's garbage collector, which
`kafkastub serve` seldom asks, and the journal, which has its requests, keeps none of it.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import pytest

from kafkastub.server.connection import Connection
from kafkastub.server.protocol import BrokerProtocol
from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
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
