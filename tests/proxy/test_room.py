"""Room for what a proxy keeps: a bound over all connections, in their order, and nobody waits for ever."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kafkastub import KafkaProxy, KafkaStub
from kafkastub.proxy import room as rooms
from kafkastub.proxy.room import LOOK_MS, Room
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.records import NewRecord, build_batch
from tests.proxy.test_passing import asked, read_frames
from tests.waiting import SECONDS, until

MOST = 100


class Rooms(RuleBasedStateMachine):
    """Beside a model: who came first is let in first, as long as all fit; one alone fits in any case."""

    def __init__(self) -> None:
        super().__init__()
        self.room = Room(MOST, lambda ms, call: None)
        self.taken: dict[int, int] = {}
        self.queue: deque[tuple[int, int]] = deque()
        self.told: dict[int, int] = {}
        self.number = 0

    def _let_in(self) -> None:
        while self.queue and (sum(self.taken.values()) + self.queue[0][1] <= MOST or not self.taken):
            who, size = self.queue.popleft()
            self.taken[who] = size

    @rule(size=st.integers(1, 150))
    def take(self, size: int) -> None:
        who = self.number = self.number + 1
        if self.room.take(who, size, lambda found: self.told.update({who: found})):
            self.told[who] = size
        self.queue.append((who, size))
        self._let_in()

    @precondition(lambda self: self.taken)
    @rule(data=st.data())
    def give(self, data: st.DataObject) -> None:
        who = data.draw(st.sampled_from(sorted(self.taken)))
        size = self.taken.pop(who)
        del self.told[who]
        self.room.give(size)
        self._let_in()

    @precondition(lambda self: self.queue)
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        one = data.draw(st.sampled_from(list(self.queue)))
        self.queue.remove(one)
        self.room.forget(one[0])
        self._let_in()

    @invariant()
    def all_is_as_in_the_model(self) -> None:
        assert self.told == self.taken
        assert self.room.used == sum(self.taken.values())
        assert self.room.waiting == len(self.queue)


TestRooms = Rooms.TestCase
TestRooms.settings = settings(max_examples=100, stateful_step_count=30)


class Slow:
    """Has room for bytes that are on their way."""

    def __init__(self, to_come: int, is_slow_itself: bool = True) -> None:
        self.to_come = to_come
        self.is_slow_itself = is_slow_itself
        self.ended = 0

    def end_silent(self) -> None:
        self.ended += 1


def test_who_has_room_has_to_get_on_while_others_wait() -> None:
    looks: list[Callable[[], None]] = []
    room = Room(MOST, lambda ms, call: looks.append(call) if ms == LOOK_MS else None)
    moving = Slow(1 << 20)
    holders = [Slow(1 << 20), moving, Slow(1 << 20, is_slow_itself=False)]
    for each in holders:
        assert room.take(each, 30, lambda size: None)
        room.begins(each)
    assert looks == []  # nobody waits
    assert not room.take("other", 30, lambda size: None)
    ended = []
    for _ in range(32):
        moving.to_come -= 1 << 14
        looks.pop()()
        ended.append([each.ended for each in holders])
        for each in holders:
            if each.ended:
                room.ends(each)
    assert ended[3] == [0, 0, 0]
    assert ended[4] == [1, 0, 0]
    assert ended[28] == [1, 0, 0]
    assert ended[31] == [1, 0, 1]
    room.forget("other")
    looks.pop()()
    assert looks == []


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patience is over soon."""
    monkeypatch.setattr(rooms, "LOOK_MS", 20)
    monkeypatch.setattr(rooms, "PATIENCE_MS", 100)


@pytest.mark.usefixtures("quick")
def test_who_stalls_inside_a_large_request_goes_while_others_wait(stub: KafkaStub) -> None:
    with ExitStack() as clients, KafkaProxy(stub.bootstrap_servers, keep_bytes=LARGE) as proxy:
        room = proxy._proxy().room
        proxy.faults.add(api="Produce", topic="none of these", error="KAFKA_STORAGE_ERROR")

        def connected() -> socket.socket:
            return clients.enter_context(socket.create_connection((proxy.host, proxy.port), SECONDS))

        stalled, other = connected(), connected()
        stalled.sendall(produce("t", LARGE)[:12])
        until(lambda: room.used > LARGE, "room for the frame that is announced")
        other.sendall(produce("u", LARGE))
        assert len(read_frames(other, 1)) == 1
        assert stalled.recv(1) == b""
        until(lambda: (room.used, room.waiting) == (0, 0), "all room given back")


