"""An internal topic is a codec and a coordinator: here a small one of `__share_group_state`, read by a real client."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from kafkastub import KafkaStub
from kafkastub.coordinator import partition_for
from kafkastub.metadata import SHARE_GROUP_STATE
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.internal_topics.durable_topic import DurableTopic
from kafkastub.state.internal_topics.internal_topic import InternalTopic
from kafkastub.state.runtime import Runtime
from kafkastub.storage.disk import DiskLogs
from kafkawire.errors import MalformedMessage
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from tests.persistence.speaker import Speaker
from tests.waiting import SECONDS

PARTITIONS, HISTORY, NAMES = 3, 20, [f"transaction-{number}" for number in range(10)]
DAMAGED = "what no codec reads"
NO_TOPIC = "A" * 22


class State(NamedTuple):
    """Of a transactional id; `producer_id` None: it is gone."""

    name: str
    producer_id: int | None
    epoch: int = 0


class Codec:
    def owner(self, record: State) -> str:
        return record.name

    def encode(self, record: State) -> tuple[bytes, bytes | None]:
        key = b"?" if record.name == DAMAGED else struct.pack(">hh", 0, len(record.name)) + record.name.encode()
        return key, None if record.producer_id is None else struct.pack(">hqh", 0, record.producer_id, record.epoch)

    def decode(self, key: bytes | None, value: bytes | None) -> State:
        if key is None or len(key) < 4:
            raise MalformedMessage("TransactionLogKey", "version", 0, "there is no key")
        _, producer_id, epoch = struct.unpack(">hqh", value) if value else (0, None, 0)
        return State(key[4:].decode(), producer_id, epoch)


class Turn:
    def __init__(self, *records: State) -> None:
        self.broker_ms, self.records, self.completions = 1_700_000_000_000, [*records], []


class Coordinator:
    def __init__(self) -> None:
        self.states: dict[str, State] = {}

    def apply(self, record: State) -> None:
        self.states[record.name] = record
        if record.producer_id is None:
            del self.states[record.name]

    def knows(self, owner: str) -> bool:
        return owner in self.states

    def loaded(self, broker_ms: int, timer_ms: int) -> Turn:
        return Turn()

    def unload(self, broker_ms: int, timer_ms: int) -> Turn:
        self.states = {}
        return Turn()


class Written(Runtime[State]):
    def settle(self, turn: Turn) -> None:
        self.topic.write(turn)


class Running(NamedTuple):
    stub: KafkaStub
    topic: InternalTopic[State]
    coordinator: Coordinator

    def write(self, *records: State) -> None:
        def write() -> None:
            for record in records:
                self.coordinator.apply(record)
            self.topic.write(Turn(*records))
            self.stub._running().state.wake(SHARE_GROUP_STATE)

        self.stub._call(write)

    def read(self) -> dict[int, list[tuple[int, State]]]:
        """Offset and record, by partition, as librdkafka finds them."""
        settings = {"bootstrap.servers": self.stub.bootstrap_servers, "group.id": "reader", "fetch.wait.max.ms": 10}
        consumer, found = Consumer(settings), {p: [] for p in range(PARTITIONS)}
        for partition, records in found.items():
            consumer.assign([TopicPartition(SHARE_GROUP_STATE, partition, OFFSET_BEGINNING)])
            _, end = consumer.get_watermark_offsets(TopicPartition(SHARE_GROUP_STATE, partition), timeout=SECONDS)
            while not records or records[-1][0] < end - 1:
                message = consumer.poll(SECONDS)
                assert message is not None
                records.append((message.offset(), Codec().decode(message.key(), message.value())))
        consumer.close()
        return found


@contextmanager
def running(directory: Path | None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    coordinator, make = Coordinator(), BrokerState.__init__

    def made(state: BrokerState, *args, **kwargs) -> None:
        make(state, *args, **kwargs)
        shape = {"history": HISTORY, "compression": 0, "log": state.log, "partitions": lambda: PARTITIONS}
        on_disk = {"logs": state.logs, "fall_back": lambda: None}
        kind, more = (DurableTopic, on_disk) if isinstance(state.logs, DiskLogs) else (InternalTopic, {})
        topic = kind(Codec(), coordinator, **shape, **more)
        state.runtimes[SHARE_GROUP_STATE] = Written(topic, coordinator)

    with monkeypatch.context() as patch:
        patch.setattr(BrokerState, "__init__", made)
        with KafkaStub(config={"share.coordinator.state.topic.num.partitions": PARTITIONS}, data_dir=directory) as stub:
            topic = stub._running().state.runtimes[SHARE_GROUP_STATE].topic
            with Speaker(stub.bootstrap_servers) as speaker:  # has the topic made
                speaker.ask(FindCoordinatorRequest(key_type=2, coordinator_keys=[f"group:{NO_TOPIC}:0"]), 6)
            yield Running(stub, topic, coordinator)


@pytest.mark.parametrize("durable", [False, True])
def test_its_records_are_read_compacted_reloaded_and_found_again(tmp_path: Path, monkeypatch, durable: bool):
    directory, random = tmp_path if durable else None, Random(1)
    written: dict[int, list[State]] = {p: [] for p in range(PARTITIONS)}
    with running(directory, monkeypatch) as one:
        for number in range(1000):
            name, known = random.choice(NAMES), one.coordinator.states
            record = State(name, None) if name in known and random.random() < 0.3 else State(name, 7, number)
            written[partition_for(name, PARTITIONS)].append(record)
            one.write(record)
            if number == 500:
                one.read()
        states, found = dict(known), one.read()
        assert sum(map(len, found.values())) <= 2 * HISTORY + len(NAMES)
        for partition, records in found.items():
            assert all(written[partition][at] == record for at, record in records)
            assert records[-1][0] == len(written[partition]) - 1
        last = {record.name: record for records in found.values() for _, record in records}
        assert {name: state for name, state in last.items() if state.producer_id} == states
        one.stub._call(lambda: one.topic.reload(0, 0))
        assert one.coordinator.states == states
    if durable:
        with running(directory, monkeypatch) as again:
            assert again.coordinator.states == states
            again.write(State(NAMES[0], 9))
            at = partition_for(NAMES[0], PARTITIONS)
            assert again.read()[at][-1] == (len(written[at]), State(NAMES[0], 9))


def test_a_record_that_no_codec_reads_is_skipped(monkeypatch: pytest.MonkeyPatch):
    with running(None, monkeypatch) as one:
        one.write(State("a", 1), State(DAMAGED, 1), State("b", 2))
        one.stub._call(lambda: one.topic.reload(0, 0))
        assert one.coordinator.states == {"a": State("a", 1), "b": State("b", 2)}
