"""A cluster that goes on while a run reads it: what is asked at different times is not taken for one moment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kafkastub import KafkaStub
from tests.expiry.wire import Wire

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafkastub_pipeline.run import Run

pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed: make test-pipeline installs it")
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

MINUTE = 60_000
START = 1_700_000_000_000


class Moving:
    """A topic that is written, read and emptied."""

    def __init__(self, stub: KafkaStub, wire: Wire) -> None:
        self._wire = wire
        self._producer = Producer({"bootstrap.servers": stub.bootstrap_servers})
        self._admin = AdminClient({"bootstrap.servers": stub.bootstrap_servers})

    def written(self, count: int, topic: str = "orders") -> None:
        for number in range(count):
            self._producer.produce(topic, b"", partition=0, timestamp=START + number * MINUTE)
        assert self._producer.flush(60) == 0

    def consumed(self, group: str, offset: int, topic: str = "orders") -> None:
        self._wire.commit(group, {(topic, 0): offset})

    def emptied(self, offset: int, topic: str = "orders") -> None:
        """As Kafka Streams does with what it has consumed of its repartition topics."""
        self._admin.delete_records([TopicPartition(topic, 0, offset)])[TopicPartition(topic, 0)].result(60)


def test_what_happens_during_a_run_makes_no_topic_new_and_no_record_lost(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafkastub_pipeline import run as running
    from kafkastub_pipeline.tables import all_tables
    from kafkastub_pipeline.tables.current import offset_current
    from kafkastub_pipeline.tables.lag import lag, missing, next_records, watermarks

    found: dict[str, Any] = {}

    def only_lag(run: Run) -> None:
        current, marks = offset_current(run.records, run.latest), watermarks(run.spark, run.cluster)
        following = next_records(run.spark, current, marks, None, 0)
        gone = missing(run.spark, current, run.cluster, run.settings.bootstrap_servers)
        found.update({row.group_id: row for row in lag(current, marks, following, gone, run.now_ms).collect()})

    monkeypatch.setattr(all_tables, "write_all", only_lag)
    config: dict[str, object] = {"offsets.topic.num.partitions": 1}
    with KafkaStub(topics={"orders": 1}, config=config) as stub, Wire(stub.bootstrap_servers) as wire:
        topic = Moving(stub, wire)
        topic.written(10)
        topic.consumed("reader", 10)
        read_kafka, snapshot = running.read_kafka, running.snapshot

        def read_later(*arguments: Any, **more: Any) -> Any:
            """Between what is asked first and the log."""
            topic.written(20)
            topic.consumed("reader", 30)
            topic.consumed("left behind", 12)
            stub.create_topic("new", 1)
            topic.written(3, "new")
            topic.consumed("of the new", 2, "new")
            return read_kafka(*arguments, **more)

        def asked_later(*arguments: Any, **more: Any) -> Any:
            """Between the log and what is asked last."""
            topic.written(5)
            topic.consumed("reader", 35)
            topic.emptied(32)
            return snapshot(*arguments, **more)

        monkeypatch.setattr(running, "read_kafka", read_later)
        monkeypatch.setattr(running, "snapshot", asked_later)
        running.run(spark, running.Settings(out=str(tmp_path), bootstrap_servers=stub.bootstrap_servers))
    told = {
        group: (row.committed_offset, row.lag_records, row.topic_recreated, row.topic_missing, row.data_lost)
        for group, row in found.items()
    }
    assert told == {
        "reader": (30, 5, False, False, False),
        "left behind": (12, 23, False, False, False),
        "of the new": (2, 1, False, False, False),
    }


def test_where_a_partition_ended_is_not_told_by_what_is_left_when_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records that go between the snapshot and the question."""
    from kafkastub_pipeline.past_ends import ends_at

    with KafkaStub(topics={"orders": 1, "fresh": 1}) as stub, Wire(stub.bootstrap_servers) as wire:
        topic = Moving(stub, wire)
        topic.written(10)
        topic.written(10, "fresh")
        list_offsets = AdminClient.list_offsets
        asked: list[Any] = []

        def meanwhile(admin: AdminClient, wanted: Any, **more: Any) -> Any:
            if not asked:
                topic.emptied(6)
            asked.append(wanted)
            return list_offsets(admin, wanted, **more)

        monkeypatch.setattr(AdminClient, "list_offsets", meanwhile)
        minutes = [("orders", 3), ("orders", 8), ("orders", 99), ("fresh", -1), ("fresh", 3)]
        wanted = [(name, 0, START + minute * MINUTE) for name, minute in minutes]
        found = ends_at(stub.bootstrap_servers, wanted)
    assert {(name, (at_ms - START) // MINUTE): offset for (name, _, at_ms), offset in found.items()} == {
        ("orders", 8): 8,
        ("orders", 99): -1,
        ("fresh", -1): 0,
        ("fresh", 3): 3,
    }
    assert OffsetSpec.earliest() in {spec for wanted in asked for spec in wanted.values()}


def test_a_commit_ahead_of_its_topic_has_an_end_in_another_retention(spark: SparkSession) -> None:
    """The id tells that it is the topic that it was committed to."""
    from kafkastub_pipeline.cluster import Snapshot, Watermarks
    from kafkastub_pipeline.session import local_table
    from kafkastub_pipeline.tables.history import FINDING, FINDING_DDL
    from kafkastub_pipeline.tables.lag import watermarks
    from kafkastub_pipeline.tables.whatif import ends, retention_whatif

    ids = "6f1f9c1e-0000-4000-8000-000000000001", "6f1f9c1e-0000-4000-8000-000000000002"
    common = {"finding": "deletion", "topic": "orders", "partition": 0, "committed_offset": 12, "commit_ms": START}
    given = [{**common, "group_id": str(id_), "topic_id": id_, "deleted_ms": START + MINUTE} for id_ in (*ids, None)]
    rows = [tuple(row.get(name) for name in FINDING.names) for row in given]
    deletions = local_table(spark, rows, FINDING_DDL)
    marks = watermarks(spark, Snapshot(START, {("orders", 0): Watermarks(4, 10, 10)}, topic_ids={"orders": ids[0]}))
    known = ends(spark, deletions, marks, START, None, 0)
    found = retention_whatif(deletions, marks, known, START).collect()
    assert {row.group_id: (row.lag_then, row.replayed_on_earliest) for row in found} == {
        ids[0]: (0, 8),
        ids[1]: (None, None),
        "None": (None, None),
    }
