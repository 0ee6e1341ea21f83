"""The same input gives the same tables: run twice, of decoded records, with a journal in either form, on a cluster."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kafkastub import KafkaStub
from kafkastub_pipeline.extra import installed_spark
from kafkastub_pipeline.maven import LAKES
from tests.expiry.wire import Wire
from tests.offsets_topic.history import subscription
from tests.pipeline.script import LOG_PARTITIONS, played, steps

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RETENTIONS = (600, 60)


def _tables(directory: Path) -> dict[str, Counter[str]]:
    """Every table's rows, in no order."""
    import pyarrow.dataset as ds

    found = {}
    for table in sorted(path for path in directory.iterdir() if not path.name.startswith(("_", "."))):
        content = ds.dataset(table, format="parquet", partitioning="hive").to_table()
        rows = content.select(sorted(content.column_names)).to_pylist()
        found[table.name] = Counter(map(str, rows))
    return found


def _run(spark: SparkSession, out: Path, **more: Any) -> dict[str, Counter[str]]:
    from kafkastub_pipeline.run import Settings, run

    run(spark, Settings(out=str(out), retention_minutes=RETENTIONS, **more))
    return _tables(out)


def test_run_again_from_saved_records(spark: SparkSession, tmp_path: Path) -> None:
    """Raw, and decoded by a stream; into the same directory, where each table is replaced by one that is equal."""
    from kafkastub_pipeline.sources import read_kafka
    from kafkastub_pipeline.stream import stream

    with played(steps(9, 20, 80)) as on:
        servers = on.stub.bootstrap_servers
        known = {"bootstrap_servers": servers, "probes": 0}
        once = _run(spark, tmp_path / "out", **known)
        assert len(once["offset_events"]) > 20
        assert len(once["offset_current"]) > 5
        raw, records, checkpoint = (str(tmp_path / name) for name in ("raw", "records", "checkpoint"))
        read_kafka(spark, servers, LOG_PARTITIONS).write.parquet(raw)
        assert _run(spark, tmp_path / "out", raw=raw, **known) == once
        stream(spark, servers, out=records, checkpoint=checkpoint, available_now=True)
        assert _run(spark, tmp_path / "out", records=records, **known) == once


def test_the_journal_as_the_stub_writes_it(spark: SparkSession, tmp_path: Path) -> None:
    """JSON lines: what was pending is there twice, and a kill leaves half a line."""
    from kafkastub_pipeline.sources import JOURNAL_COLUMNS, read_journal

    kept = tmp_path / "kept"
    config: dict[str, object] = {"group.initial.rebalance.delay.ms": 0}
    with (
        KafkaStub(topics={"orders": 1}, journal=str(kept), config=config) as stub,
        Wire(stub.bootstrap_servers) as wire,
    ):
        member = wire.member("billing", subscription("orders"))
        wire.commit("billing", {("orders", 0): 1}, member=member)
        stub.clock.advance(hours=1)
        stub.journal.to_parquet(tmp_path / "journal.parquet")
    (lines,) = kept.glob("*.jsonl")
    whole = lines.read_bytes()
    assert whole.count(b'"outcome": "pending"') + whole.count(b'"outcome":"pending"') > 0
    lines.write_bytes(whole + whole.splitlines()[-1][:100])
    columns = [name for name in JOURNAL_COLUMNS if name != "outcome"]
    written = read_journal(spark, str(tmp_path / "journal.parquet")).orderBy("sequence").select("outcome", *columns)
    ended = [row for row in written.collect() if row.outcome != "pending"]
    for path in (str(kept), str(lines)):
        read = {row.sequence: row for row in read_journal(spark, path).select("outcome", *columns).collect()}
        assert len(read) >= len(ended) > 3
        assert [read[row.sequence] for row in ended] == ended


def _command(*words: str, **environment: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, **environment}, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    return done.stdout


@pytest.fixture
def saved(spark: SparkSession, tmp_path: Path) -> str:
    from kafkastub_pipeline.sources import read_kafka

    with played(steps(9, 10, 40)) as on:
        read_kafka(spark, on.stub.bootstrap_servers, LOG_PARTITIONS).write.parquet(str(tmp_path / "saved"))
    return str(tmp_path / "saved")


@pytest.mark.soak
def test_submitted_to_a_cluster_of_two_workers(spark: SparkSession, tmp_path: Path, saved: str) -> None:
    """Workers that have nothing but a Python with the libraries."""
    import pyspark

    import kafkastub_pipeline

    home = Path(pyspark.__file__).parent
    module = Path(kafkastub_pipeline.__file__).parent / "__main__.py"
    settings = ["--master", "local-cluster[2,1,1024]", "--conf", "spark.ui.enabled=false"]
    arguments = ["run", "--raw", saved, "--retention-minutes", "600,60", "--out", str(tmp_path / "out")]
    _command(
        str(home / "bin" / "spark-submit"),
        *[*settings, "--conf", "spark.sql.shuffle.partitions=2", str(module), *arguments],
        SPARK_HOME=str(home),
        PYSPARK_PYTHON=sys.executable,
    )
    assert _tables(tmp_path / "out") == _run(spark, tmp_path / "here", raw=saved)


@pytest.mark.soak
@pytest.mark.parametrize("format_", list(LAKES))
def test_formats_that_a_session_gets_by_packages(tmp_path: Path, saved: str, format_: str) -> None:
    """The first run makes the tables, the second replaces them, and the report finds them."""
    release = ".".join(str(installed_spark()).split(".")[:2])
    package = LAKES[format_].get(release)
    if package is None:
        pytest.skip(f"this machine has no package of {format_} for Spark {release}: there is none")
    tool = [sys.executable, "-m", "kafkastub_pipeline"]
    common = ["--packages", package, "--master", "local[2]", "--conf", "spark.ui.enabled=false"]
    run = ["run", "--raw", saved, "--retention-minutes", "600", "--out", str(tmp_path / "out"), "--format", format_]
    assert "offset_current" in _command(*tool, *run, *common)
    assert "offset_current" in _command(*tool, *run, *common)
    _command(*tool, "report", "--tables", str(tmp_path / "out"), "--out", str(tmp_path / "page.html"), *common)
    assert "group-" in (tmp_path / "page.html").read_text()
    days = ["2026-01-02", "2026-01-01", "2026-01-02"]
    for day in days:
        said = _command(*tool, *run, "--append-day", day, "--out", str(tmp_path / "days"), *common)
        assert "offset_current" in said
    page = ["--out", str(tmp_path / "day.html"), *common]
    _command(*tool, "report", "--tables", str(tmp_path / "days"), "--day", "2026-01-01", *page)
    assert "group-" in (tmp_path / "day.html").read_text()
