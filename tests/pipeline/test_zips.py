"""Workers look through the zips on their path once, not before every task."""

from __future__ import annotations

import importlib
import sys
import zipfile
import zipimport
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _looked_through(_: Iterator[int]) -> Iterator[list[str]]:
    """Runs in a worker: the zips that are looked through when Python forgets its modules."""
    found: list[str] = []
    read = zipimport._read_directory  # type: ignore[attr-defined]
    zipimport._read_directory = lambda archive: found.append(archive) or read(archive)  # type: ignore[attr-defined]
    try:
        importlib.invalidate_caches()
        importlib.invalidate_caches()
    finally:
        zipimport._read_directory = read  # type: ignore[attr-defined]
    yield found


def _ours(rows: Iterator[int]) -> Iterator[list[str]]:
    import kafkastub_pipeline.decode  # noqa: F401

    importlib.invalidate_caches()
    yield from _looked_through(rows)


def test_a_worker_that_has_our_code_does_not(spark: SparkSession) -> None:
    count = spark.sparkContext.defaultParallelism
    tasks = spark.sparkContext.parallelize(range(count), count)
    assert tasks.mapPartitions(_ours).collect() == [[]] * count


def test_a_zip_that_has_changed_is_looked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kafkastub_pipeline import zips

    path = tmp_path / "sent.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("sent_first.py", "VALUE = 1")
    monkeypatch.setattr(zipimport.zipimporter, "invalidate_caches", zipimport.zipimporter.invalidate_caches)
    if sys.version_info < (3, 12):  # from then on Python does it itself
        zips.patch()
        zips.patch()
    monkeypatch.syspath_prepend(str(path))
    assert importlib.import_module("sent_first").VALUE == 1
    importlib.invalidate_caches()
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("sent_second.py", "VALUE = 2")
        archive.writestr("sent_third.py", "VALUE = 3")
    importlib.invalidate_caches()
    assert importlib.import_module("sent_second").VALUE == 2
    away = path.rename(tmp_path / "away.zip")
    importlib.invalidate_caches()
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("sent_third")
    away.rename(path)  # as a shared disk that was gone for a moment
    importlib.invalidate_caches()
    assert importlib.import_module("sent_third").VALUE == 3
