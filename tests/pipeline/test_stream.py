"""A stream that is killed and started again has every record once."""

from __future__ import annotations

import os
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.pipeline.process import SECONDS, runs_until, started
from tests.pipeline.script import LOG_PARTITIONS, played, steps

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def streaming(servers: str, out: Path, checkpoint: Path, said: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The command, once it has done its first batch."""
    where = "--bootstrap-servers", servers, "--out", str(out), "--checkpoint", str(checkpoint)
    with started(said, "stream", *where) as process:
        runs_until(process, said, lambda: any((checkpoint / "commits").glob("[0-9]*")), "the first batch")
        yield process


def test_killed_and_restarted_it_equals_batch(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.stream import stream

    out, checkpoint = tmp_path / "records", tmp_path / "checkpoint"
    with played(steps(5, 30, 100)) as on:
        servers = on.stub.bootstrap_servers
        with streaming(servers, out, checkpoint, tmp_path / "said") as process:
            on.play(steps(6, 30, 100))
            second = checkpoint / "offsets" / "1"
            runs_until(process, tmp_path / "said", second.exists, "the second batch")
        on.play(steps(7, 30, 100))
        stream(spark, servers, out=str(out), checkpoint=str(checkpoint), available_now=True)
        _equals_batch(spark, out, servers)


def test_ctrl_c_stops_it_and_it_goes_on_later(spark: SparkSession, tmp_path: Path) -> None:
    """The whole group gets the signal, as from a terminal. Nothing is said, and no record is lost or repeated."""
    from kafkastub_pipeline.stream import stream

    out, checkpoint = tmp_path / "records", tmp_path / "checkpoint"
    with played(steps(5, 10, 40)) as on:
        servers = on.stub.bootstrap_servers
        with streaming(servers, out, checkpoint, tmp_path / "said") as process:
            os.killpg(process.pid, signal.SIGINT)
            assert process.wait(SECONDS) == 0, (tmp_path / "said").read_text()
        assert (tmp_path / "said").read_text() == ""
        on.play(steps(6, 10, 40))
        stream(spark, servers, out=str(out), checkpoint=str(checkpoint), available_now=True)
        _equals_batch(spark, out, servers)


def test_a_checkpoint_is_of_one_cluster_and_one_output(spark: SparkSession, tmp_path: Path) -> None:
    """Spark itself goes on with another one, and leaves out what it believes to have written."""
    from kafkastub_pipeline.errors import PipelineError
    from kafkastub_pipeline.stream import stream

    def to(servers: str, out: str, checkpoint: str) -> None:
        stream(spark, servers, out=str(tmp_path / out), checkpoint=str(tmp_path / checkpoint), available_now=True)

    with played(steps(5, 5, 20)) as on, played(steps(6, 5, 20)) as other:
        here, there = on.stub.bootstrap_servers, other.stub.bootstrap_servers
        to(here, "records", "checkpoint")
        with pytest.raises(PipelineError, match=r"is the checkpoint of another output: of .*records, and this is .*x"):
            to(here, "x", "checkpoint")
        with pytest.raises(PipelineError, match="is the checkpoint of another cluster"):
            to(there, "records", "checkpoint")
        with pytest.raises(PipelineError, match="has records of a stream with another checkpoint"):
            to(here, "records", "new")
        (tmp_path / "foreign" / "offsets").mkdir(parents=True)
        with pytest.raises(PipelineError, match="is neither a checkpoint of this command nor empty"):
            to(here, "x", "foreign")
        assert not (tmp_path / "x").exists()
        to(here, "records", "checkpoint")  # and goes on
        _equals_batch(spark, tmp_path / "records", here)
        (tmp_path / "checkpoint" / "kafkastub-pipeline.json").write_text("{")
        with pytest.raises(PipelineError, match="is damaged"):
            to(here, "records", "checkpoint")


def _equals_batch(spark: SparkSession, out: Path, servers: str) -> None:
    from kafkastub_pipeline.decode import decoded
    from kafkastub_pipeline.sources import read_kafka

    streamed = Counter(map(str, spark.read.parquet(str(out)).collect()))
    batch = Counter(map(str, decoded(read_kafka(spark, servers, LOG_PARTITIONS)).collect()))
    assert batch.total() > 10
    assert streamed == batch
