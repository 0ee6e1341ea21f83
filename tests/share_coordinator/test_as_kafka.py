"""`__share_group_state` as Apache Kafka writes it, and what one broker has written loaded by the other.

golden/history.json is what Kafka has after the history (`python -m tests.share_coordinator.record`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkastub import KafkaStub
from kafkastub.metadata import SHARE_GROUP_STATE
from kafkastub.share_coordinator.records import (
    ShareCodec,
    SharePartitionKey,
    ShareRecord,
    ShareSnapshot,
    ShareTombstone,
    ShareUpdate,
)
from kafkastub.share_coordinator.state_batches import StateBatch
from kafkawire.errors import MalformedMessage
from kafkawire.records import NewRecord, build_batch
from tests.clients.jvm import Jvm
from tests.offsets_topic.moving import logs_of, put_into_data_dir, put_into_kafka
from tests.oracle.apache_kafka import ApacheKafka
from tests.share_coordinator.formatters import printed
from tests.share_coordinator.history import CONFIG, Brokers, play
from tests.share_coordinator.record import GOLDEN

KAFKAS: Final[dict[str, Any]] = json.loads(GOLDEN.read_text())
IDS: Final = {bytes.fromhex(topic_id): name for name, topic_id in KAFKAS["topic_ids"].items()}
RESTARTED: Final = {**CONFIG, "broker.session.timeout.ms": 9000, "controlled.shutdown.enable": "true"}
"""For a Kafka that comes back: its controller lets no broker in whom it takes for running."""
CODEC: Final = ShareCodec()

Batches = list[list[list[str | None]]]


def decoded(batches: Batches) -> list[list[ShareRecord | None]]:
    """What they say, without the times at which they were written."""
    return [[_timeless(_record(*one)) for one in batch] for batch in batches]


def _record(key: str | None, value: str | None) -> ShareRecord | None:
    return CODEC.decode(bytes.fromhex(key or ""), None if value is None else bytes.fromhex(value))


def _timeless(record: ShareRecord | None) -> ShareRecord | None:
    if not isinstance(record, ShareSnapshot):
        return record
    assert record.create_timestamp == record.write_timestamp > 0
    return record._replace(create_timestamp=0, write_timestamp=0)


def kafkas_records() -> Iterator[tuple[bytes, bytes | None]]:
    for batch in KAFKAS["batches"]:
        for key, value in batch:
            yield bytes.fromhex(key), None if value is None else bytes.fromhex(value)


def kafkas_log() -> dict[int, bytes]:
    """Its one partition, with the ids that the topics had."""
    written, at = b"", 0
    for batch in KAFKAS["batches"]:
        new = []
        for key, value in batch:
            whole = bytes.fromhex(key)
            for topic_id, name in IDS.items():
                whole = whole.replace(name.encode().ljust(16, b"."), topic_id)
            new.append(NewRecord(whole, None if value is None else bytes.fromhex(value), 1_700_000_000_000))
        written += build_batch(new, base_offset=at)
        at += len(new)
    return {0: written}


def test_the_history_is_written_as_apache_kafka_writes_it() -> None:
    with KafkaStub(config=CONFIG, profile="kafka") as stub, closing(Brokers(stub.bootstrap_servers)) as on:
        on.create()
        play(on)
        assert on.told() == KAFKAS["told"]
        assert decoded(on.batches()) == decoded(KAFKAS["batches"])


def test_every_record_of_apache_kafka_is_written_byte_for_byte() -> None:
    seen = set()
    for key, value in kafkas_records():
        record = CODEC.decode(key, value)
        assert record is not None
        assert CODEC.encode(record) == (key, value), record
        seen.add(type(record))
    assert seen == {ShareSnapshot, ShareUpdate, ShareTombstone}


@given(seed=st.integers(0, 2**32))
def test_what_is_written_is_read_again(seed: int) -> None:
    random = Random(seed)
    key = SharePartitionKey("g:1", random.randbytes(16), random.randrange(1 << 31))
    batches = tuple(
        StateBatch(random.randrange(1 << 62), random.randrange(1 << 62), random.randrange(5), random.randrange(1 << 15))
        for _ in range(random.randrange(4))
    )
    one, two, three, four, five = (random.randrange(-1, 1 << 31) for _ in range(5))
    record: ShareRecord = random.choice(
        (
            ShareTombstone(key),
            ShareUpdate(key, one, two, three, four, batches),
            ShareSnapshot(key, one, two, three, four, five, batches, random.randrange(1 << 60), random.randrange(9)),
        )
    )
    assert CODEC.decode(*CODEC.encode(record)) == record


@pytest.mark.parametrize("key", [None, b"", b"\0", b"\0\7", b"\0\0\0", b"\0\1\0\1g"])
def test_what_is_no_record_is_said_to_be_none(key: bytes | None) -> None:
    with pytest.raises(MalformedMessage):
        CODEC.decode(key, b"\0\0")


def test_what_was_written_here_is_printed_as_kafkas_is(jvm: Jvm) -> None:
    with KafkaStub(config=CONFIG, profile="kafka") as stub, closing(Brokers(stub.bootstrap_servers)) as on:
        on.create()
        play(on)
        assert printed(jvm, stub.bootstrap_servers) == KAFKAS["printed"]


def new_data_dir(folder: Path, logs: Mapping[int, bytes], topic_ids: Mapping[bytes, str]) -> None:
    stub = KafkaStub(config=CONFIG, profile="kafka", data_dir=folder)
    with stub, closing(Brokers(stub.bootstrap_servers)) as on:
        on.create()
    put_into_data_dir(folder, logs, topic_ids, SHARE_GROUP_STATE)


def told_by(servers: str) -> list[str]:
    with closing(Brokers(servers)) as on:
        on.await_coordinator()
        return on.told()


def go_on(servers: str) -> tuple[list[str], list[list[ShareRecord | None]]]:
    """What is known, and was written, when leaders go on from what was loaded."""
    with closing(Brokers(servers)) as on:
        on.await_coordinator()
        written = len(on.batches())
        on.write("g", "orders", 1, (7, 7, 2, 1), start_offset=7, complete=3, state_epoch=10)
        on.write("sales:eu", "audit", 0, start_offset=16, complete=0)
        on.initialize("größe", "orders", 2, 20, 1)
        return on.told(), decoded(on.batches()[written:])


def test_what_apache_kafka_wrote_is_known_here(tmp_path: Path) -> None:
    new_data_dir(tmp_path, kafkas_log(), IDS)
    with KafkaStub(config=CONFIG, profile="kafka", data_dir=tmp_path) as stub:
        assert told_by(stub.bootstrap_servers) == KAFKAS["told"]


@pytest.mark.oracle
def test_segments_of_apache_kafka_are_loaded_here(tmp_path: Path) -> None:
    with ApacheKafka(config=RESTARTED) as kafka:
        with closing(Brokers(kafka.bootstrap_servers)) as on:
            on.create()
            play(on)
            before, topic_ids = on.told(), {topic_id: name for name, topic_id in on.topic_ids.items()}
        kafka.pause()
        assert kafka.folder is not None
        new_data_dir(tmp_path, logs_of(kafka.folder / "logs", SHARE_GROUP_STATE), topic_ids)
        with KafkaStub(config=CONFIG, profile="kafka", data_dir=tmp_path) as stub:
            assert told_by(stub.bootstrap_servers) == before
            here = go_on(stub.bootstrap_servers)
        kafka.resume()
        assert told_by(kafka.bootstrap_servers) == before
        assert go_on(kafka.bootstrap_servers) == here


@pytest.mark.oracle
def test_segments_that_were_written_here_are_loaded_by_apache_kafka(tmp_path: Path) -> None:
    with ApacheKafka(config=RESTARTED) as kafka:
        with closing(Brokers(kafka.bootstrap_servers)) as on:
            on.create()
            topic_ids = {topic_id: name for name, topic_id in on.topic_ids.items()}
        kafka.pause()
        new_data_dir(tmp_path, {}, topic_ids)
        stub = KafkaStub(config=CONFIG, profile="kafka", data_dir=tmp_path)
        with stub, closing(Brokers(stub.bootstrap_servers)) as on:
            on.await_coordinator()
            play(on)
            before = on.told()
        put_into_kafka(kafka, logs_of(tmp_path, SHARE_GROUP_STATE), SHARE_GROUP_STATE)
        kafka.resume()
        assert told_by(kafka.bootstrap_servers) == before
        there = go_on(kafka.bootstrap_servers)
    with KafkaStub(config=CONFIG, profile="kafka", data_dir=tmp_path) as stub:
        assert go_on(stub.bootstrap_servers) == there
