"""Object storage moves nothing at once: who is killed between any two of its requests leaves a table whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafkastub_pipeline.write import Store

MOST_STEPS = 30


class Killed(BaseException):
    """As if the process ended here."""


@pytest.fixture
def no_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """This disk as if it were object storage."""
    monkeypatch.setattr("kafkastub_pipeline.files.Files.moves", lambda self, path: False)


def killed_at(step: int, monkeypatch: pytest.MonkeyPatch, spark: SparkSession, root: Path) -> Store:
    """A store whose process ends before it changes anything for the so-manieth time."""
    from kafkastub_pipeline.write import Store

    store = Store(spark, str(root))
    left = iter(range(step))
    for name in ("write", "remove"):
        real = getattr(store._files, name)

        def change(*arguments: Any, real: Any = real) -> Any:
            if next(left, None) is None:
                raise Killed
            return real(*arguments)

        monkeypatch.setattr(store._files, name, change)
    return store


def numbers(spark: SparkSession, root: Path) -> set[int] | None:
    """What a reader finds; None where it finds no table."""
    from kafkastub_pipeline.write import Store

    store = Store(spark, str(root))
    return {row.n for row in store.read("t").collect()} if store.has("t") else None


def steps() -> Iterator[int]:
    yield from range(MOST_STEPS)
    raise AssertionError("it never ends")


@pytest.mark.usefixtures("no_moves")
@pytest.mark.parametrize("parts", [(), ("k",)])
def test_a_kill_anywhere_leaves_the_table_of_before_or_the_new_one(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: tuple[str, ...]
) -> None:
    from kafkastub_pipeline.write import Store

    old, new = spark.range(0, 3).selectExpr("id n", "'a' k"), spark.range(10, 12).selectExpr("id n", "'b' k")
    seen = []
    for step in steps():
        root = tmp_path / str(step)
        Store(spark, str(root)).write("t", old.coalesce(1), parts)
        assert sorted(path.name for path in (root / "t").iterdir() if path.name[0] == "_") == ["_SUCCESS"]
        try:
            killed_at(step, monkeypatch, spark, root).write("t", new.coalesce(1), parts)
        except Killed:
            found = numbers(spark, root)
            assert found in ({0, 1, 2}, {10, 11}), (step, found)
            seen.append(found)
            Store(spark, str(root)).write("t", new.coalesce(1), parts)
        assert numbers(spark, root) == {10, 11}
        files = [path for path in (root / "t").rglob("*") if path.is_file() and path.name[0] != "."]
        assert len(files) == 2, files
        assert (root / "t" / "_SUCCESS") in files
        if len(seen) == step:
            break
    assert {0, 1, 2} in seen
    assert {10, 11} in seen


@pytest.mark.usefixtures("no_moves")
def test_a_kill_of_the_first_run_leaves_no_table(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafkastub_pipeline.errors import PipelineError
    from kafkastub_pipeline.placed import check_complete
    from kafkastub_pipeline.write import Store

    with pytest.raises(Killed):  # what it has written is there, and does not count
        killed_at(1, monkeypatch, spark, tmp_path).write("t", spark.range(5).selectExpr("id n").coalesce(1))
    store = Store(spark, str(tmp_path))
    assert list((tmp_path / "t").glob("*.parquet"))
    assert not store.has("t")
    with pytest.raises(PipelineError, match="not complete: it has no _SUCCESS"):
        store.read("t")
    with pytest.raises(PipelineError, match="not complete: it has no _SUCCESS"):
        check_complete(store._files, str(tmp_path / "t"))
    assert store.write("t", spark.range(2).selectExpr("id n")).count() == 2
    check_complete(store._files, str(tmp_path / "t"))


@pytest.mark.usefixtures("no_moves")
def test_a_table_without_a_row_has_its_columns(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.write import Store

    store = Store(spark, str(tmp_path))
    for rows in (3, 0):
        assert store.write("t", spark.range(rows).selectExpr("id n", "'a' k"), ("k",)).count() == rows
    assert set(spark.read.parquet(str(tmp_path / "t")).columns) == {"n", "k"}
    assert not list((tmp_path / "t").rglob("k=*/*.parquet"))


@pytest.mark.usefixtures("no_moves")
@pytest.mark.parametrize("text", ["", "[]", json.dumps({"files": 3}), "{"])
def test_a_manifest_that_is_damaged_is_told(spark: SparkSession, tmp_path: Path, text: str) -> None:
    from kafkastub_pipeline.errors import PipelineError
    from kafkastub_pipeline.write import Store

    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "_manifest.json").write_text(text)
    for question in (lambda store: store.read("t"), lambda store: store.write("t", spark.range(1))):
        with pytest.raises(PipelineError, match=r"_manifest.json is damaged: delete .*/t, and make it again"):
            question(Store(spark, str(tmp_path)))


def test_which_file_systems_move(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.files import Files

    files = Files(spark)
    context: Any = spark._jsc
    name = tmp_path.name.replace("_", "-")
    context.hadoopConfiguration().set(f"fs.viewfs.mounttable.{name}.link./mounted", tmp_path.as_uri())
    for path in (tmp_path, tmp_path / "not" / "there", f"viewfs://{name}/mounted/a/b"):
        assert files.moves(str(path))
