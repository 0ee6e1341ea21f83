"""`run --append-day`: tables by days, where a second run of a day replaces that day and no other."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from kafkastub_pipeline import here
from tests.pipeline.script import LOG_PARTITIONS, START_MS, played, steps
from tests.pipeline.test_bad_input import command, sentence
from tests.pipeline.test_report import text_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BEGUN = datetime.fromtimestamp(START_MS / 1000, UTC)


@pytest.fixture
def saved(spark: SparkSession, tmp_path: Path) -> str:
    from kafkastub_pipeline.sources import read_kafka

    with played(steps(9, 10, 60)) as on:
        read_kafka(spark, on.stub.bootstrap_servers, LOG_PARTITIONS).write.parquet(str(tmp_path / "saved"))
    return str(tmp_path / "saved")


def run(raw: str, out: Path, *words: str) -> int:
    return command("run", "--raw", raw, "--retention-minutes", "600,60", "--out", str(out), *words)


def tables(out: Path, day: str = "") -> dict[str, Counter[str]]:
    """Rows of every table, or of its day, in no order."""
    found = {}
    for table in sorted(path for path in out.iterdir() if not path.name.startswith(("_", "."))):
        partitioning = ds.partitioning(pa.schema([("event_month", pa.string())]), flavor="hive")
        content = ds.dataset(table / day, format="parquet", partitioning=partitioning).to_table()
        rows = content.select(sorted(name for name in content.column_names if name != "event_month")).to_pylist()
        found[table.name] = Counter(map(str, rows))
    return found


def test_a_second_run_of_a_day_replaces_that_day(
    spark: SparkSession, tmp_path: Path, saved: str, capsys: pytest.CaptureFixture[str]
) -> None:
    later = BEGUN + timedelta(days=2)
    first, third = f"day={BEGUN.date()}", f"day={later.date()}"
    out, whole = tmp_path / "out", tmp_path / "whole"
    early = (BEGUN + timedelta(minutes=30)).isoformat()
    assert run(saved, out, "--append-day", "--now", early) == 0
    assert run(saved, out, "--append-day", "--now", later.isoformat()) == 0
    assert {path.name for path in (out / "lag").iterdir()} == {first, third}
    before = tables(out, third)
    was = tables(out, first)

    end = (BEGUN + timedelta(minutes=40)).isoformat()
    assert run(saved, out, "--append-day", "--now", end) == 0
    assert run(saved, whole, "--now", end) == 0
    assert tables(out, first) == tables(whole) != was
    assert tables(out, third) == before
    assert {path.name for path in (out / "offset_current").iterdir()} == {first, third}
    days = spark.read.parquet(str(out / "offset_current")).select("day").distinct().collect()
    assert {row.day for row in days} == {BEGUN.date(), later.date()}
    capsys.readouterr()

    assert run(saved, out, "--now", end) == 2
    assert "and not of one run: give --append-day, or name another directory" in sentence(capsys)
    assert run(saved, whole, "--append-day") == 2
    assert "of one run, and not by days: name another directory for --append-day" in sentence(capsys)
    assert command("report", "--out", str(out), "--day", "2020-02-02") == 2
    said = f"{out} has no tables of the day 2020-02-02: its days are {BEGUN.date()} to {later.date()}"
    assert sentence(capsys) == said
    with pytest.raises(SystemExit):
        command("report", "--out", str(out), "--day", "then")
    assert "'then' is not a day such as 2026-01-31" in capsys.readouterr().err
    assert command("report", "--out", str(out), "--day", str(BEGUN.date())) == 0
    assert str(BEGUN.date()) in " ".join(text_of((out / "report.html").read_text()).split())


def test_a_small_log_by_days_with_its_records_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, saved: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Decoded by the driver, or of the records that it has kept, by workers: the same day."""
    out, whole, kept = tmp_path / "out", tmp_path / "whole", tmp_path / "kept"
    when = "--now", (BEGUN + timedelta(minutes=40)).isoformat()
    monkeypatch.setattr(here, "RECORDS", 10_000)
    assert run(saved, whole, *when) == 0
    assert run(saved, out, *when, "--append-day", "2026-02-02", "--keep-records") == 0
    (out / "decoded_records").rename(kept)  # of the newest run, and not by days
    assert tables(out, "day=2026-02-02") == tables(whole)
    retention = "--retention-minutes", "600,60"
    assert (
        command("run", "--records", str(kept), "--out", str(out), *retention, *when, "--append-day", "2026-02-01") == 0
    )
    assert tables(out, "day=2026-02-01") == tables(out, "day=2026-02-02")
    capsys.readouterr()


def test_a_day_without_a_row(spark: SparkSession, tmp_path: Path) -> None:
    """It replaces rows that were there: Spark's own overwriting of partitions would leave them."""
    from kafkastub_pipeline.write import Store, newest_day

    first, second = date(2026, 1, 1), date(2026, 1, 2)
    rows = spark.range(3).selectExpr("id n", "'x' k")
    for day in (first, second):
        Store(spark, str(tmp_path), day=day).write("t", rows, ("k",))
    Store(spark, str(tmp_path), day=second).write("t", rows.where("n > 5"), ("k",))
    assert Store(spark, str(tmp_path), day=first).read("t").count() == 3
    assert Store(spark, str(tmp_path), day=second).read("t").columns == ["n", "k"]
    assert Store(spark, str(tmp_path), day=second).read("t").count() == 0
    assert newest_day(Store(spark, str(tmp_path)), ["t"]) == second


def test_a_day_that_was_begun_is_no_obstacle(spark: SparkSession, tmp_path: Path) -> None:
    """Killed in its first table: the next run of the day has nothing to ask."""
    from kafkastub_pipeline.write import Store, check_days

    (tmp_path / "t" / "_day-2026-01-01.incomplete").mkdir(parents=True)
    store = Store(spark, str(tmp_path))
    check_days(store, ["t"], by_days=True)
    check_days(store, ["t"], by_days=False)
    store.day = date(2026, 1, 1)
    assert store.write("t", spark.range(2)).count() == 2
    assert [path.name for path in (tmp_path / "t").iterdir()] == ["day=2026-01-01"]


@pytest.mark.parametrize(
    ("moment", "day"),
    [(0, date(1970, 1, 1)), (-1, date(1969, 12, 31)), (START_MS, BEGUN.date()), (2**62, date(9999, 12, 31))],
)
def test_the_day_of_a_moment(moment: int, day: date) -> None:
    from kafkastub_pipeline.write import day_of

    assert day_of(moment) == day