@pytest.mark.usefixtures("quick")
def test_who_does_not_read_what_was_kept_goes_while_others_wait(stub: KafkaStub) -> None:
    for _ in range(8):
        stub.produce("t", bytes(LARGE))
    with ExitStack() as clients, KafkaProxy(stub.bootstrap_servers, keep_bytes=LARGE) as proxy:
        room = proxy._proxy().room
        proxy.faults.add(api="Fetch", topic="t", delay_ms=1)
        proxy.faults.add(api="Produce", topic="none of these", error="KAFKA_STORAGE_ERROR")
        unread = clients.enter_context(socket.socket())
        unread.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        unread.connect((proxy.host, proxy.port))
        part = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 26)
        unread.sendall(asked(FetchRequest(max_bytes=1 << 26, topics=[FetchTopic(topic="t", partitions=[part])]), 12, 1))
        until(lambda: room.used > 7 * LARGE, "an answer that is kept")
        other = clients.enter_context(socket.create_connection((proxy.host, proxy.port), SECONDS))
        other.sendall(produce("u", LARGE))
        assert len(read_frames(other, 1)) == 1
        until(lambda: (room.used, room.waiting) == (0, 0), "all room given back")


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"t": 1, "u": 1}) as running:
        yield running


LARGE = 700_000
MEDIUM = 300_000
"""All of it may be there before the proxy stops reading."""


def produce(topic: str, size: int, correlation_id: int = 1) -> bytes:
    data = PartitionProduceData(0, build_batch([NewRecord(None, bytes(size), 0)]))
    request = ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=[TopicProduceData(topic, partition_data=[data])])
    return asked(request, 9, correlation_id)


@pytest.mark.parametrize("size", [LARGE, MEDIUM])
def test_who_finds_no_room_is_read_when_there_is_some(stub: KafkaStub, size: int) -> None:
    """Two requests fit beside each other. Three wait, in their order, and hold up nobody whose request is small."""
    with ThreadPoolExecutor(5) as pool, KafkaProxy(stub.bootstrap_servers, keep_bytes=2 * size + 10_000) as proxy:
        room = proxy._proxy().room

        def write(number: int) -> bytes:
            with socket.create_connection((proxy.host, proxy.port), SECONDS) as sock:
                sock.sendall(produce("t", size, number))
                return read_frames(sock, 1)[0][:4]

        with proxy.faults.add(api="Produce", topic="t", hold="before") as fault:
            answers = [pool.submit(write, number) for number in range(5)]
            until(lambda: (len(fault.held), room.waiting) == (2, 3), "two that are held, and three that wait")
            assert room.used <= room.most
            with socket.create_connection((proxy.host, proxy.port), SECONDS) as other:
                other.sendall(produce("u", 1000))
                assert len(read_frames(other, 1)) == 1
            assert fault.release(1) == 1
            until(lambda: (len(fault.held), room.waiting) == (2, 2), "the next one")
        assert sorted(one.result(SECONDS) for one in answers) == [number.to_bytes(4) for number in range(5)]
        until(lambda: (room.used, room.waiting) == (0, 0), "all room given back")
    assert len(stub.records("t")) == 5


@pytest.mark.parametrize("when", ["before", "after"])
def test_who_goes_gives_back_what_it_has_taken(stub: KafkaStub, when: str) -> None:
    with ExitStack() as clients, KafkaProxy(stub.bootstrap_servers, keep_bytes=LARGE) as proxy:
        room = proxy._proxy().room
        fault = proxy.faults.add(api="Produce", topic="t", hold=when)
        for number in range(3):
            sock = clients.enter_context(socket.create_connection((proxy.host, proxy.port), SECONDS))
            sock.sendall(produce("t", LARGE, number)[: LARGE if number else None])
        until(lambda: len(fault.held) == 1 and (when == "after" or room.waiting == 2), "one that is held")
        clients.close()
        until(lambda: (room.used, room.waiting) == (0, 0), "all room given back")


def test_an_answer_that_a_rule_changes_takes_room_too(stub: KafkaStub) -> None:
    for _ in range(3):
        stub.produce("t", bytes(LARGE // 2))
    with ThreadPoolExecutor(2) as pool, KafkaProxy(stub.bootstrap_servers, keep_bytes=LARGE) as proxy:
        room = proxy._proxy().room

        def read(number: int) -> int:
            part = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 21)
            request = FetchRequest(max_bytes=1 << 21, topics=[FetchTopic(topic="t", partitions=[part])])
            with socket.create_connection((proxy.host, proxy.port), SECONDS) as sock:
                sock.sendall(asked(request, 12, number))
                return len(read_frames(sock, 1)[0])

        with proxy.faults.add(api="Fetch", hold="after") as fault:
            answers = [pool.submit(read, number) for number in range(2)]
            until(lambda: (len(fault.held), room.waiting) == (1, 1), "one that is held, and one that waits")
            assert fault.release() == 1
            until(lambda: (len(fault.held), room.waiting) == (1, 0), "the next one")
        assert all(one.result(SECONDS) > LARGE for one in answers)
        until(lambda: (room.used, room.waiting) == (0, 0), "all room given back")
