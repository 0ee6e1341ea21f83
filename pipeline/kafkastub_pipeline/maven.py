"""The Maven packages of a session: which it asks for, and what to do where one cannot be had.

Spark resolves them with Ivy before it does anything else. What goes wrong there, it says as a report of many lines and
a stack.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from kafkastub_pipeline.extra import DEFAULT_SPARK, installed_spark

_KAFKA: Final = "org.apache.spark:spark-sql-kafka-0-10_2.13"
_TRIED: Final = {"4.0": "4.0.0", "4.1": "4.1.1", "4.2": "4.2.0"}
"""Versions of Spark's Kafka source that the pipeline is tested with: each works with all of its release of Spark. With
another release the pipeline reads brokers by itself; the source would be that of Spark's own version."""
EXCLUDES: Final = "org.lz4:lz4-java,at.yawk.lz4:lz4-java"
"""pyspark ships this jar itself, under the one name or the other."""
LAKES: Final = {
    "delta": {
        "4.0": "io.delta:delta-spark_4.0_2.13:4.4.0",
        "4.1": "io.delta:delta-spark_4.1_2.13:4.4.0",
        "4.2": "io.delta:delta-spark_4.2_2.13:4.4.0",
    },
    "iceberg": {
        "4.0": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.11.0",
        "4.1": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0",
    },
}
"""Formats that commit by themselves, and their package for each release of Spark that they have one for."""

_FAILED: Final = re.compile(r"(?:unresolved dependency|download failed): ([^#\s]+)#([^;\s]+);([^:!,\]\s]+)")
_NO_ACCESS: Final = re.compile(r"Server access error at url \w+://([^/\s]+)\S* \((?:[\w.]+: )?(.*)\)")


def kafka(version: str | None = None) -> str:
    """Return the coordinates of Spark's Kafka source.

    Args:
        version: of Spark; by default that of the pyspark that is installed.
    """
    spark = version or installed_spark() or DEFAULT_SPARK
    return f"{_KAFKA}:{_TRIED.get(_release(spark), spark)}"


def has_kafka() -> bool:
    """Return whether the release that is installed has a Kafka source that is known to work."""
    return _release(installed_spark() or DEFAULT_SPARK) in _TRIED


def lake(format_: str, version: str) -> str:
    """Say which package a session needs for a format, or with which releases of Spark there is one.

    Args:
        format_: `delta` or `iceberg`.
        version: of Spark.
    """
    known = LAKES[format_]
    if package := known.get(_release(version)):
        return f"a session of Spark {version} has it with --packages {package}"
    return (
        f"{format_} has no package that is known to work with Spark {version}, but has for {' and '.join(known)}:"
        " take --format parquet, or install such a pyspark (docs/pipeline.md)"
    )


def _release(version: str) -> str:
    return ".".join(version.split(".")[:2])


def wanted(packages: str | None, with_kafka: bool) -> str:
    """What a new session asks for.

    Args:
        packages: what the user names; None for nothing said, "" for no packages at all.
        with_kafka: whether the Kafka source is needed.
    """
    if packages is None:
        return kafka() if with_kafka and has_kafka() else ""
    if with_kafka and packages and "spark-sql-kafka" not in packages and has_kafka():
        return f"{kafka()},{packages}"
    return packages


def malformed(packages: str) -> str | None:
    """The first of them that Spark cannot take for a Maven coordinate."""
    for one in packages.split(",") if packages else ():
        parts = one.replace("/", ":").split(":")
        if len(parts) != 3 or not all(part.strip() for part in parts):
            return one
    return None


def not_to_be_had(said: Sequence[str]) -> str | None:
    """One sentence, where what Java said before it ended is that it found no package; else None."""
    told = next(
        (line for line in reversed(said) if line.startswith("Exception in thread") and _FAILED.search(line)), ""
    )
    found = list(dict.fromkeys(":".join(one) for one in _FAILED.findall(told)))
    if not found:
        return None
    no_access = next((match for line in said if (match := _NO_ACCESS.search(line))), None)
    why = "no repository has that" if no_access is None else f"{no_access[1]} cannot be reached: {no_access[2]}"
    without = _WITHOUT if any(one.startswith(_KAFKA) for one in found) else ""
    return (
        f"the package {', '.join(found)} cannot be had: {why}; check its name and version in --packages, name"
        " another repository with --conf spark.jars.repositories=URL or --conf spark.jars.ivySettings=FILE, or put the"
        f' jars where Spark has its own and give --packages ""{without}'
    )


_WITHOUT: Final = (
    ". Without the Kafka source the pipeline still reads logs of fewer than 10,000 records, saved records (--raw), and"
    ' by spark.read.format("kafka_offsets") logs of any length'
)
