"""Input and output on object storage: the same tables, by days too, as Parquet and as Iceberg."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.pipeline.test_bad_input import sentence
from tests.pipeline_s3.lake import DAY_ONE, DAY_TWO, WHERE, command, in_store, log, main, on_disk, put
from tests.pipeline_s3.objects import Objects

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> str:
    return log(tmp_path_factory.mktemp("log") / "raw", 12)


@pytest.mark.usefixtures("spark")
def test_tables_are_those_of_a_disk(objects: Objects, tmp_path: Path, raw: str) -> None:
    """Records from the store and tables to it, twice; records that the run has kept; and the page."""
    there = put(objects, raw, "same/raw")
    assert main(*command(raw, str(tmp_path / "out"))) == 0
    expected = on_disk(tmp_path / "out")
    assert {"offset_current", "expiry_forecast", "group_timeline", "deletion_audit"} <= expected.keys()
    for _ in range(2):
        assert main(*command(there, f"{WHERE}/same/out", "--keep-records")) == 0
        assert in_store(objects, "same/out") == expected
        left = [name for name in objects.names("same/out") if "_temporary" in name or "_manifest" in name]
        assert left == []
    again = command(there, f"{WHERE}/same/again", "--records", f"{WHERE}/same/out/decoded_records")
    assert main(*[word for word in again if word not in ("--raw", there)]) == 0
    assert in_store(objects, "same/again") == expected
    assert main("report", "--out", f"{WHERE}/same/out") == 0
    assert "report.html" in objects.names("same/out")


def days(spark: SparkSession, out: str, table: str, format_: str) -> dict[datetime, int]:
    """Rows of a table, by the day that they are of."""
    from kafkastub_pipeline.write import Store

    found = {}
    for day in Store(spark, out).days(table) or ():
        found[day] = Store(spark, out, format_, day).read(table).count()
    return found


@pytest.mark.parametrize("format_", ["parquet", "iceberg"])
def test_a_second_run_of_a_day_replaces_that_day(
    spark: SparkSession, objects: Objects, tmp_path: Path, raw: str, format_: str
) -> None:
    out, more = f"{WHERE}/days-{format_}", log(tmp_path / "more", 20)
    first = ["--append-day", "--now", DAY_ONE.replace(hour=23).isoformat(), "--format", format_]
    second = ["--append-day", "--now", DAY_TWO.replace(hour=23).isoformat(), "--format", format_]
    for words in (first, second):
        assert main(*command(raw, out, *words)) == 0
    one, two = DAY_ONE.date(), DAY_TWO.date()
    before = {table: days(spark, out, table, format_) for table in ("offset_current", "lag", "stale_offsets")}
    assert before["offset_current"] == {one: 36, two: 32}
    assert main(*command(more, out, *first)) == 0
    assert main(*command(more, out, *first)) == 0
    assert days(spark, out, "offset_current", format_) == {one: 60, two: 32}
    assert days(spark, out, "lag", format_)[two] == before["lag"][two]
    assert main(*command(raw, out, "--format", format_)) == 2
    assert main("report", "--tables", out, "--day", str(one), "--out", str(tmp_path / "page.html")) == 0
    if format_ == "parquet":
        assert main(*command(more, str(tmp_path / "out"), *first[1:])) == 0
        assert in_store(objects, "days-parquet", str(one)) == on_disk(tmp_path / "out")


@pytest.mark.usefixtures("spark")
def test_what_is_not_there(capsys: pytest.CaptureFixture[str], raw: str, objects: Objects) -> None:
    assert main(*command(raw, "s3a://no-such-bucket/out")) == 2
    said = sentence(capsys)
    assert said.startswith("--out s3a://no-such-bucket/out cannot be written: "), said
    assert said.endswith("; name another directory")
    assert "The specified bucket does not exist" in said
    assert main(*command(f"{WHERE}/nothing", f"{WHERE}/out")) == 2
    assert "nothing" in sentence(capsys)
    assert objects.names("out") == []
