"""Large requests are served a slice at a time: others come in between, and the connection's order stays."""

from __future__ import annotations

import asyncio
import gc
import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkastub.config import BrokerConfig, Profile
from kafkastub.coordinator import partition_for
from kafkastub.handlers.context import ConnectionInfo
from kafkastub.metadata import Node
from kafkastub.server import slices
from kafkastub.server.connection import Connection
from kafkastub.server.dispatch import LARGE, NAMES_TOO_MUCH, Dispatcher
from kafkastub.server.logs import library_logger
from kafkastub.server.slices import Slices
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.pace import no_pause, paced, paced_map_order
from kafkastub.state.topics import create_topic, ensure_offsets_topic
from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.framing import FrameSplitter, frame
from kafkawire.header import request_header
from kafkawire.java_order import hash_map_order, string_hash
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.list_offsets_response import ListOffsetsResponse
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_commit_response import OffsetCommitResponse
from kafkawire.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

MANY = 3000


class Turns:
    """A loop of which a test makes each turn itself."""

    def __init__(self) -> None:
        self.soon: list[Callable[[], None]] = []

    def call_soon(self, call: Callable[[], None], *_: Any) -> None:
        self.soon.append(call)

    def turn(self) -> bool:
        now, self.soon = self.soon, []
        for call in now:
            call()
        return bool(now)


class Broker:
    """One whose slices are as short as can be."""

    def __init__(self, nodes: int = 1, **config: Any) -> None:
        given = {name.replace("_", "."): value for name, value in config.items()}
        every = [Node(number, "localhost", 9091 + number) for number in range(1, nodes + 1)]
        self.state = BrokerState(BrokerConfig(given, Profile.named("kips")), every, library_logger())
        create_topic(self.state, "t", MANY)
        self.loop = Turns()
        self.dispatcher = Dispatcher(self.state)
        self.waiting = 0
        self.now = 1_000_000, 1
        self.slices = self.dispatcher.slices = Slices(self.loop, self._waits)  # type: ignore[arg-type]

    def _waits(self, size: int) -> None:
        self.waiting += size

    def connect(self, node_id: int = 1) -> Client:
        return Client(self, node_id)

    def finish(self) -> int:
        """Turn until nothing is left; how many turns that took."""
        turns = 0
        while self.loop.turn():
            turns += 1
        return turns


class Client:
    def __init__(self, broker: Broker, node_id: int) -> None:
        self.info = ConnectionInfo(1, "/127.0.0.1", "127.0.0.1:1", node_id=node_id)
        self.connection = Connection(
            broker.dispatcher, self.info, 1 << 26, lambda: broker.now, lambda: broker.loop.call_soon(self.resume)
        )

    def resume(self) -> None:
        self.connection.resume()

    def answers(self) -> list[bytes]:
        data, self.connection.out = b"".join(self.connection.out), []
        return [buffer[start:end] for buffer, start, end in FrameSplitter(1 << 26).feed(data)]

    def ids(self) -> list[int]:
        return [struct.unpack_from(">i", answer)[0] for answer in self.answers()]


@pytest.fixture(autouse=True)
def short_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "_SLICE_NS", 0)


@pytest.fixture
def broker() -> Iterator[Broker]:
    made = Broker()
    yield made
    made.slices.stop()


def large(correlation_id: int, count: int = MANY) -> bytes:
    asked = ListOffsetsRequest(-1, 0, [ListOffsetsTopic("t", [ListOffsetsPartition(p, -1, -1) for p in range(count)])])
    return frame(request_header(ApiKey.LIST_OFFSETS, 8, correlation_id, "raw", True) + encode(asked, 8))


def small(correlation_id: int) -> bytes:
    return frame(request_header(ApiKey.API_VERSIONS, 0, correlation_id, "raw", False))


