"""The fast paths of ShareFetch and ShareAcknowledge do what the careful ones do: the same answers, the same state."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkastub.layers.fast_paths import share_acknowledge, share_fetch
from kafkastub.server.dispatch import Dispatcher, Refused
from kafkastub.state.partitions import log_of
from kafkastub.storage import Marker
from kafkawire.codec import Parts, encode
from kafkawire.framing import frame
from kafkawire.header import is_flexible, request_header
from kafkawire.messages.share_acknowledge_request import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from kafkawire.schema import Message
from tests.handlers.desk import batch
from tests.handlers.share_desk import ACCEPT, REJECT, RELEASE, RENEW, ShareDesk
from tests.server.careful import CarefulDispatcher

MEMBERS = ("m1", "m2", "é")
PARTITIONS = 2


class Broker:
    """A broker that is spoken to in frames."""

    def __init__(self, careful: bool) -> None:
        self.desk = ShareDesk(partitions=PARTITIONS)
        self.state = self.desk.state
        self.dispatcher = CarefulDispatcher(self.state) if careful else Dispatcher(self.state)
        self.put_off: list[Any] = []

    def say(self, whole: bytes) -> tuple[bytes, str]:
        """The bytes of the answer to a frame, and what else became of it."""
        out: Parts = []
        desk = self.desk
        try:
            left = self.dispatcher.serve(whole, 4, len(whole), desk.on("c"), desk.broker_ms, desk.timer_ms, out)
        except Refused as refused:
            return b"", str(refused)
        if left is not None:
            self.put_off.append((left[1], left[0].route.version))
            return b"", "put off"
        return b"".join(bytes(part) for part in out), ""

    def seen(self) -> Any:
        """All that is known of share partitions and sessions, and what was written."""
        sharing = self.state.share_partitions
        sessions = [
            (one.group_id, one.member_id, one.epoch, list(one.partitions.items())) for one in sharing.sessions_of(1)
        ]
        lives = [
            (
                live.index, live.partition.start_offset, live.partition.end_offset, list(live.partition.view()),
                live.partition.delivery_complete_count, live.partition.next_fetch_offset(),
            )
            for live in sharing.of_group("g")
        ]  # fmt: skip
        kept = {
            key: (one.start_offset, one.delivery_complete_count, one.batches, one.updates)
            for key, one in sharing.coordinator.coordinator.states.items()
        }
        later = [None if one.reply is None else encode(one.reply, version) for one, version in self.put_off]
        return sessions, lives, kept, later, sharing.next_deadline()


def asked(request: Message, version: int) -> bytes:
    kind = type(request)
    header = request_header(kind.API_KEY, version, 7, "test", is_flexible(kind, version))
    return bytes(frame(header, encode(request, version)))


class Play:
    """Both brokers are asked the same, most of it such as members ask."""

    def __init__(self, seed: int, **configs: str) -> None:
        self.both = Broker(careful=False), Broker(careful=True)
        topic_ids = {bytes(16)}
        for broker in self.both:
            broker.desk.begin_at_first("g", **configs)
            topic_ids.add(broker.desk.orders.topic_id)
        assert len(topic_ids) == 2, "both have the same topic"
        self.topic_id = topic_ids.difference({bytes(16)}).pop()
        self.random = random.Random(seed)
        self.epochs = dict.fromkeys(MEMBERS, 0)
        self.sequences = [0] * PARTITIONS

    def ask(self, request: Message, version: int) -> None:
        whole = asked(request, version)
        if self.random.random() < 0.02:
            spoilt = bytearray(whole)
            spoilt[self.random.randrange(20, len(spoilt))] ^= 1 << self.random.randrange(8)
            whole = bytes(spoilt)
        answers = [broker.say(whole) for broker in self.both]
        assert answers[0] == answers[1], (request, version)

    def step(self) -> None:
        chance = self.random
        member = chance.choice(MEMBERS)
        kind = chance.random()
        for broker in self.both:
            broker.desk.broker_ms += 7
        if kind < 0.25:
            self._produce()
        elif kind < 0.6:
            self._fetch(member)
        elif kind < 0.9:
            self._acknowledge(member)
        elif kind < 0.94:
            ms = chance.choice([1, 1000, 30_000])
            for broker in self.both:
                broker.desk.wait_until(broker.desk.timer_ms + ms)
        elif kind < 0.97:
            holds = chance.random() < 0.5
            for broker in self.both:
                sharing, desk = broker.state.share_partitions, broker.desk
                if holds:
                    sharing.hold_acknowledgements("g")
                else:
                    sharing.release_acknowledgements("g", desk.broker_ms, desk.timer_ms)
        else:
            self.epochs[member] = 0
        seen = [broker.seen() for broker in self.both]
        assert seen[0] == seen[1]

    def _produce(self) -> None:
        chance = self.random
        index, values = chance.randrange(PARTITIONS), [b"v" * chance.choice([1, 300])] * chance.choice([1, 3, 10, 60])
        aborted = chance.random() < 0.1
        for broker in self.both:
            desk = broker.desk
            if not aborted:
                desk.fill(batch(*values), partition=index)
                continue
            log = log_of(broker.state, desk.orders, index)
            in_transaction = batch(
                *values, producer_id=9, producer_epoch=0, base_sequence=self.sequences[index], attributes=0x10
            )
            log.append(in_transaction, leader_epoch=0, now_ms=desk.broker_ms)
            log.append_marker(Marker(9, 0, commit=False), leader_epoch=0, now_ms=desk.broker_ms)
        self.sequences[index] += len(values) if aborted else 0

    def _epoch(self, member: str) -> int:
        epoch = self.epochs[member]
        self.epochs[member] += 1
        return epoch if self.random.random() < 0.97 else epoch + self.random.choice([-1, 1])

    def _fetch(self, member: str) -> None:
        chance, epoch = self.random, self._epoch(member)
        version = chance.choice([1, 2])
        first = epoch == 0
        named = chance.choice([(0,), (0,), (1,), (0, 1)]) if first or chance.random() < 0.1 else ()
        along = {0: self._said(member)} if not first and chance.random() < 0.4 else {}
        request = self.both[0].desk.fetch_request(
            epoch, member, partitions=named, along=along, forget=(1,) if chance.random() < 0.05 else (),
            max_wait_ms=0, min_bytes=chance.choice([0, 1, 1, 5000]),
            max_bytes=chance.choice([0, 200, 1 << 20, 1 << 20]),
            max_records=chance.choice([1, 5, 50, 500]), batch_size=chance.choice([1, 100]),
            share_acquire_mode=chance.choice([0, 0, 1, 7]) if version > 1 else 0,
        )  # fmt: skip
        self.ask(request, version)

    def _acknowledge(self, member: str) -> None:
        chance, version = self.random, self.random.choice([1, 2])
        renews = version > 1 and chance.random() < 0.1
        said = [AcknowledgementBatch(*one) for one in self._said(member, renews)]
        partition = AcknowledgePartition(chance.choice([0, 0, 0, 1]), said)
        topics = [AcknowledgeTopic(self.topic_id, [partition])]
        request = ShareAcknowledgeRequest("g", member, self._epoch(member), is_renew_ack=renews, topics=topics)
        self.ask(request, version)

    def _said(self, member: str, renews: bool = False) -> list[tuple[int, int, list[int]]]:
        chance = self.random
        mine = [
            one
            for live in self.both[0].state.share_partitions.of_group("g")
            if live.index == 0
            for one in live.partition.view()
            if one.member_id == member
        ]
        said = []
        for one in mine[: chance.choice([1, 2, 9])]:
            last = chance.randint(one.first_offset, one.last_offset) if chance.random() < 0.3 else one.last_offset
            kinds = [ACCEPT, ACCEPT, ACCEPT, RELEASE, REJECT, RENEW if renews else ACCEPT]
            many = last - one.first_offset + 1 if chance.random() < 0.1 else 1
            said.append((one.first_offset, last, [chance.choice(kinds) for _ in range(many)]))
        if not said or chance.random() < 0.05:
            said.append((chance.randrange(50), chance.randrange(60), [ACCEPT]))
        return said


@given(
    st.integers(0, 1 << 32), st.sampled_from(["read_committed", "read_uncommitted"]), st.sampled_from(["2000", "100"])
)
def test_random_requests(seed: int, isolation: str, locks: str) -> None:
    play = Play(seed, share_isolation_level=isolation, share_partition_max_record_locks=locks)
    for _ in range(60):
        play.step()


@pytest.mark.parametrize("version", [1, 2])
def test_a_member_that_keeps_up_goes_the_fast_way(version, monkeypatch):
    """What it got is acknowledged with the next fetch, or by itself."""
    straight: list[str] = []
    for module in (share_fetch, share_acknowledge):
        monkeypatch.setattr(module, "fast_path", _counting(module, straight))
    broker = Broker(careful=False)
    desk = broker.desk
    desk.fill(batch(b"a", b"b"))
    for epoch, along in ((0, {}), (1, {}), (2, {0: [(0, 1, [ACCEPT])]})):
        desk.fill(batch(b"a", b"b"))
        request = desk.fetch_request(epoch, partitions=() if epoch else (0,), along=along, max_records=2)
        assert broker.say(asked(request, version))[0]
    topics = [
        AcknowledgeTopic(desk.orders.topic_id, [AcknowledgePartition(0, [AcknowledgementBatch(2, 3, [RELEASE])])])
    ]
    assert broker.say(asked(ShareAcknowledgeRequest("g", "m", 3, topics=topics), version))[0]
    assert straight == ["share_fetch", "share_fetch", "share_acknowledge"]


def _counting(module: Any, straight: list[str]) -> Any:
    make = module.fast_path

    def made(*what: Any) -> Any:
        path = make(*what)

        def counted(*asked_for: Any) -> Any:
            found = path(*asked_for)
            if found is not None:
                straight.append(module.__name__.rpartition(".")[2])
            return found

        return counted

    return made
