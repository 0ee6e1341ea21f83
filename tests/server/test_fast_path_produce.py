"""the fast path of Produce does what the careful one does: the same answers, the same logs, whatever is asked."""

from __future__ import annotations

import random
from inspect import getclosurevars
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.layers.fast_paths.produce import ZSTD_FROM, fast_path
from kafkastub.server.dispatch import Dispatcher, Refused
from kafkastub.storage import LogSettings, Marker, PartitionLog
from kafkastub_conformance.differential.data_batches import CODECS, T0, Batches, resealed
from kafkawire.api import ApiKey
from kafkawire.codec import Parts, encode
from kafkawire.framing import frame
from kafkawire.header import request_header
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.produce_response import ProduceResponse
from kafkawire.records import Compression, NewRecord, build_batch
from tests.handlers.desk import Desk, batch, produce_request
from tests.handlers.test_transactional_records import Coordinator
from tests.server.careful import CLIENT, CarefulDispatcher, append_with_care

VERSIONS = range(3, 14)
TOPICS: dict[str, dict[str, str]] = {
    "orders": {},
    "many": {},
    "keyed": {"cleanup_policy": "compact"},
    "stamped": {"message_timestamp_type": "LogAppendTime"},
    "packed": {"compression_type": "lz4"},
    "unpacked": {"compression_type": "uncompressed"},
    "bounded": {"max_decompressed_message_bytes": "100"},
    "small": {"max_message_bytes": "200"},
    "segments": {"internal_segment_bytes": "300"},
    "recent": {"message_timestamp_before_max_ms": "50000", "message_timestamp_after_max_ms": "50000"},
    "__consumer_offsets": {},
}


class Broker:
    """A broker with a topic of each kind, that is spoken to in frames."""

    def __init__(self, careful: bool) -> None:
        self.desk = Desk()
        state = self.desk.state
        if careful:
            append_with_care(state)
        state._transactions = Coordinator()  # type: ignore[assignment]
        self.topics = {name: self.desk.topic(name, 2, **configs) for name, configs in TOPICS.items()}
        self.dispatcher = CarefulDispatcher(state) if careful else Dispatcher(state)
        self.info = ConnectionInfo(1, "/127.0.0.1", "127.0.0.1:1")
        self.now_ms = T0

    def say(self, whole: bytes, start: int = 0) -> tuple[bytes, Any]:
        """The bytes of the answer to a frame that begins there, and what else became of it."""
        out: Parts = []
        size = int.from_bytes(whole[start : start + 4], "big")
        try:
            left = self.dispatcher.serve(whole, start + 4, start + 4 + size, self.info, self.now_ms, 0, out)
        except Refused as refused:
            return b"", str(refused)
        return b"".join(out), None if left is None else left[1]

    def held(self) -> dict[tuple[str, int], Any]:
        """All that is in the logs, and what they know of producers."""
        found = {}
        for name, topic in self.topics.items():
            for index in range(2):
                log = self.desk.state.logs.log(topic.topic_id, index)
                if log is not None:
                    known = [
                        (
                            one.producer_id,
                            one.epoch,
                            list(one.batches),
                            one.last_timestamp,
                            one.appended_ms,
                            one.transaction_start,
                        )
                        for one in log.producers()
                    ]
                    batches = [
                        (one.base_offset, one.last_offset, one.max_timestamp, one.leader_epoch, one.appended_ms,
                         one.size, one.head, bytes(one.payload or b""), one.payload is None)
                        for one in log.batches_from(0)
                    ]  # fmt: skip
                    found[name, index] = (
                        log.log_start_offset,
                        log.last_stable_offset,
                        log.log_end_offset,
                        known,
                        batches,
                    )
        return found

    def end(self, producer_id: int) -> None:
        """The producer's transactions end, in every partition."""
        for topic in self.topics.values():
            for log in self.desk.state.logs.of_topic(topic.topic_id):
                entry = log.producer_states.entry(producer_id)
                if entry is not None:
                    log.append_marker(Marker(producer_id, entry.epoch, True), leader_epoch=0, now_ms=self.now_ms)


def asked(request: ProduceRequest, version: int, number: int = 7) -> bytes:
    return frame(request_header(ApiKey.PRODUCE, version, number, "test", version >= 9), encode(request, version))


