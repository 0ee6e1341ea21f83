"""The table `guarantees` says what `kafkastub check` says of the same journal."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, TopicPartition

from kafkastub import KafkaStub
from kafkastub.guarantees.files import check_journal
from kafkastub_pipeline import here
from kafkastub_pipeline.errors import PipelineError
from tests.pipeline.raw import commit, saved

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Of a consumer whose commit goes back."""
    folder = tmp_path / "journal"
    with KafkaStub(topics={"orders": 1}, journal=str(folder)) as stub:
        for number in range(5):
            stub.produce("orders", b"%d" % number)
        settings = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "billing", "auto.offset.reset": "earliest"}
        with closing(Consumer({**settings, "enable.auto.commit": False})) as consumer:
            consumer.subscribe(["orders"])
            assert consumer.poll(60) is not None
            for offset in (5, 1):
                consumer.commit(offsets=[TopicPartition("orders", 0, offset)], asynchronous=False)
    return folder


def test_findings_are_those_of_the_check(
    monkeypatch: pytest.MonkeyPatch, spark: SparkSession, tmp_path: Path, journal: Path
) -> None:
    from kafkastub_pipeline.run import Settings, run

    monkeypatch.setattr(here, "RECORDS", 10_000)
    raw = saved(tmp_path / "raw", [commit("billing", "orders", 0, 0)])
    out = tmp_path / "out"
    assert "guarantees" in run(spark, Settings(out=str(out), raw=raw, journal=str(journal)))
    rows = [row.asDict(recursive=True) for row in spark.read.parquet(str(out / "guarantees")).collect()]
    verdict = check_journal(journal).to_json()
    found = [(one, "finding") for one in verdict["findings"]] + [(one, "notice") for one in verdict["notices"]]
    assert found
    names = "guarantee", "topic", "partition", "cause", "offsets", "members", "entries"
    told = [(*(row[name] for name in names), row["group_id"], row["verdict"]) for row in rows]
    wanted = [(*(one[name] for name in names), one["group"], kind) for one, kind in found]
    assert sorted(told, key=str) == sorted(wanted, key=str)
    times = sorted(int(row["happened_at"].timestamp() * 1000) for row in rows)
    assert times == sorted(one["broker_ms"] for one, _ in found)


def test_a_journal_without_frames_has_no_such_table(
    monkeypatch: pytest.MonkeyPatch, spark: SparkSession, tmp_path: Path
) -> None:
    from kafkastub_pipeline.run import Settings, run

    monkeypatch.setattr(here, "RECORDS", 10_000)
    raw = saved(tmp_path / "raw", [commit("billing", "orders", 0, 0)])
    with KafkaStub(topics={"orders": 1}) as stub:
        stub.produce("orders", b"one")
        stub.journal.to_parquet(tmp_path / "journal.parquet")
    journal = str(tmp_path / "journal.parquet")
    out = str(tmp_path / "out")
    assert "guarantees" not in run(spark, Settings(out=out, raw=raw, journal=journal, tables="protocol_coverage"))
    with pytest.raises(PipelineError, match="give the directory of `kafkastub serve --journal DIR`"):
        run(spark, Settings(out=out, raw=raw, journal=journal, tables="guarantees"))
