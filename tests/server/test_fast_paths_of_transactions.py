"""The fast paths of transactions do what the careful ways do: the same answers, the same logs, whatever is asked."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.handlers.outcome import Deferred
from kafkastub.metadata import TRANSACTION_STATE
from kafkastub.server.dispatch import Dispatcher, Refused
from kafkawire.codec import Parts, decode_from, encode
from kafkawire.framing import frame
from kafkawire.header import is_flexible, request_header
from kafkawire.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kafkawire.messages.end_txn_request import EndTxnRequest
from kafkawire.messages.end_txn_response import EndTxnResponse
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.init_producer_id_response import InitProducerIdResponse
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.records import NewRecord, build_batch
from kafkawire.schema import Message
from tests.handlers.desk import START_MS, Desk
from tests.server.careful import CarefulDispatcher

NAMES = ("tx", "other", "é")
TOPICS = {"orders": {}, "stamped": {"message_timestamp_type": "LogAppendTime"}, "small": {"segment_bytes": "300"}}
CREATED = {name: {k.replace("segment", "internal_segment"): v for k, v in how.items()} for name, how in TOPICS.items()}
LAST_EPOCH = 0x7FFF


class Broker:
    """A broker that is spoken to in frames."""

    def __init__(self, careful: bool) -> None:
        self.desk = Desk()
        self.state = self.desk.state
        for name, configs in CREATED.items():
            self.desk.topic(name, 2, **configs)
        self.dispatcher = CarefulDispatcher(self.state) if careful else Dispatcher(self.state)
        self.info = ConnectionInfo(1, "/127.0.0.1", "127.0.0.1:1")
        self.put_off: list[tuple[Deferred, int]] = []
        """Those who wait for a transaction to end."""
        self.say(asked(FindCoordinatorRequest(key_type=1, coordinator_keys=list(NAMES)), 4))

    def say(self, whole: bytes) -> tuple[bytes, Any]:
        """The bytes of the answer to a frame, and what else became of it."""
        out: Parts = []
        try:
            moment = self.desk.broker_ms, self.desk.timer_ms
            left = self.dispatcher.serve(whole, 4, len(whole), self.info, *moment, out)
        except Refused as refused:
            return b"", str(refused)
        if left is not None and isinstance(left[1], Deferred):
            self.put_off.append((left[1], left[0].route.version))
            return b"", "put off"
        return b"".join(out), None if left is None else left[1]

    def kept(self) -> Any:
        """All that is in the logs, and what the coordinator knows."""
        transactions = self.state.transactions
        coordinator = transactions.coordinator
        logs = {}
        for name in (*CREATED, TRANSACTION_STATE):
            topic = self.state.cluster.topic(name)
            for partition in () if topic is None else topic.partitions:
                log = self.state.logs.log(topic.topic_id, partition.index) if topic else None
                if log is not None:
                    batches = [(one.head, bytes(one.payload or b""), one.size) for one in log.batches_from(0)]
                    producers = [
                        (one.producer_id, one.epoch, list(one.batches), one.last_timestamp, one.appended_ms,
                         one.coordinator_epoch, one.transaction_start)
                        for one in log.producers()
                    ]  # fmt: skip
                    told = log.aborted_transactions(0, 1 << 40)
                    ends = log.last_stable_offset, log.log_end_offset
                    logs[name, partition.index] = batches, producers, told, ends
        known = {
            name: (one.metadata, list(one.partitions), one.deadline.at)
            for name, one in coordinator.transactions.items()
        }
        later = [None if one.reply is None else encode(one.reply, version) for one, version in self.put_off]
        meters = coordinator.meters
        counted = meters.committed, meters.aborted, meters.timed_out
        return logs, known, counted, later, list(coordinator.idle.items()), transactions.under_way, transactions.held


def asked(request: Message, version: int) -> bytes:
    kind = type(request)
    header = request_header(kind.API_KEY, version, 7, "test", is_flexible(kind, version))
    return bytes(frame(header, encode(request, version)))


class Play:
    """Both brokers are asked the same, most of it such as producers ask."""

    def __init__(self, seed: int) -> None:
        self.straight, self.careful = Broker(careful=False), Broker(careful=True)
        self.both = self.straight, self.careful
        self.random = random.Random(seed)
        self.who: dict[str, tuple[int, int]] = {}
        self.sequences: dict[tuple[int, int, str, int], int] = {}

    def ask(self, request: Message, version: int) -> bytes:
        whole = asked(request, version)
        if self.random.random() < 0.03:
            spoilt = bytearray(whole)
            spoilt[self.random.randrange(20, len(spoilt))] ^= 1 << self.random.randrange(8)
            whole = bytes(spoilt)
        answers = [broker.say(whole) for broker in self.both]
        assert answers[0] == answers[1], (request, version)
        return answers[0][0]

    def step(self) -> None:
        doing = (self.init, self.add, self.produce, self.produce, self.produce, self.end, self.end, self.trouble)
        self.random.choice(doing)()
        for broker in self.both:
            broker.desk.broker_ms += 3
            broker.desk.timer_ms += 3

    def name(self) -> str:
        return self.random.choice(NAMES)

    def whose(self, name: str) -> tuple[int, int]:
        producer_id, epoch = self.who.get(name, (0, 0))
        wrong = self.random.random()
        if wrong < 0.05:
            return producer_id + 1, epoch
        return (producer_id, max(epoch + self.random.choice((-1, 1)), -1)) if wrong < 0.1 else (producer_id, epoch)

    def init(self) -> None:
        name = self.name()
        answer = self.ask(InitProducerIdRequest(name, self.random.choice((1000, 60_000))), 4)
        self.remember(name, InitProducerIdResponse, 4, answer)

    def remember(
        self, name: str, kind: type[InitProducerIdResponse | EndTxnResponse], version: int, answer: bytes
    ) -> None:
        """With what the producer goes on. A spoilt request may have no answer."""
        if answer:
            found, _ = decode_from(kind, version, answer, 9)
            if not found.error_code:
                self.who[name] = found.producer_id, found.producer_epoch

    def partitions(self) -> list[AddPartitionsToTxnTopic]:
        names = self.random.sample([*CREATED, "nope", TRANSACTION_STATE], self.random.choice((1, 1, 2)))
        return [AddPartitionsToTxnTopic(one, self.random.choice(([0], [0], [1], [0, 1], [0, 0], [7]))) for one in names]

    def add(self) -> None:
        name = self.name()
        version = self.random.choice((0, 3, 3, 3, 3, 4, 5))
        if version < 4:
            request = AddPartitionsToTxnRequest((), name, *self.whose(name), self.partitions())
        else:
            one = AddPartitionsToTxnTransaction(name, *self.whose(name), False, self.partitions())
            request = AddPartitionsToTxnRequest([one])
        self.ask(request, version)

    def produce(self) -> None:
        name, topic, index = self.name(), self.random.choice(list(CREATED)), self.random.randrange(2)
        producer_id, epoch = self.whose(name)
        place = (producer_id, epoch, topic, index)
        sequence = self.sequences.get(place, 0)
        count = self.random.choice((1, 1, 3))
        self.sequences[place] = sequence + self.random.choice((count, count, count, 0, 7))
        now = self.straight.desk.broker_ms
        data = build_batch(
            [NewRecord(None, b"v" * 20, now)] * count, producer_id=producer_id, producer_epoch=epoch,
            base_sequence=sequence, attributes=self.random.choice((0x10, 0x10, 0x10, 0x10, 0)),
        )  # fmt: skip
        found = self.straight.state.cluster.topic(topic)
        topic_id = bytes(16) if found is None else found.topic_id
        asked_for = TopicProduceData(topic, topic_id, [PartitionProduceData(index, data)])
        version = self.random.choice((3, 8, 9, 11, 12, 12, 13))
        self.ask(ProduceRequest(name, self.random.choice((-1, -1, 1)), 1000, [asked_for]), version)

    def end(self) -> None:
        name, version = self.name(), self.random.choice((0, 2, 3, 4, 5, 5, 5))
        request = EndTxnRequest(name, *self.whose(name), self.random.random() < 0.6)
        answer = self.ask(request, version)
        if version >= 5:
            self.remember(name, EndTxnResponse, 5, answer)

    def trouble(self) -> None:
        kind, name, topic = self.random.randrange(7), self.name(), self.random.choice(list(CREATED))
        for broker in self.both:
            desk, transactions = broker.desk, broker.state.transactions
            if kind == 0:
                transactions.hold_markers(name)
            elif kind == 1:
                transactions.release_markers(name, desk.broker_ms, desk.timer_ms)
            elif kind == 2:
                desk.delete(topic) if broker.state.cluster.topic(topic) else desk.topic(topic, 2, **CREATED[topic])
            elif kind == 3:
                desk.wait_until(desk.timer_ms + 2000)
            elif kind == 4 and name in transactions.coordinator.transactions:  # the epochs come to their end
                known = transactions.coordinator.transactions[name]
                known.metadata = known.metadata._replace(producer_epoch=LAST_EPOCH - 2)
                self.who[name] = known.metadata.producer_id, LAST_EPOCH - 2
            elif kind == 5:
                found = broker.state.cluster.topic(topic)
                if found is not None:
                    found.partitions[0].leader = 1 if found.partitions[0].leader < 0 else -1
            broker.state.expire(desk.broker_ms, desk.timer_ms)


@given(st.integers(0, 1 << 32))
def test_whatever_is_asked_is_answered_and_kept_alike(seed: int) -> None:
    play = Play(seed)
    for _ in range(60):
        play.step()
    assert play.straight.kept() == play.careful.kept()


@pytest.mark.parametrize(("produce", "end"), [(8, 3), (11, 4), (12, 5), (13, 5)])
def test_what_producers_do_all_day_goes_straight(produce: int, end: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fast path that is never taken would be no better than none."""
    play = Play(1)
    play.random.random = lambda: 0.5  # type: ignore[method-assign]
    play.who["tx"] = 0, 0
    play.ask(InitProducerIdRequest("tx", 1000), 4)
    careful = [route.handler for route in play.straight.dispatcher.routes()]

    def forbidden(ctx: Any, request: Any) -> Any:
        raise AssertionError(type(request).__name__)

    topic = play.straight.state.cluster.topics["orders"]
    producer_id, epoch, sequence = 0, 0, 0
    for number in range(5):
        if produce < 12:
            play.ask(AddPartitionsToTxnRequest((), "tx", 0, 0, [AddPartitionsToTxnTopic("orders", [0])]), 3)
        data = build_batch(
            [NewRecord(None, b"v", START_MS)], producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence,
            attributes=0x10,
        )  # fmt: skip
        partition = TopicProduceData("orders", topic.topic_id, [PartitionProduceData(0, data)])
        play.ask(ProduceRequest("tx", -1, 1000, [partition]), produce)
        play.ask(EndTxnRequest("tx", producer_id, epoch, number != 2), end)
        epoch, sequence = (epoch + 1, 0) if end == 5 else (epoch, sequence + 1)
        if number == 0:
            for route in play.straight.dispatcher.routes():
                if route.handler not in careful:
                    assert route.fast_path is not None, route.key
                    route.handler = route.bypassed = forbidden
    log = play.straight.state.logs.log(topic.topic_id, 0)
    assert log is not None
    assert log.log_end_offset == 10
    assert play.straight.kept() == play.careful.kept()