class Requests:
    """Random ones, most of them such as producers send."""

    def __init__(self, broker: Broker, source: random.Random) -> None:
        self.broker = broker
        self.random = source
        self.batches = Batches(source)
        self.sequences: dict[tuple[int, int], int] = {}
        self.attributes = 0

    def frame(self) -> bytes:
        chance = self.random.random
        version = self.random.choice(VERSIONS)
        transactional_id = self.random.choice(("t", "t", "", "t" * 20, "é" * 100)) if chance() < 0.3 else None
        self.attributes = 0x10 if chance() < (0.01 if transactional_id is None else 0.8) else 0
        data = [
            TopicProduceData(name, topic_id, [self._partition() for _ in range(1 + (chance() < 0.05))])
            for name, topic_id in [self._topic() for _ in range(1 + (chance() < 0.05))]
        ]
        request = ProduceRequest(
            transactional_id=transactional_id,
            acks=self.random.choice((-1, -1, -1, 1, 1, 0, 2)),
            timeout_ms=self.random.choice((0, 1000)),
            topic_data=data,
        )
        whole = bytearray(asked(request, version))
        if chance() < 0.05:
            whole[self.random.randrange(8, min(len(whole), 120))] ^= 1 << self.random.randrange(8)
        if chance() < 0.05:
            whole += b"\0" * self.random.choice((1, 3))
            whole[:4] = (len(whole) - 4).to_bytes(4, "big")
        return bytes(whole)

    def _topic(self) -> tuple[str, bytes]:
        if self.random.random() < 0.05:
            return "nope", b"n" * 16
        name = self.random.choice([*TOPICS, "orders", "orders", "many"])
        return name, self.broker.topics[name].topic_id

    def _partition(self) -> PartitionProduceData:
        index = self.random.choice((0, 0, 0, 0, 1, 1, 2, -1))
        return PartitionProduceData(index, self._records())

    def _records(self) -> bytes | None:
        kind = self.random.randrange(10)
        codec = self.random.choice(CODECS)
        if kind < 4:
            whole = build_batch(self.batches.records(), compression=codec, **self._producer())
            if codec and self.random.random() < 0.1:
                odd = (
                    {"max_timestamp": T0 + self.random.choice((500_000, 5_000_000, -T0 - 9))},
                    {"attributes": codec + 5},
                )
                return resealed(whole, **self.random.choice(odd))
            return whole
        if kind < 6:
            one = NewRecord(
                None, b"v" * self.random.choice((1, 70, 900, 5000)), self.random.choice((T0, T0, T0, 0, -1, -9))
            )
            return build_batch([one] * self.random.choice((1, 30, 70)), compression=codec, **self._producer())
        if kind < 8:
            return self.batches.spoilt(unpacked=False)
        return None if kind == 8 and self.random.random() < 0.2 else self.batches.good()

    def _producer(self) -> dict[str, Any]:
        """Nobody's, or the next batch of an idempotent producer; now and then a sequence again, or none that fits."""
        if self.random.random() < 0.5:
            return {}
        who = self.random.randrange(2), self.random.randrange(2)
        at = self.sequences.get(who, 0)
        self.sequences[who] = at + self.random.choice((0, 1, 1, 1, 3))
        header = {"producer_id": who[0], "producer_epoch": who[1], "base_sequence": at}
        return {**header, "attributes": self.attributes}


@given(st.integers(0, 1 << 32))
def test_whatever_is_asked_is_answered_and_kept_alike(seed: int) -> None:
    straight, careful = Broker(careful=False), Broker(careful=True)
    requests = Requests(straight, random.Random(seed))
    said: list[bytes] = []
    for _ in range(30):
        if requests.random.random() < 0.4 and said:
            whole = requests.random.choice(said)  # once more the same
        else:
            whole = requests.frame()
        said.append(whole)
        lead = requests.random.choice((b"", b"\1" * 9, b"\0" * 100_000))
        buffer = lead + whole + lead
        assert straight.say(buffer, len(lead)) == careful.say(buffer, len(lead)), whole.hex()
        if requests.random.random() < 0.1:
            producer_id = requests.random.randrange(2)
            straight.end(producer_id)
            careful.end(producer_id)
        straight.now_ms = careful.now_ms = straight.now_ms + requests.random.choice((0, 1, 1000))
    assert straight.held() == careful.held()


@pytest.mark.parametrize(
    ("version", "codec"), [(version, codec) for version in VERSIONS for codec in range(4 + (version >= ZSTD_FROM))]
)
@pytest.mark.parametrize("producer", [{}, {"producer_id": 5, "producer_epoch": 0}])
@pytest.mark.parametrize("count", [1, 40])
@pytest.mark.parametrize("size", [10, 3000])
def test_what_comes_every_day_goes_straight(
    version: int, producer: dict[str, Any], count: int, size: int, codec: int
) -> None:
    producer = {**producer, "compression": codec}
    desk = Desk()
    topic = desk.topic()
    way = fast_path(desk.state, version)
    answers = []
    for number in range(4):
        if "producer_id" in producer:
            producer["base_sequence"] = number * count
        one = batch(*[bytes(size)] * count, timestamp=T0, **producer)
        body = encode(produce_request(one, topic_id=topic.topic_id), version)
        answers.append(way(CLIENT, body, 0, len(body), T0, 0))
        if answers[-1] is None:  # a producer is introduced with care
            asked_so = produce_request(one, topic_id=topic.topic_id)
            assert not desk.ask(version, asked_so, ProduceResponse).responses[0].partition_responses[0].error_code
    assert [answer is None for answer in answers] == ["producer_id" in producer, False, False, False]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("codec", range(5, 8))
