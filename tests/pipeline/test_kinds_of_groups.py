"""Groups of each type with real clients, on a stub and on Apache Kafka: the tables tell the history that was made.

A consumer group of librdkafka's members (KIP-848), a share group of Java's, and a streams group of an application that
counts words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from kafkastub import KafkaStub
from kafkastub_pipeline import here
from tests.clients import histories_share, histories_streams
from tests.clients.test_streams import WordCount
from tests.conftest import APACHE_CONFIG, CONFIG
from tests.expiry.wire import Wire
from tests.waiting import until

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

    from tests.clients.jvm import Jvm

SETTINGS: Final = {**histories_share.SETTINGS, **histories_streams.SETTINGS}
PARTITIONS: Final = 4
JOBS: Final = 12
LINES: Final = ("to be or not to be", "that is the question")
TABLES: Final = ("group_events", "group_timeline", "partition_owners", "share_partitions", "offset_current", "lag")
Tables = dict[str, list["Row"]]


@contextmanager
def _serving(broker: str) -> Iterator[str]:
    """HOST:PORT."""
    if broker == "kafka":
        from tests.oracle.apache_kafka import ApacheKafka

        with ApacheKafka(config={**APACHE_CONFIG, **SETTINGS}) as kafka:
            yield kafka.bootstrap_servers
    else:
        with KafkaStub(config={**CONFIG, **SETTINGS}) as stub:
            yield stub.bootstrap_servers


@pytest.fixture(scope="module", params=["stub", pytest.param("kafka", marks=pytest.mark.oracle)])
def tables(
    request: pytest.FixtureRequest, spark: SparkSession, jvm: Jvm, tmp_path_factory: pytest.TempPathFactory
) -> Tables:
    """The tables behind the three histories, while the last members are still there."""
    from kafkastub_pipeline.run import Settings, run

    folder = tmp_path_factory.mktemp("kinds")
    out = folder / "out"
    with pytest.MonkeyPatch.context() as patch, _serving(request.param) as servers:
        patch.setattr(here, "RECORDS", 10_000)
        with Wire(servers) as wire:
            wire.create_topics("orders", "jobs", "lines", "counts", partitions=PARTITIONS)
        with _readers(servers), _worker(jvm, servers), _counting(jvm, servers, folder / "state"):
            run(spark, Settings(out=str(out), bootstrap_servers=servers, tables=TABLES))
    return {name: spark.read.parquet(str(out / name)).collect() for name in TABLES}


@contextmanager
def _readers(servers: str) -> Iterator[None]:
    """Group `readers`: one member reads everything, a second one takes half, the first one leaves."""
    from confluent_kafka import Consumer, TopicPartition

    settings = {"bootstrap.servers": servers, "group.id": "readers", "group.protocol": "consumer"}
    settings |= {"enable.auto.commit": False, "log_level": 0}

    def assigned(*consumers: Any) -> list[int]:
        for one in consumers:
            one.poll(0.05)
        return [len(one.assignment()) for one in consumers]

    first, second = Consumer(settings), Consumer(settings)
    first.subscribe(["orders"])
    until(lambda: assigned(first) == [PARTITIONS], "the first member has everything")
    first.commit(offsets=[TopicPartition("orders", number, 0) for number in range(PARTITIONS)], asynchronous=False)
    second.subscribe(["orders"])
    until(lambda: assigned(first, second) == [PARTITIONS // 2] * 2, "each member has half")
    first.close()
    until(lambda: assigned(second) == [PARTITIONS], "the second member has everything")
    yield
    second.close()


@contextmanager
def _worker(jvm: Jvm, servers: str) -> Iterator[None]:
    """Group `workers`: of twelve jobs eight are accepted, one is rejected, and three are released and left."""
    from kafkastub.client import Client, share_groups

    records = [(0, None, f"job {number}", 1_700_000_000_000 + number) for number in range(JOBS)]
    with Client(servers) as client:
        share_groups.alter_offsets(client, "workers", {("jobs", number): 0 for number in range(PARTITIONS)})
    config = {"bootstrap.servers": servers, "group.id": "workers", "client.id": "worker"}
    jvm.ask("share_subscribe", consumer="worker", config=config, topics=["jobs"])
    jvm.ask("produce", config={"bootstrap.servers": servers, "linger.ms": 1000}, topic="jobs", records=records)
    found: list[list[Any]] = []

    def polled() -> bool:
        found.extend(jvm.ask("share_poll", consumer="worker", ms=50))
        return len(found) >= JOBS

    until(polled, "all jobs")
    said = ["accept"] * 8 + ["reject"] + ["release"] * 3
    rows = [(*row[:3], one) for row, one in zip(sorted(found, key=lambda row: row[2]), said, strict=True)]
    assert set(jvm.ask("share_acknowledge", consumer="worker", records=rows).values()) == {"NONE"}
    yield
    jvm.ask("share_close", consumer="worker")


@contextmanager
def _counting(jvm: Jvm, servers: str, state: Path) -> Iterator[None]:
    """Group `words`: an application of one thread, which has read all lines and committed."""
    words = WordCount(jvm, servers, lambda name: name, state, "streams")
    lines = [(0, None, line, 1_700_000_000_000) for line in LINES]
    jvm.ask("produce", config={"bootstrap.servers": servers}, topic=words.lines, records=lines)
    words.start(num_stream_threads="1")
    words.counted(Counter(word for line in LINES for word in line.split()))
    with Wire(servers) as wire:
        until(lambda: wire.committed(words.name).get((words.lines, 0)) == len(LINES), "the lines are committed")
    yield
    words.stop()


def test_each_group_has_its_type(tables: Tables) -> None:
    types = {(row.group_id, row.group_type) for row in tables["group_events"]}
    assert types == {("readers", "consumer"), ("workers", "share"), ("words", "streams")}


def test_how_many_members_a_group_had(tables: Tables) -> None:
    def members(group: str) -> list[int]:
        rows = [row for row in tables["group_timeline"] if row.group_id == group]
        found = [row.members for row in sorted(rows, key=lambda row: row.log_offset)]
        return [one for one, _ in groupby(found)]

    assert members("readers") == [1, 2, 1]
    assert members("workers") == [1]
    assert members("words") == [1]


def test_who_had_which_partition(tables: Tables) -> None:
    rows = [row for row in tables["partition_owners"] if row.group_id == "readers"]
    owned = [row for row in rows if row.member_id is not None]
    assert len({row.member_id for row in owned}) == 2
    last = {row.partition: row.member_id for row in owned if row.until is None}
    assert sorted(last) == list(range(PARTITIONS))
    assert len(set(last.values())) == 1
    causes = {row.cause for row in rows if row.member_id is None}
    assert causes <= {"member joined", "member left"}
    for partition in range(PARTITIONS):
        of_partition = sorted((row for row in rows if row.partition == partition), key=lambda row: row.from_at)
        assert all(before.until == after.from_at for before, after in pairwise(of_partition))


def test_who_had_which_task(tables: Tables) -> None:
    rows = [row for row in tables["partition_owners"] if row.group_id == "words" and row.until is None]
    assert {(row.group_type, row.role) for row in rows} == {("streams", "active")}
    assert Counter(row.subtopology for row in rows) == {"0": PARTITIONS, "1": PARTITIONS}


def test_what_became_of_the_jobs(tables: Tables) -> None:
    (row,) = [row for row in tables["share_partitions"] if row.partition == 0]
    assert (row.group_id, row.topic) == ("workers", "jobs")
    # The start offset moves with the next write: until then the log has what became of each record.
    assert (row.start_offset, row.acknowledged, row.archived, row.given_up, row.available) == (0, 8, 1, 1, 3)
    assert row.lag_records == 3
    assert row.max_delivery_count == 1


def test_what_is_committed(tables: Tables) -> None:
    committed = {(row.group_id, row.topic, row.partition): row.committed_offset for row in tables["offset_current"]}
    assert {key: offset for key, offset in committed.items() if key[0] == "readers"} == {
        ("readers", "orders", number): 0 for number in range(PARTITIONS)
    }
    assert committed["words", "lines", 0] == len(LINES)
    assert "workers" not in {group for group, _, _ in committed}
    (lag,) = [row for row in tables["lag"] if (row.group_id, row.topic, row.partition) == ("words", "lines", 0)]
    assert lag.lag_records == 0
