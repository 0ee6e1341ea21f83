"""The Spark session: the one that is there (spark-submit, a notebook), or one of our own."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import tempfile
import zipfile
from collections import deque
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from kafkastub_pipeline import java, maven
from kafkastub_pipeline.arrow import arrow_schema_of
from kafkastub_pipeline.errors import PipelineError, sentence
from kafkastub_pipeline.extra import check_spark, installed_spark

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

DEFAULTS: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.streaming.kafka.useDeprecatedOffsetFetching": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
"""Settings of a session of our own; the third because Spark's Kafka source drops internal topics without it."""

SHORT_LIVED: Final = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.ui.enabled": "false",
}
"""Of a session for a small log: what Java's second compiler would gain it never earns back, and nobody looks on."""

DELTA: Final = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
"""What Delta asks of the session that its tables are written in."""


def spark_session(
    master: str | None = None,
    packages: str | None = None,
    conf: Sequence[tuple[str, str]] = (),
    kafka: bool = True,
    quiet: bool = False,
    small: bool = False,
) -> SparkSession:
    """A session; one that runs already is taken as it is, with our SQL settings. Raises PipelineError.

    Args:
        master: of a new session; by default what the environment says, else `local[*]`.
        packages: Maven coordinates that a new session gets. The Kafka source comes with them where it is needed and
            they have no other one; "" for no packages at all.
        conf: more settings, which win.
        kafka: whether the Kafka source is needed.
        small: whether a new session lives for seconds, and is set up for that.
        quiet: what a Java that is started for it has to say (log, stack traces, downloads) is kept from standard error.
    """
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    given = dict(conf)
    submitted = bool(os.environ.get("PYSPARK_GATEWAY_PORT"))
    fresh = running() is None
    if fresh:
        if master is not None:
            given["spark.master"] = master
        elif "spark.master" not in given and not submitted:
            given["spark.master"] = "local[*]"
        if given.get("spark.master", "local").startswith("local"):
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers here have what this interpreter has
            given.setdefault("spark.sql.shuffle.partitions", str(4 * (os.cpu_count() or 1)))
        if small:
            given = SHORT_LIVED | given
        if "spark.pyspark.python" in given:  # spark-submit sees to it; of a session that Python starts, nobody does
            os.environ["PYSPARK_PYTHON"] = given["spark.pyspark.python"]
        wanted = maven.wanted(packages, kafka)
        if wanted and not submitted:
            given = {"spark.jars.packages": wanted, "spark.jars.excludes": maven.EXCLUDES, **given}
        if "delta-spark" in wanted:
            given = DELTA | given
    builder = SparkSession.builder.appName("kafkastub-pipeline")
    for name, value in {**DEFAULTS, **given}.items():
        builder = builder.config(name, value)
    said: deque[str] = deque(maxlen=_MOST_LINES)
    try:
        if quiet and fresh and not submitted:
            java.start_quietly(SparkConf().setAll(list({**DEFAULTS, **given}.items())), said)
        spark = builder.getOrCreate()
        java.check_java(spark)
        if spark.version != installed_spark():
            check_spark(spark.version, "the session is one of Spark {}")
        if fresh:
            java.let_interrupt(spark)
        _equip_workers(spark, given)
        return spark
    except PipelineError:
        raise
    except Exception as error:
        raise PipelineError(
            maven.not_to_be_had(said)
            or f"Spark cannot be started: {_heard(said) or sentence(error)}; it needs Java 17 or newer and, for the"
            f" Kafka source, the package {maven.kafka()} (--packages takes another, --conf spark.jars.ivySettings=FILE"
            " other repositories)"
        ) from error


_MOST_LINES: Final = 500
"""So many lines of Java's are remembered, to say why it could not start."""


def running() -> SparkSession | None:
    """Return the session that this thread would use, or None."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    try:
        return SparkSession.active()
    except PySparkException:
        return None


def _heard(said: deque[str]) -> str:
    """Why Java did not start, from what it said."""
    telling = [
        line.strip()
        for line in list(said)
        if re.search(r"Exception in thread|UnsupportedClassVersionError|JAVA_HOME|command not found|Error:", line)
    ]
    return re.sub(r"^Exception in thread \S+ (?:[\w.$]+: )?", "", telling[-1]) if telling else ""


def arrow_schema(ddl: str) -> pa.Schema:
    """Spark's columns as Arrow has them; times are in UTC, to the microsecond."""
    from pyspark.sql.types import StructType

    return arrow_schema_of(cast("StructType", StructType.fromDDL(ddl)))


def arrow_table(spark: SparkSession, table: pa.Table) -> DataFrame:
    """A table of the driver's as one of Spark's: no Python worker is started for it."""
    import pyarrow as pa

    if not table.num_rows:  # PySpark takes no table without a single chunk
        table = pa.Table.from_batches([pa.RecordBatch.from_pylist([], schema=table.schema)])
    return spark.createDataFrame(table)


def local_table(spark: SparkSession, rows: Sequence[tuple[Any, ...]], ddl: str) -> DataFrame:
    """Rows of the driver as a table, over Arrow."""
    import pyarrow as pa

    schema = arrow_schema(ddl)
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(list(column), field.type) for column, field in zip(columns, schema, strict=True)]
    return arrow_table(spark, pa.Table.from_arrays(arrays, schema=schema))


SHIPPED: Final = ("kafkastub_pipeline", "kafkawire")
"""What Python workers run of ours. Theirs to have: numpy, pyarrow and what kafkawire depends on."""
_CODE: Final = "kafkastub_pipeline.zip"


def _equip_workers(spark: SparkSession, given: dict[str, str]) -> None:
    """On a cluster, workers elsewhere get our code; here they have it."""
    context = spark.sparkContext
    if (context.master or "").startswith("local") or "spark.submit.pyFiles" in given:
        return
    if any(path.endswith(f"/{_CODE}") for path in context.listFiles):
        return
    temporary = tempfile.mkdtemp(prefix="kafkastub-pipeline-")  # workers fetch it as they come
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    target = Path(temporary) / _CODE
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
