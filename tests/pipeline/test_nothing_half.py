"""A run that fails on the way: one sentence, a status, and no table that looks whole."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.pipeline.process import SECONDS, runs_until, started

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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


def _arguments(raw: str, out: Path) -> list[str]:
    return ["run", "--retention-minutes", "60", "--raw", raw, "--out", str(out)]


def _tables(out: Path) -> list[str]:
    """What a reader takes for a table."""
    return [path.name for path in out.iterdir() if not path.name.startswith(("_", "."))]


def test_a_failure_in_java_is_one_sentence_with_its_cause(tmp_path: Path) -> None:
    """One of two files is damaged: a task fails, and a job, and each of them has a stack to show."""
    raw, out = _saved(tmp_path / "raw", 2, damaged=1), tmp_path / "out"
    with started(tmp_path / "said", *_arguments(raw, out)) as process:
        assert process.wait(SECONDS) == 1
    said = (tmp_path / "said").read_text()
    assert said.startswith(f"kafkastub-pipeline: the run failed: file://{raw}/1.parquet: "), said
    assert said.count("\n") == 1
    assert "An error occurred" not in said
    assert not out.exists() or _tables(out) == []


def test_ctrl_c_is_told_whatever_comes_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """PySpark tidies up behind a job that is interrupted, and may find Java's answer empty."""
    from kafkastub_pipeline import cli

    def report(options: object) -> int:
        try:
            raise KeyboardInterrupt
        finally:
            raise RuntimeError("Answer from Java side is empty")

    monkeypatch.setattr(cli, "_report", report)
    assert cli.main(["report", "--out", str(tmp_path)]) == 130
    assert capsys.readouterr().err.startswith("kafkastub-pipeline: interrupted: ")


def test_ctrl_c_ends_a_run_with_a_sentence(tmp_path: Path) -> None:
    """The whole group gets the signal, as from a terminal, in the middle of a job.

    On a busy machine that job may be done when the signal comes, and some tables, too: those are whole.
    """
    raw, out = _saved(tmp_path / "raw", 8), tmp_path / "out"
    begun = out / "_decoded_records.incomplete"
    with started(tmp_path / "said", *_arguments(raw, out)) as process:
        runs_until(process, tmp_path / "said", begun.exists, "the first job")
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(SECONDS) == 130, (tmp_path / "said").read_text()
    said = (tmp_path / "said").read_text()
    assert said == "kafkastub-pipeline: interrupted: the tables that exist are complete, the others were not made\n"
    there = _tables(out)
    assert "decoded_records" not in there
    assert all((out / table / "_SUCCESS").exists() for table in there), there
    assert "deletion_audit" not in there


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
    assert not out.exists() or _tables(out) == []
