"""What the tests run on, and what they find."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.offsets_topic.history import subscription
from tests.pipeline.raw import commit, generation, saved, tombstone
from tests.pipeline_s3.objects import BUCKET, Objects

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START_MS = 1_800_000_000_000
MINUTE = 60_000
DAY_ONE = datetime.fromtimestamp(START_MS / 1000, UTC)
DAY_TWO = DAY_ONE + timedelta(days=1)
WHERE = f"s3a://{BUCKET}"


def log(folder: Path, groups: int, small: bool = True) -> str:
    """Saved raw records of so many groups, over two days.

    Args:
        small: whether a run may decode them by itself, and write several tables at once.
    """
    from kafkastub_pipeline import here

    records = [(b"\x00\x63 nobody knows", b"?", START_MS)]
    if not small:
        records += [commit("busy", "orders", 0, START_MS + n, offset=n) for n in range(here.RECORDS)]
    for n in range(groups):
        group, at = f"group-{n}", START_MS + n * MINUTE
        if n % 2:
            records.append(generation(group, at, [subscription("orders")]))
        records += [commit(group, "orders", partition, at, offset=7 * n) for partition in range(3)]
        records.append(commit(group, "orders", 1, at + 1440 * MINUTE, offset=9 * n))
        if n % 3 == 0:
            records.append(tombstone(group, "orders", 2, at + 1500 * MINUTE))
    return saved(folder, sorted(records, key=lambda record: record[2]))


def put(objects: Objects, folder: str, name: str) -> str:
    """A directory's files as objects; where they are then."""
    for file in Path(folder).iterdir():
        with objects.files.open_output_stream(f"{BUCKET}/{name}/{file.name}") as stream:
            stream.write(file.read_bytes())
    return f"{WHERE}/{name}"


def on_disk(out: Path) -> dict[str, Counter[str]]:
    """Rows of every table, in no order."""
    names = sorted(path.name for path in out.iterdir() if not path.name.startswith(("_", ".")))
    return {name: rows(str(out / name), None) for name in names if name != "report.html"}


def in_store(objects: Objects, out: str, day: str = "") -> dict[str, Counter[str]]:
    """The same of complete tables in the store, as another library reads them: it takes every file for data."""
    names = sorted({name.partition("/")[0] for name in objects.names(out)} - {"report.html", "decoded_records"})
    places = {name: f"{BUCKET}/{out}/{name}{day and f'/day={day}'}" for name in names}
    return {name: rows(place, objects.files) for name, place in places.items()}


def rows(place: str, files: Any) -> Counter[str]:
    import pyarrow.dataset as ds

    content = ds.dataset(place, format="parquet", partitioning="hive", filesystem=files).to_table()
    return Counter(map(str, content.select(sorted(content.column_names)).to_pylist()))


def read(spark: SparkSession, out: str, day: date | None = None) -> dict[str, Counter[str]]:
    """Rows of every table that a reader of ours finds."""
    from kafkastub_pipeline.tables.columns import TABLES
    from kafkastub_pipeline.write import Store

    store = Store(spark, out, day=day)
    return {name: Counter(map(str, store.read(name).collect())) for name in TABLES if store.has(name)}


def command(raw: str, out: str, *more: str) -> list[str]:
    return ["run", "--raw", raw, "--retention-minutes", "600,60", "--out", out, *more]


def main(*words: str) -> int:
    """In this process and its session."""
    from kafkastub_pipeline.cli import main

    return main(words)
