"""A table is whole or not there, and the one of before is not lost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Killed(BaseException):
    """As if the process ended here."""


@pytest.mark.parametrize("renames", [0, 1])
def test_a_kill_between_two_moves_loses_no_table(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renames: int
) -> None:
    from kafkastub_pipeline.write import Store

    parts = ("id",)
    two = spark.range(3).selectExpr("id", "id as n")
    Store(spark, str(tmp_path)).write("t", two, parts)
    store = Store(spark, str(tmp_path))
    real, left = store._files.move, iter([True] * renames)

    def move(path: str, target: str) -> bool:
        if next(left, False):
            return real(path, target)
        raise Killed

    monkeypatch.setattr(store._files, "move", move)
    with pytest.raises(Killed):
        store.write("t", two, parts)
    assert (tmp_path / "t").exists() is (renames == 0)

    after = Store(spark, str(tmp_path))
    assert after.has("t")
    assert {tuple(r) for r in after.read("t").select("id", "n").collect()} == {(0, 0), (1, 1), (2, 2)}
    assert after.write("t", two.where("n > 0"), parts).count() == 2
    assert [path.name for path in tmp_path.iterdir()] == ["t"]


def test_a_move_that_is_refused_leaves_the_table_of_before(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafkastub_pipeline.errors import PipelineError
    from kafkastub_pipeline.write import Store

    store = Store(spark, str(tmp_path))
    store.write("t", spark.range(3))
    real = store._files.move
    refused = iter([True, False, True])  # the second move is that of the new table
    monkeypatch.setattr(store._files, "move", lambda path, target: next(refused) and real(path, target))
    with pytest.raises(PipelineError, match="the complete table stays in"):
        store.write("t", spark.range(5))
    assert Store(spark, str(tmp_path)).read("t").count() == 3


def test_a_partitioned_table_without_a_row_has_its_columns(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.write import Store

    empty = spark.createDataFrame([], "group_id string, n bigint, event_month string")
    store = Store(spark, str(tmp_path))
    for frame in (spark.range(3).selectExpr("'g' group_id", "id n", "'2026-01' event_month"), empty):
        store.write("t", frame, ("event_month",))
    table = pq.read_table(tmp_path / "t")
    assert (table.num_rows, table.schema.names) == (0, ["group_id", "n", "event_month"])
    assert store.read("t").count() == 0