def test_others_are_served_between_two_slices(broker: Broker):
    attacker, other = broker.connect(), broker.connect()
    attacker.connection.receive(large(1))
    served = 0
    while broker.loop.turn() and not attacker.connection.out:
        other.connection.receive(small(served))
        assert other.ids() == [served]
        assert broker.state.pace is no_pause
        served += 1
    assert served > 10
    (answer,) = attacker.answers()
    told = decode(ListOffsetsResponse, 8, answer[5:])
    assert [(one.partition_index, one.offset, one.error_code) for one in told.topics[0].partitions] == [
        (index, 0, 0) for index in range(MANY)
    ]


def test_what_follows_on_the_connection_waits(broker: Broker):
    client = broker.connect()
    client.connection.receive(small(1) + large(2) + small(3) + large(4) + small(5))
    assert client.ids() == [1]
    client.connection.receive(small(6))
    ids = []
    while broker.loop.turn():
        ids += client.ids()
    assert ids == [2, 3, 4, 5, 6]
    assert client.connection.queued == 0


def commit(correlation_id: int, topics: list[str]) -> bytes:
    asked = [OffsetCommitRequestTopic(name, partitions=[OffsetCommitRequestPartition(0, 7)]) for name in topics]
    request = encode(OffsetCommitRequest("g", topics=asked), 8)
    return frame(request_header(ApiKey.OFFSET_COMMIT, 8, correlation_id, "raw", True) + request)


def code(answer: bytes) -> int:
    """Of the first partition of an answer to OffsetCommit."""
    return decode(OffsetCommitResponse, 8, answer[5:]).topics[0].partitions[0].error_code


def test_while_a_wrong_node_refuses_a_large_request_the_right_one_refuses_nothing():
    broker = Broker(nodes=3)
    offsets_topic = ensure_offsets_topic(broker.state)
    right = offsets_topic.partitions[partition_for("g", len(offsets_topic.partitions))].leader
    wrong = right % 3 + 1
    attacker, other = broker.connect(wrong), broker.connect(right)
    attacker.connection.receive(commit(1, ["t"] * MANY))
    turns = 0
    while broker.loop.turn() and not attacker.connection.out:
        other.connection.receive(commit(2, ["t"]))
        assert [code(answer) for answer in other.answers()] == [0]
        turns += 1
    assert turns > 10
    assert [code(answer) for answer in attacker.answers()] == [16]


def test_two_large_requests_take_turns(broker: Broker):
    first, second = broker.connect(), broker.connect()
    first.connection.receive(large(1))
    second.connection.receive(large(2))
    assert len(broker.slices) == 2
    broker.finish()
    assert (first.ids(), second.ids()) == ([1], [2])
    assert len(broker.slices) == 0


def most_of(size: int) -> int:
    """Bytes of requests of about that size that are begun at the same time."""
    return next(most for longest, most in slices._LANES if size <= longest)


def test_some_are_begun_and_the_others_wait_as_they_came(broker: Broker):
    """What they take once they are decoded is many times what came."""
    size = len(large(0)) - 4
    together = most_of(size) // size
    clients = [broker.connect() for _ in range(3 * together)]
    for number, client in enumerate(clients):
        client.connection.receive(large(number))
    assert len(broker.slices) == together
    assert broker.waiting == 2 * together * size
    broker.finish()
    assert [client.ids() for client in clients] == [[number] for number in range(len(clients))]
    assert (len(broker.slices), broker.waiting) == (0, 0)


def test_a_shorter_one_does_not_wait_for_longer_ones(broker: Broker):
    """Neither for those that are begun nor for those that wait: a slice in two is its own."""
    alone = broker.connect()
    alone.connection.receive(large(1))
    turns = broker.finish()
    long = large(1, 60_000)
    for _ in range(20):
        broker.connect().connection.receive(long)
    assert len(broker.slices) > 1
    assert broker.waiting > 0
    short = broker.connect()
    short.connection.receive(large(2))
    for _ in range(2 * turns + 10):
        broker.loop.turn()
    assert short.ids() == [2]
    assert broker.waiting > 0
    broker.slices.stop()
    assert broker.waiting == 0


