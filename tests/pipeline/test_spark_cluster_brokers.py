"""A standalone cluster reads the log of a broker, the stub's and Apache Kafka's: run, stream and report."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from kafkastub import KafkaStub
from tests.expiry.wire import Wire
from tests.oracle.apache_kafka import ApacheKafka
from tests.pipeline.process import SECONDS, runs_until
from tests.pipeline.script import played, steps
from tests.pipeline.spark_cluster import SETTINGS, SparkCluster, spark_cluster
from tests.pipeline.test_again import RETENTIONS, _run, _tables
from tests.pipeline.test_stream import _equals_batch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.clients.jvm import Jvm

PARTITIONS: Final = 100
COMMITS: Final = 101
"""Of all partitions: more records than stay in the driver."""
LOG_PARTITIONS: Final = 4
CONFIG: Final[dict[str, object]] = {"offsets.topic.num.partitions": LOG_PARTITIONS}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    with spark_cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@contextmanager
def _serving(broker: str) -> Iterator[str]:
    """HOST:PORT of one whose groups have committed."""
    with ApacheKafka(config=CONFIG) if broker == "kafka" else KafkaStub(config=CONFIG) as serving:
        servers = serving.bootstrap_servers
        with Wire(servers) as wire:
            wire.create_topics("orders", partitions=PARTITIONS)
            for number in range(COMMITS):
                wire.commit(f"group-{number % 7}", {("orders", index): number for index in range(PARTITIONS)})
        yield servers


def _command(cluster: SparkCluster, *words: str) -> str:
    """What the command has said on a cluster."""
    done = subprocess.run(_words(cluster, *words), capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _words(cluster: SparkCluster, *words: str) -> list[str]:
    conf = {**SETTINGS, "spark.pyspark.python": sys.executable}
    given = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
    return [sys.executable, "-m", "kafkastub_pipeline", *words, "--master", cluster.master, *given]


@pytest.mark.parametrize("broker", ["stub", "kafka"])
def test_a_brokers_log_on_a_cluster(
    cluster: SparkCluster, spark: SparkSession, jvm: Jvm, tmp_path: Path, broker: str
) -> None:
    from kafkastub_pipeline.report import write_report

    out, page, records = tmp_path / "out", tmp_path / "page.html", tmp_path / "records"
    with _serving(broker) as servers:
        here = _run(spark, tmp_path / "here", bootstrap_servers=servers, probes=0)
        assert here["offset_current"].total() == 7 * PARTITIONS
        retentions = ",".join(map(str, RETENTIONS))
        where = "--bootstrap-servers", servers
        _command(cluster, "run", *where, "--out", str(out), "--retention-minutes", retentions, "--probes", "0")
        checkpoint = str(tmp_path / "checkpoint")
        _command(cluster, "stream", *where, "--out", str(records), "--checkpoint", checkpoint, "--available-now")
        _equals_batch(spark, records, servers)
    assert _tables(out) == here
    assert _command(cluster, "report", "--tables", str(out), "--out", str(page)).strip() == str(page)
    assert _undated(page) == _undated(Path(write_report(spark, str(out), str(tmp_path / "here.html"))))


def test_a_stream_goes_on_without_a_worker_and_after_its_driver(
    cluster: SparkCluster, spark: SparkSession, tmp_path: Path
) -> None:
    """A worker is killed between two batches, then the driver: each record of the log is there once."""
    records, checkpoint, said = tmp_path / "records", tmp_path / "checkpoint", tmp_path / "said"
    words = "stream", "--out", str(records), "--checkpoint", str(checkpoint)
    with played(steps(5, 30, 100)) as on:
        where = "--bootstrap-servers", on.stub.bootstrap_servers
        begun = [len(cluster.executors(number)) for number in range(2)]
        with said.open("wb") as file:
            process = subprocess.Popen(
                _words(cluster, *words, *where), stdout=file, stderr=file, start_new_session=True
            )
        try:
            for number in range(2):
                lost = f"an executor of worker {number}"
                runs_until(process, said, lambda: len(cluster.executors(number)) > begun[number], lost)  # noqa: B023
            runs_until(process, said, (checkpoint / "commits" / "0").exists, "the first batch")
            cluster.kill_worker(1)
            on.play(steps(6, 30, 100))
            runs_until(process, said, (checkpoint / "commits" / "1").exists, "a batch on one worker")
            on.play(steps(7, 30, 100))
            runs_until(process, said, (checkpoint / "offsets" / "2").exists, "a batch that has begun")
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            cluster.add_worker(2)
        on.play(steps(8, 30, 100))
        _command(cluster, *words, *where, "--available-now")
        _equals_batch(spark, records, on.stub.bootstrap_servers)


def _undated(page: Path) -> str:
    """Without the second at which it was written."""
    text, count = re.subn(r"\d\d:\d\d:\d\d UTC\. All", "", page.read_text())
    assert count == 1
    return text
