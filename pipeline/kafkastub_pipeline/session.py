"""The Spark session: the one that is there (spark-submit, a notebook), or one of our own."""

from __future__ import annotations

import os
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from kafkastub_pipeline.errors import PipelineError, sentence

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PACKAGES: Final = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0"
EXCLUDES: Final = "org.lz4:lz4-java"
"""pyspark ships this jar itself."""

DEFAULTS: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.streaming.kafka.useDeprecatedOffsetFetching": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
"""Settings of a session of our own; the third because Spark's Kafka source drops internal topics without it."""


def spark_session(
    master: str | None = None, packages: str | None = None, conf: Sequence[tuple[str, str]] = (), kafka: bool = True
) -> SparkSession:
    """A session; one that runs already is taken as it is, with our SQL settings. Raises PipelineError.

    Args:
        master: of a new session; by default what the environment says, else `local[*]`.
        packages: Maven coordinates in the place of `PACKAGES`; "" for none.
        conf: more settings, which win.
        kafka: whether the Kafka source is needed.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    given = dict(conf)
    builder = SparkSession.builder.appName("kafkastub-pipeline")
    if SparkContext._active_spark_context is None:
        if master is not None:
            builder = builder.master(master)
        elif "spark.master" not in given and not os.environ.get("PYSPARK_GATEWAY_PORT"):
            builder = builder.master("local[*]")
        if (master or given.get("spark.master", "local")).startswith("local"):
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers here have what this interpreter has
            given.setdefault("spark.sql.shuffle.partitions", str(4 * (os.cpu_count() or 1)))
        wanted = PACKAGES if packages is None else packages
        if kafka and wanted and not os.environ.get("PYSPARK_GATEWAY_PORT"):
            builder = builder.config("spark.jars.packages", wanted).config("spark.jars.excludes", EXCLUDES)
    for name, value in {**DEFAULTS, **given}.items():
        builder = builder.config(name, value)
    try:
        spark = builder.getOrCreate()
        _equip_workers(spark, given)
        return spark
    except Exception as error:
        raise PipelineError(
            f"Spark cannot be started: {sentence(error)}; it needs Java 17 and, for the Kafka source, the package "
            f"{PACKAGES} (--packages takes another, --conf spark.jars.ivySettings=FILE other repositories)"
        ) from error


def local_table(spark: SparkSession, rows: Sequence[tuple[Any, ...]], ddl: str) -> DataFrame:
    """Rows of the driver as a table, over Arrow: no Python worker is started for it."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    schema = to_arrow_schema(cast("StructType", StructType.fromDDL(ddl)))
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(list(column), field.type) for column, field in zip(columns, schema, strict=True)]
    return spark.createDataFrame(pa.Table.from_arrays(arrays, schema=schema))


SHIPPED: Final = ("kafkastub_pipeline", "kafkawire")
"""What Python workers run of ours. Theirs to have: numpy, pyarrow and what kafkawire depends on."""


def _equip_workers(spark: SparkSession, given: dict[str, str]) -> None:
    """On a cluster, workers elsewhere get our code; here they have it."""
    context = spark.sparkContext
    if (context.master or "").startswith("local") or "spark.submit.pyFiles" in given:
        return
    target = Path(tempfile.mkdtemp(prefix="kafkastub-pipeline-")) / "kafkastub_pipeline.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in SHIPPED:
            spec = find_spec(package)
            if spec is None or spec.origin is None:
                continue
            folder = Path(spec.origin).parent
            for file in sorted(folder.rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    archive.write(file, Path(package) / file.relative_to(folder))
    context.addPyFile(str(target))
