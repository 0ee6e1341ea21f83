"""The page of some tables: it says what they tell, and of each that is missing how it is made."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.pipeline.test_bad_input import command, sentence
from tests.pipeline.test_report import rows, text_of, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PRESENT = "offset_current", "expiry_forecast", "lag", "stale_offsets"


def page_of(spark: SparkSession, root: Path) -> str:
    from kafkastub_pipeline.report import write_report

    return Path(write_report(spark, None, str(root))).read_text()


def of_day(spark: SparkSession, root: Path, table: str, day: str, content: list[dict[str, Any]]) -> None:
    """As `run --append-day` would have it."""
    write(spark, root / "begun", table, content)
    (root / table).mkdir()
    (root / "begun" / table).rename(root / table / f"day={day}")


def said(page: str) -> str:
    return " ".join(text_of(page).split())


def test_the_tables_of_the_present(spark: SparkSession, tmp_path: Path) -> None:
    for table in PRESENT:
        write(spark, tmp_path, table, rows()[table])
    page = page_of(spark, tmp_path)
    there = ["expiry", "lag", "stale", "commands", "absent", "tables"]
    assert re.findall('<section id="([^"]+)">', page) == there
    assert re.findall('<a href="#([^"]+)">', page.partition("</nav>")[0]) == there
    text = said(page)
    for table, needs in (
        ("retention_whatif", "."),
        ("session_whatif", " with --session-timeout-ms and a --journal."),
        ("transaction_whatif", " with --transaction-timeout-ms."),
        ("lock_whatif", " with --record-lock-duration-ms."),
        ("findings", "."),
        ("group_timeline", "."),
        ("deletion_audit", "."),
        ("decode_errors", "."),
        ("share_partitions", " with --bootstrap-servers."),
        ("transactions", " with --bootstrap-servers."),
        ("held_partitions", " with --bootstrap-servers."),
        ("guarantees", " with a --journal."),
        ("protocol_coverage", " with a --journal."),
    ):
        made = f"It is made by kafkastub-pipeline run --tables {table}"
        assert f"The table {table} is not there. {made}{needs}" in text.replace(" .", ".")
    assert text.count("It is made by") == 13


@pytest.mark.parametrize(
    ("table", "sections"), [("group_events", []), ("share_partitions", ["shares"]), ("deletion_audit", ["audit"])]
)
def test_one_table_is_enough(spark: SparkSession, tmp_path: Path, table: str, sections: list[str]) -> None:
    """Whichever it is."""
    write(spark, tmp_path, table, rows()[table])
    page = page_of(spark, tmp_path)
    assert re.findall('<section id="([^"]+)">', page) == [*sections, "absent", "tables"]
    assert f"The table {table} is not there" not in said(page)


def test_a_moment_of_the_past(spark: SparkSession, tmp_path: Path) -> None:
    """Watermarks of today tell nothing of it; what is then said is not that they were forgotten."""
    behind = "lag_records", "lag_seconds", "lag_method"
    write(spark, tmp_path, "lag", [{**one, **dict.fromkeys(behind)} for one in rows()["lag"]])
    text = said(page_of(spark, tmp_path))
    assert "There are no watermarks of this moment, so that lag is not known" in text
    assert "for a moment of the past nothing tells them" in text


def test_a_day_of_some_tables(spark: SparkSession, tmp_path: Path) -> None:
    """As the newest run has left it: what another day has is not taken for this one's."""
    for table, day in (("deletion_audit", "2026-01-30"), ("lag", "2026-01-31")):
        of_day(spark, tmp_path, table, day, rows()[table])
    text = said(page_of(spark, tmp_path))
    assert "17 ms" not in text
    assert "What tables tell that have nothing of 2026-01-31. With --now 2026-01-31T12:00:00.000+00:00" in text
    assert "--append-day 2026-01-31 such a table is made for that day" in text
    assert "The table deletion_audit has nothing of this day, its newest day is 2026-01-30. It is made by" in text
    assert "The table retention_whatif has nothing of this day. It is made by" in text


def test_a_day_without_a_row_is_not_taken_for_a_table_that_says_nothing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Iceberg and Delta keep no trace of a day without rows: whether the table was made that day nobody knows."""
    from kafkastub_pipeline.write import Store

    of_day(spark, tmp_path, "deletion_audit", "2026-01-31", [])
    of_day(spark, tmp_path, "lag", "2026-01-31", rows()["lag"])
    (tmp_path / "another" / "_delta_log").mkdir(parents=True)
    for day in (None, date(2026, 1, 31)):
        store = Store(spark, str(tmp_path), day=day)
        assert [store.keeps_empty(table) for table in ("lag", "another")] == [True, day is None]
    assert "Nothing was deleted." in said(page_of(spark, tmp_path))
    monkeypatch.setattr(Store, "keeps_empty", lambda *_: False)
    text = said(page_of(spark, tmp_path))
    assert "Nothing was deleted." not in text
    assert "The table deletion_audit has no rows of this day: there was nothing to tell, or it was not made" in text


def test_no_table_at_all(capsys: pytest.CaptureFixture[str], tmp_path: Path, spark: SparkSession) -> None:
    del spark
    assert command("report", "--out", str(tmp_path)) == 2
    assert sentence(capsys) == (
        f"there are no tables in {tmp_path}; make them with `kafkastub-pipeline run --out {tmp_path}`"
    )