def test_one_is_begun_whatever_its_size(broker: Broker, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(slices, "_LANES", ((0, 0), (1 << 20, 10)))
    broker.slices = broker.dispatcher.slices = Slices(broker.loop)  # type: ignore[arg-type]
    first, second = broker.connect(), broker.connect()
    first.connection.receive(large(1))
    second.connection.receive(large(2))
    assert len(broker.slices) == 1
    broker.finish()
    assert (first.ids(), second.ids()) == ([1], [2])


def test_a_request_that_has_waited_is_served_at_the_time_that_it_is_then(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(slices, "_LANES", ((0, 0), (1 << 20, 10)))
    broker.slices = broker.dispatcher.slices = Slices(broker.loop)  # type: ignore[arg-type]
    broker.connect().connection.receive(large(1))
    waits = broker.connect()
    waits.connection.receive(commit(2, ["t"] * MANY))
    broker.now = 2_000_000, 1_000_001
    broker.finish()
    assert [code(answer) for answer in waits.answers()] == [0]
    committed = broker.state.coordinator.offsets.get("g", "t", 0)
    assert committed is not None
    assert committed.commit_timestamp == 2_000_000


def test_nothing_of_a_request_is_done_at_once_while_another_one_sleeps(broker: Broker, monkeypatch: pytest.MonkeyPatch):
    """However many come at once: nobody waits for more than a slice."""
    broker.connect().connection.receive(large(1))
    monkeypatch.setattr(slices, "_SLICE_NS", 1_000_000_000)
    second = broker.connect()
    second.connection.receive(large(2))
    assert second.ids() == []
    broker.finish()
    assert second.ids() == [2]


def test_the_client_has_gone_meanwhile(broker: Broker):
    client, other = broker.connect(), broker.connect()
    client.connection.receive(large(1))
    client.connection.lost()
    client.info.forget()
    broker.finish()
    other.connection.receive(small(2))
    assert other.ids() == [2]
    assert len(broker.slices) == 0


def test_what_was_not_begun_when_the_client_goes_is_let_go(broker: Broker):
    """Who connects, asks and goes, again and again, must not leave its requests here."""
    broker.connect().connection.receive(large(1, 60_000))
    for _ in range(200):
        client = broker.connect()
        client.connection.receive(large(2))
        client.connection.lost()
    del client
    gc.collect()
    assert sum(isinstance(one, Connection) for one in gc.get_objects()) < 10
    broker.finish()
    assert (len(broker.slices), broker.waiting) == (0, 0)


def test_several_that_are_soon_done_share_a_slice(broker: Broker, monkeypatch: pytest.MonkeyPatch):
    first = broker.connect()
    first.connection.receive(large(1))
    clients = [broker.connect() for _ in range(5)]
    for client in clients:
        client.connection.receive(large(2))
    monkeypatch.setattr(slices, "_SLICE_NS", 10_000_000_000)
    broker.loop.turn()
    assert [len(client.ids()) for client in (first, *clients)] == [1] * 6


def test_what_sleeps_when_the_broker_ends_is_ended(broker: Broker):
    client = broker.connect()
    client.connection.receive(large(1))
    assert len(broker.slices) == 1
    broker.slices.stop()
    assert not broker.slices
    broker.finish()
    assert client.ids() == []


def test_a_commit_of_many_partitions_is_whole(broker: Broker):
    partitions = [OffsetCommitRequestPartition(p, p, committed_metadata="m") for p in range(MANY)]
    topics = [OffsetCommitRequestTopic(name, partitions=partitions) for name in ("t", "nowhere", "t", "t")]
    body = encode(OffsetCommitRequest("g", topics=topics), 8)
    client = broker.connect()
    client.connection.receive(frame(request_header(ApiKey.OFFSET_COMMIT, 8, 1, "raw", True) + body))
    assert broker.finish() > 10
    (answer,) = client.answers()
    told = decode(OffsetCommitResponse, 8, answer[5:])
    codes = [(topic.name, {one.error_code for one in topic.partitions}, len(topic.partitions)) for topic in told.topics]
    assert codes == [("nowhere", {3}, MANY), ("t", {0}, 3 * MANY)]
    offsets = broker.state.coordinator.offsets
    assert [offsets.get("g", "t", p).offset for p in (0, 1, MANY - 1)] == [0, 1, MANY - 1]  # type: ignore[union-attr]


def test_the_answer_that_was_waited_for_is_encoded_in_slices(broker: Broker):
    """Markers are written in parts of their own; the answer comes as a `Deferred`."""
    topics = [WritableTxnMarkerTopic("t", range(MANY))] * 10
    request = WriteTxnMarkersRequest([WritableTxnMarker(1 << 40, 0, False, topics)])
    head = request_header(ApiKey.WRITE_TXN_MARKERS, 1, 1, "raw", True)
    client = broker.connect()
    client.connection.receive(frame(head + encode(request, 1)) + small(2))
    ids: list[int] = []
    for _ in range(100_000):
        broker.loop.turn()
        broker.state.expire(1_000_000, 1)
        ids += client.ids()
        if 2 in ids:
            break
    assert ids == [1, 2]


@pytest.mark.parametrize("count", [1000, 1001])
def test_a_request_with_more_entries_than_it_may_have_ends_the_connection(count: int):
    broker = Broker(kafkastub_max_request_entries=1000)
    client = broker.connect()
    client.connection.receive(large(1, count - 1))  # the topic is one
    broker.finish()
    if count <= 1000:
        assert client.ids() == [1]
        assert not client.connection.closing
    else:
        assert client.ids() == []
        assert client.connection.closing
        reason = client.connection.reason or ""
        assert NAMES_TOO_MUCH in reason
        assert reason.startswith("ListOffsets v8 ")
        assert "1000" in reason
        assert "kafkastub.max.request.entries" in reason


def test_entries_are_counted_in_what_only_the_careful_reader_takes():
    """An unknown tag at the end: the fast decoder gives up."""
    broker = Broker(kafkastub_max_request_entries=1000)
    for count in (998, 1000):
        client = broker.connect()
        client.connection.receive(frame(large(1, count)[4:-1] + b"\x01\x63\x00"))
        broker.finish()
        assert client.connection.closing is (count == 1000)


def test_a_request_that_is_small_is_served_at_once(broker: Broker):
    client = broker.connect()
    request = large(1, 100)
    assert len(request) < LARGE
    client.connection.receive(request)
    assert client.ids() == [1]


def test_a_stub_serves_large_requests_with_any_loop():
    """The same on a loop that is real."""

    async def main() -> int:
        broker = Broker()
        broker.slices = broker.dispatcher.slices = Slices(asyncio.get_running_loop())
        client = broker.connect()
        client.connection.receive(large(1))
        for turns in range(100_000):
            if client.connection.out:
                assert client.ids() == [1]
                return turns
            await asyncio.sleep(0)
        raise AssertionError("no answer")

    assert asyncio.run(main()) > 10


def test_things_are_paced_in_order():
    amounts: list[int] = []
    assert list(paced(range(150), amounts.append)) == list(range(150))
    assert amounts == [64, 64, 22]
    assert list(paced(range(3), no_pause)) == [0, 1, 2]


@given(st.lists(st.tuples(st.integers(0, (1 << 32) - 1), st.integers()), max_size=300), st.integers(0, 2000))
def test_a_map_is_put_in_order_with_pauses_as_without(keys: list[tuple[int, int]], capacity: int):
    paused = list[int]()
    assert paced_map_order(keys, paused.append, capacity) == hash_map_order(keys, capacity)
    assert paced_map_order(iter(keys), no_pause, capacity) == hash_map_order(keys, capacity)


def test_a_large_map_is_put_in_order_piece_by_piece():
    keys = [(string_hash(str(index)), index) for index in range(20_000)]
    pauses = list[int]()
    assert paced_map_order(keys, pauses.append) == hash_map_order(keys)
    assert max(pauses) <= 200
    assert sum(pauses) == 3 * len(keys)
