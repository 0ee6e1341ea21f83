"""A run that fails on the way: one sentence, a status, and no table that looks whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