def test_a_codec_that_a_version_does_not_have_is_left_to_the_handler(version: int, codec: int) -> None:
    codec -= version < ZSTD_FROM
    desk = Desk()
    topic = desk.topic()
    body = encode(produce_request(resealed(batch(timestamp=T0), attributes=codec), topic_id=topic.topic_id), version)
    for _ in range(2):
        assert fast_path(desk.state, version)(CLIENT, body, 0, len(body), T0, 0) is None


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("codec", [0, 2])
def test_a_transaction_that_is_open_goes_straight(version: int, codec: int) -> None:
    desk = Desk()
    desk.state._transactions = Coordinator()  # type: ignore[assignment]
    topic = desk.topic()
    way = fast_path(desk.state, version)
    answers = []
    for number in range(4):
        one = batch(
            timestamp=T0, producer_id=5, producer_epoch=0, base_sequence=number, attributes=0x10, compression=codec
        )
        request = produce_request(one, topic_id=topic.topic_id, transactional_id="tx")
        body = encode(request, version)
        answers.append(way(CLIENT, body, 0, len(body), T0, 0))
        if answers[-1] is None:  # the coordinator is asked with care
            assert not desk.ask(version, request, ProduceResponse).responses[0].partition_responses[0].error_code
    assert [answer is None for answer in answers] == [True, False, False, False]


NEEDS_UNPACKING: dict[str, LogSettings] = {
    "keys": LogSettings(compact=True),
    "another codec": LogSettings(compression=Compression.LZ4),
    "no codec": LogSettings(compression=Compression.NONE),
    "times that may be too early": LogSettings(timestamp_before_max_ms=50_000),
    "times that are too late": LogSettings(timestamp_after_max_ms=999),
    "the broker's time": LogSettings(log_append_time=True),
    "sizes of records": LogSettings(max_decompressed_message_bytes=100),
}


@pytest.mark.parametrize("name", NEEDS_UNPACKING)
def test_a_compressed_batch_is_stored_unseen_only_where_nothing_in_it_matters(name: str) -> None:
    packed = batch(timestamp=T0 + 1000, compression=Compression.GZIP)
    looked_into = PartitionLog("orders-0", NEEDS_UNPACKING[name])
    assert looked_into.append_ordinary(packed, 0, len(packed), 0, T0, T0) is None
    assert looked_into.log_end_offset == 0
    for settings in (LogSettings(), LogSettings(compression=Compression.GZIP)):
        log = PartitionLog("orders-0", settings)
        assert log.append_ordinary(packed, 0, len(packed), 0, T0, T0) == 0


def test_what_is_kept_pins_no_buffer_much_larger_than_itself() -> None:
    log = PartitionLog("orders-0", LogSettings())
    one = batch(bytes(9000), timestamp=T0)
    for before, behind in ((b"", b"x" * 9000), (b"x" * 100_000, b""), (b"", b"x" * 100_000)):
        buffer = before + one + behind
        log.append_ordinary(buffer, len(before), len(before) + len(one), 0, T0, T0)
    payloads = [stored.payload for stored in log.batches_from(0)]
    pinned = [len(cast(bytes, held.obj)) if isinstance(held, memoryview) else len(held or b"") for held in payloads]
    assert pinned == [len(one) + 9000, len(one) - 61, len(one) - 61]
    assert {bytes(held or b"") for held in payloads} == {one[61:]}


def test_a_handler_in_between_closes_the_straight_way() -> None:
    broker = Broker(careful=False)
    whole = asked(produce_request(batch(timestamp=T0)), 9)
    broker.say(whole)
    (route,) = broker.dispatcher.routes()
    handler, told = route.handler, []

    def between(ctx: Any, request: Any) -> Any:
        told.append(request)
        return handler(ctx, request)

    broker.say(whole)
    assert not told
    route.handler = between
    assert broker.say(whole)[0]
    assert len(told) == 1


def test_the_beginnings_that_are_remembered_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafkastub.layers.fast_paths.produce._MOST_PLANS", 3)
    broker = Broker(careful=False)
    answers, most = set(), 0
    for timeout in [*range(10), *range(10)]:
        answers.add(broker.say(asked(produce_request(batch(timestamp=T0), timeout_ms=timeout), 9))[0])
        (route,) = broker.dispatcher.routes()
        assert route.fast_path is not None
        most = max(most, len(getclosurevars(route.fast_path).nonlocals["plans"]))
    assert len(answers) == 20  # each with an offset of its own
    assert most == 3


def test_a_topic_that_was_deleted_is_gone_for_the_straight_way_too() -> None:
    straight, careful = Broker(careful=False), Broker(careful=True)
    whole = asked(produce_request(batch(timestamp=T0)), 9)
    for broker in (straight, careful):
        for _ in range(2):
            broker.say(whole)
        broker.desk.delete("orders")
    assert straight.say(whole) == careful.say(whole)
