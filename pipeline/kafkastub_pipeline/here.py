"""What is small stays here, in the driver's own Python.

Of fifty offsets Spark makes the same tables as of fifty million, and takes most of a minute for it: it compiles each
question, cuts it into tasks, and starts Python workers. Where a log is so small that one process has decoded it sooner
than Spark has begun, the decoders run in the driver instead, what they give are rows of the plan itself, and Spark asks
each question in one task, without compiling it. What is asked, and what comes out, is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from kafkastub_pipeline.session import arrow_schema, arrow_table

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

RECORDS: Final = 10_000
BYTES: Final = 2**25
"""Keys and values of a log that stays here, at most."""

_MARK: Final = "spark.kafkastub.pipeline.here"
_PLANS: Final = {
    _MARK: "true",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.leafNodeDefaultParallelism": "1",
}
"""One task a question: where all rows are in one partition, nothing is shuffled, nor broadcast, nor planned twice."""
_ROWS: Final = 10_000


@contextmanager
def plans(spark: SparkSession, small: bool) -> Iterator[None]:
    """What is asked of the session meanwhile is small; afterwards the session is as it was."""
    if not small:
        yield
        return
    before = {name: spark.conf.get(name, None) for name in _PLANS}
    for name, value in _PLANS.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, was in before.items():
            if was is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, was)


def is_here(spark: SparkSession) -> bool:
    """Whether what is asked is small."""
    return spark.conf.get(_MARK, "false") == "true"


def mapped(
    frame: DataFrame, function: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]], ddl: str
) -> DataFrame:
    """`frame.mapInArrow`, in Spark's workers, or here where that is sooner."""
    import pyarrow as pa

    spark = frame.sparkSession
    if not is_here(spark):
        return frame.mapInArrow(function, ddl)
    batches = frame.toArrow().to_batches(max_chunksize=_ROWS)
    return arrow_table(spark, pa.Table.from_batches(function(iter(batches)), arrow_schema(ddl)))


def kept(frame: DataFrame) -> DataFrame:
    """What is asked several times, so that it is made once: `unpersist` ends that."""
    return arrow_table(frame.sparkSession, frame.toArrow()) if is_here(frame.sparkSession) else frame.persist()


def is_small(raw: DataFrame) -> bool:
    """Whether saved records can stay here. Of a long log no record is read for that: files know how many they have."""
    with plans(raw.sparkSession, True):
        if raw.count() > RECORDS:
            return False
        (row,) = raw.selectExpr("sum(length(key)) keys", "sum(length(value)) others").collect()
    return bool((row["keys"] or 0) + (row.others or 0) <= BYTES)
