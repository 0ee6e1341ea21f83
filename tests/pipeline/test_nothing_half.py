"""A run that fails on the way: one sentence, a status, and no table that looks whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


SECONDS = 600


def _saved(directory: Path, files: int, damaged: int | None = None) -> str:
    """Raw records that cannot be decoded, and a file of them whose middle is not there any more."""
    directory.mkdir()
    moment = 1_800_000_000_000_000
    for file in range(files):
        n = 2000
        columns = {
            "key": pa.array([os.urandom(20) for _ in range(n)], pa.binary()),
            "value": pa.array([os.urandom(20) for _ in range(n)], pa.binary()),
            "partition": pa.array([0] * n, pa.int32()),
            "offset": pa.array(range(file * n, file * n + n), pa.int64()),
            "timestamp": pa.array([moment] * n, pa.timestamp("us", "UTC")),
        }
        path = directory / f"{file}.parquet"
        pq.write_table(pa.table(columns), path)
        if file == damaged:
            content = bytearray(path.read_bytes())
            content[4:40_000] = bytes(40_000 - 4)
            path.write_bytes(content)
    return str(directory)


def _run(tmp_path: Path, *arguments: str, stop: Callable[[], bool] | None = None) -> tuple[int, str]:
    """The status, and what is on standard error, Java's words included; `stop` says when to send Ctrl-C."""
    command = [sys.executable, "-m", "kafkastub_pipeline", "run", "--retention-minutes", "60", "--master", "local[2]"]
    with (tmp_path / "said").open("wb") as said:
        process = subprocess.Popen(
            [*command, "--conf", "spark.ui.enabled=false", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,
        )
        try:
            deadline = time.monotonic() + SECONDS
            while stop is not None and not stop():
                assert process.poll() is None, (tmp_path / "said").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.05)
            if stop is not None:
                os.killpg(process.pid, signal.SIGINT)
            status = process.wait(SECONDS)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    return status, (tmp_path / "said").read_text()


def test_a_failure_in_java_is_one_sentence_with_its_cause(tmp_path: Path) -> None:
    """One of two files is damaged: a task fails, and a job, and each of them has a stack to show."""
    raw, out = _saved(tmp_path / "raw", 2, damaged=1), tmp_path / "out"
    status, said = _run(tmp_path, "--raw", raw, "--out", str(out))
    assert status == 1
    assert said.startswith(f"kafkastub-pipeline: the run failed: file://{raw}/1.parquet: "), said
    assert said.count("\n") == 1
    assert "An error occurred" not in said
    assert [path.name for path in out.iterdir() if not path.name.startswith(("_", "."))] == []


def test_ctrl_c_ends_a_run_with_a_sentence(tmp_path: Path) -> None:
    """The whole group gets the signal, as from a terminal, in the middle of a job."""
    raw, out = _saved(tmp_path / "raw", 8), tmp_path / "out"
    status, said = _run(
        tmp_path, "--raw", raw, "--out", str(out), stop=(out / "_decoded_records.incomplete" / "_temporary").exists
    )
    assert status == 130
    assert said == "kafkastub-pipeline: interrupted: tables that are there are whole, the others are not there\n"
    assert [path.name for path in out.iterdir() if not path.name.startswith(("_", "."))] == []


def test_saved_records_that_are_damaged_inside(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, spark: SparkSession
) -> None:
    """The file's end is whole, so that the run begins; what is in the middle is not."""
    from kafkastub_pipeline.cli import main

    raw, out = tmp_path / "raw", tmp_path / "out"
    spark.range(5000).selectExpr(
        "cast(uuid() as binary) key", "cast(uuid() as binary) value", "0 `partition`", "id offset", "now() timestamp"
    ).coalesce(1).write.parquet(str(raw))
    (file,) = raw.glob("*.parquet")
    (raw / f".{file.name}.crc").unlink()
    content = bytearray(file.read_bytes())
    content[4:60_000] = bytes(60_000 - 4)
    file.write_bytes(content)

    where = "--raw", str(raw), "--out", str(out)
    assert main(["run", *where, "--retention-minutes", "60"]) != 0
    said = [line for line in capfd.readouterr().err.splitlines() if line.startswith("kafkastub-pipeline: ")]
    assert len(said) == 1
    assert "Traceback" not in said[0]
    assert len(said[0]) > len("kafkastub-pipeline: the run failed: ")
    left = [path.name for path in out.iterdir()] if out.exists() else []
    assert all(name.startswith(("_", ".")) for name in left), left  # Spark reads no such directory as a table
