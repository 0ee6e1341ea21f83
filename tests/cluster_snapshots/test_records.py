"""Records in a snapshot of a cluster: how many, what is redacted, and what readers find where none were taken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from kafkastub import KafkaStub, Snapshot
from kafkastub.client import Client, topics
from tests.clients.adapters import connect
from tests.clients.client import Message
from tests.waiting import until

SECRET = "Dr. No"


@pytest.fixture(scope="module")
def cluster() -> Iterator[KafkaStub]:
    """Batches of several records, in each compression; of some topics the first records are deleted."""
    with KafkaStub({"orders": 2, "plain": 1, "gzip": 1, "lz4": 1, "zstd": 1, "snappy": 1, "trimmed": 1}) as stub:
        for codec in ("none", "gzip", "lz4", "zstd", "snappy"):
            config = {"bootstrap.servers": stub.bootstrap_servers, "compression.type": codec, "linger.ms": 1000}
            producer = Producer(config)
            topic = "plain" if codec == "none" else codec
            for number in range(10):
                value = None if number == 7 else json.dumps({"who": SECRET, "number": number})
                producer.produce(topic, value, f"key {number % 3}", headers={"to": SECRET.encode(), "nobody": None})
            producer.flush()
        for number in range(20):
            stub.produce("orders", f"order {number}", key=f"{number}", partition=number % 2)
            stub.produce("trimmed", f"{number}")
        with Client(stub.bootstrap_servers) as client:
            delete_before(client, "trimmed", 12)
        yield stub


def delete_before(client: Client, topic: str, offset: int) -> None:
    from kafkawire.messages.delete_records_request import (
        DeleteRecordsPartition,
        DeleteRecordsRequest,
        DeleteRecordsTopic,
    )

    request = DeleteRecordsRequest(topics=[DeleteRecordsTopic(topic, [DeleteRecordsPartition(0, offset)])])
    client.ask_leaders([(topic, 0)], lambda own: request)


def ends(stub: KafkaStub, topic: str) -> tuple[int, int]:
    with Client(stub.bootstrap_servers) as client:
        first, last = (topics.list_offsets(client, {(topic, 0): at})[topic, 0] for at in (-2, -1))
    return first, last


@pytest.mark.parametrize("topic", ["plain", "gzip", "lz4", "zstd", "snappy", "trimmed", "orders"])
def test_the_newest_of_each_partition(cluster: KafkaStub, topic: str) -> None:
    saved = Snapshot.from_cluster(cluster.bootstrap_servers, records={topic: 4})
    with KafkaStub(snapshot=saved) as stub:
        found, there = stub.records(topic), cluster.records(topic)
        partitions = {one.partition for one in there}
        wanted = [one for index in partitions for one in [r for r in there if r.partition == index][-4:]]
        assert found == wanted
        assert ends(stub, topic) == ends(cluster, topic)


def test_all_records_of_some_topics_and_none_of_others(cluster: KafkaStub) -> None:
    saved = Snapshot.from_cluster(cluster.bootstrap_servers, records={"*": "all", "orders": 0, "gzip": "none"})
    with KafkaStub(snapshot=saved) as stub:
        for topic in ("plain", "lz4", "zstd", "snappy", "trimmed"):
            assert stub.records(topic) == cluster.records(topic)
        assert stub.records("orders") == stub.records("gzip") == []


@pytest.mark.parametrize("topic", ["plain", "gzip", "lz4", "zstd", "snappy"])
@pytest.mark.parametrize("most", ["all", 4])
def test_nothing_of_a_redacted_value_is_in_the_file(
    cluster: KafkaStub, topic: str, most: int | str, tmp_path: Path
) -> None:
    saved = Snapshot.from_cluster(cluster.bootstrap_servers, records={topic: most}, redact="values")
    with KafkaStub(snapshot=saved) as stub:
        found, there = stub.records(topic), cluster.records(topic)
        there = there if most == "all" else there[-4:]
        assert [(one.offset, one.key, one.timestamp) for one in found] == [
            (one.offset, one.key, one.timestamp) for one in there
        ]
        for one, other in zip(found, there, strict=True):
            assert one.value == (None if other.value is None else b"*" * len(other.value))
            assert one.headers == (("to", b"*" * len(SECRET)), ("nobody", None))
        assert SECRET not in str(stub.snapshot()._bytes())


def test_redacted_keys_are_equal_where_they_were(cluster: KafkaStub) -> None:
    saved = Snapshot.from_cluster(cluster.bootstrap_servers, records={"plain": "all"}, redact="all")
    with KafkaStub(snapshot=saved) as stub:
        keys = [one.key for one in stub.records("plain")]
    assert len(set(keys)) == 3
    assert keys[0] == keys[3] == keys[6]
    assert not any(b"key" in (key or b"") for key in keys)


@pytest.mark.parametrize("name", ["aiokafka", "confluent-kafka", "kafka-python"])
def test_consumers_come_to_what_is_produced_behind_records_that_are_not_there(cluster: KafkaStub, name: str) -> None:
    saved = Snapshot.from_cluster(cluster.bootstrap_servers)
    with KafkaStub(snapshot=saved) as stub, closing(connect(name, stub.bootstrap_servers, lambda: None)) as library:
        assert ends(stub, "orders") == (0, 10)
        stub.commit("g", {("orders", 0): 3})
        with closing(library.member("g", ["orders"])) as member:
            library.produce("orders", [Message("new", partition=0)])
            received: list[object] = []

            def has_come() -> bool:
                received.extend((one.offset, one.value) for one in member.poll())
                return bool(received)

            until(has_come, "the new record")
            assert received == [(10, "new")]


def test_who_reads_to_the_end_gets_there(cluster: KafkaStub) -> None:
    """A table that is read at the start, for example: nothing is there, and that is soon known."""
    saved = Snapshot.from_cluster(cluster.bootstrap_servers)
    with KafkaStub(snapshot=saved) as stub:
        config = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
        with closing(Consumer({**config, "enable.partition.eof": True})) as consumer:
            consumer.subscribe(["plain"])
            at_end = until(lambda: consumer.poll(0.1), "the end")
            assert at_end.error() is not None
            assert at_end.offset() == 10
