"""A stream that is killed and started again has every record once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.pipeline.script import played, steps

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECONDS = 600


def until(condition: Callable[[], bool], what: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert process.poll() is None, what
        assert time.monotonic() < deadline, what
        with_pause(process)


def with_pause(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(0.2)
    except subprocess.TimeoutExpired:
        return


def test_killed_and_restarted_it_equals_batch(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.decode import decoded
    from kafkastub_pipeline.sources import read_kafka
    from kafkastub_pipeline.stream import stream

    out, checkpoint = tmp_path / "records", tmp_path / "checkpoint"
    with played(steps(5, 30, 100)) as on:
        servers = on.stub.bootstrap_servers
        command = [sys.executable, "-m", "kafkastub_pipeline", "stream", "--bootstrap-servers", servers]
        command += ["--out", str(out), "--checkpoint", str(checkpoint), "--master", "local[2]"]
        with (tmp_path / "said").open("wb") as said:
            process = subprocess.Popen(
                [*command, "--conf", "spark.ui.enabled=false"],
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                until(lambda: any((checkpoint / "commits").glob("[0-9]*")), "the first batch", process)
                on.play(steps(6, 30, 100))
                until(lambda: len(list((checkpoint / "offsets").glob("[0-9]*"))) > 1, "the second", process)
            finally:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        on.play(steps(7, 30, 100))
        stream(spark, servers, out=str(out), checkpoint=str(checkpoint), available_now=True)
        streamed = spark.read.parquet(str(out))
        batch = decoded(read_kafka(spark, servers, 4))
        assert streamed.count() == batch.count() > 100
        assert streamed.exceptAll(batch).count() == 0
        assert batch.exceptAll(streamed).count() == 0


def test_a_checkpoint_of_another_query(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.errors import PipelineError
    from kafkastub_pipeline.stream import stream

    checkpoint = tmp_path / "checkpoint"
    other = (
        spark.readStream.format("rate").load().writeStream.format("noop").option("checkpointLocation", str(checkpoint))
    )
    other.trigger(availableNow=True).start().awaitTermination()
    with played(steps(5, 5, 20)) as on, pytest.raises(PipelineError, match="a checkpoint serves one query"):
        stream(
            spark, on.stub.bootstrap_servers, out=str(tmp_path / "o"), checkpoint=str(checkpoint), available_now=True
        )
