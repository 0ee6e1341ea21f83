"""The Maven packages of a session: which it asks for, and what to do where one cannot be had.

Spark resolves them with Ivy before it does anything else. What goes wrong there, it says as a report of many lines and
a stack.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

KAFKA: Final = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0"
"""Spark's Kafka source."""
EXCLUDES: Final = "org.lz4:lz4-java"
"""pyspark ships this jar itself."""

_FAILED: Final = re.compile(r"(?:unresolved dependency|download failed): ([^#\s]+)#([^;\s]+);([^:!,\]\s]+)")
_NO_ACCESS: Final = re.compile(r"Server access error at url \w+://([^/\s]+)\S* \((?:[\w.]+: )?(.*)\)")


def wanted(packages: str | None, kafka: bool) -> str:
    """What a new session asks for.

    Args:
        packages: what the user names; None for nothing said, "" for no packages at all.
        kafka: whether the Kafka source is needed.
    """
    if packages is None:
        return KAFKA if kafka else ""
    if kafka and packages and "spark-sql-kafka" not in packages:
        return f"{KAFKA},{packages}"
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
    return (
        f"the package {', '.join(found)} cannot be had: {why}; check its name and version in --packages, name"
        " another repository with --conf spark.jars.repositories=URL or --conf spark.jars.ivySettings=FILE, or put the"
        ' jars where Spark has its own and give --packages ""'
    )
