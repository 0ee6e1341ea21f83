"""What each release of Spark has to do: `make test-pipeline-versions` runs this with those that are not the default.

The log is read in each way that there is: by the driver, by workers from saved records, by Spark's Kafka source where
the release has one, and by workers without it. What comes out is the same.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kafkastub_pipeline import here, small_log
from kafkastub_pipeline.extra import SPARK, installed_spark, is_known
from tests.pipeline.script import LOG_PARTITIONS, Played, played, steps
from tests.pipeline.test_again import _run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def saved(on: Played, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The log as raw records in Parquet, read by the driver's client."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.setattr(here, "RECORDS", 10_000)
    log = small_log.held(on.stub.bootstrap_servers).log
    assert log is not None
    names = {"log_partition": "partition", "log_offset": "offset", "log_ms": "timestamp"}
    table = log.rename_columns([names.get(name, name) for name in log.column_names])
    times = table.column("timestamp").cast(pa.timestamp("ms", "UTC"))
    folder.mkdir()
    pq.write_table(table.set_column(4, "timestamp", times), folder / "records.parquet")
    monkeypatch.setattr(here, "RECORDS", 0)
    return str(folder)


def test_the_release_is_one_that_is_known(spark: SparkSession) -> None:
    assert spark.version == installed_spark()
    assert is_known(spark.version), f"{spark.version} is not among {SPARK}"


def test_the_same_tables_whoever_reads_the_log(
    monkeypatch: pytest.MonkeyPatch, spark: SparkSession, tmp_path: Path
) -> None:
    from kafkastub_pipeline.report import write_report

    with played(steps(7, 20, 80)) as on:
        known = {"bootstrap_servers": on.stub.bootstrap_servers, "probes": 10}
        raw = saved(on, tmp_path / "raw", monkeypatch)
        by_workers = _run(spark, tmp_path / "workers", raw=raw, **known)
        current = _run(spark, tmp_path / "kafka", tables="offset_current", **known)
        assert current["offset_current"] == by_workers["offset_current"]
        monkeypatch.setattr("kafkastub_pipeline.sources.has_kafka_source", lambda _: False)
        current = _run(spark, tmp_path / "ourselves", tables="offset_current", **known)
        assert current["offset_current"] == by_workers["offset_current"]
        monkeypatch.setattr(here, "RECORDS", 10_000)
        assert _run(spark, tmp_path / "log-here", **known) == by_workers
    assert len(by_workers["offset_current"]) > 5
    assert len(by_workers["deletion_audit"]) > 3
    page = Path(write_report(spark, str(tmp_path / "workers"), str(tmp_path / "page.html")))
    assert "group-" in page.read_text()


def test_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.decode import decoded
    from kafkastub_pipeline.sources import read_kafka
    from kafkastub_pipeline.stream import stream

    out, checkpoint = str(tmp_path / "records"), str(tmp_path / "checkpoint")
    with played(steps(5, 30, 100)) as on:
        servers = on.stub.bootstrap_servers
        for offset in (1, 2):
            on.wire.commit("late", {("a", 0): offset})
            stream(spark, servers, out=out, checkpoint=checkpoint, available_now=True)
        batch = decoded(read_kafka(spark, servers, LOG_PARTITIONS)).count()
    assert spark.read.parquet(out).count() == batch > 10


def test_the_command_says_nothing_but_its_result(tmp_path: Path) -> None:
    """No warning of PySpark's, of pandas or of Java's, whatever the release."""
    with played(steps(7, 5, 20)) as on:
        words = ["run", "--bootstrap-servers", on.stub.bootstrap_servers, "--retention-minutes", "600"]
        words += ["--out", str(tmp_path / "out"), "--master", "local[1]", "--tables", "present"]
        command = [sys.executable, "-m", "kafkastub_pipeline", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert re.fullmatch(r"4 tables in .*: offset_current, expiry_forecast, stale_offsets, lag\n", done.stdout)
    assert done.returncode == 0
