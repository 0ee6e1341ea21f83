"""Before a cluster is given work: whether it is there, gives workers, and these can do it.

What a cluster of Spark cannot do it says late, and from within a stack: a master that is not there after a minute, a
Python without pyarrow when the log is being read, a directory that only the driver sees when everything is done. Here
each of these is one sentence, before anything is read.
"""

from __future__ import annotations

import re
import socket
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kafkastub_pipeline.errors import PipelineError, sentence
from kafkastub_pipeline.java import executors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATIENCE: Final = 120.0
"""Seconds in which a cluster has to give a worker, by default."""
MODULES: Final = ("numpy", "pyarrow")
"""What a worker's Python has to have. Our own code and PySpark's are sent to it."""
_CONNECT_SECONDS: Final = 5.0
_STANDALONE: Final = re.compile(r"spark://([^/]+)")
_TASKS: Final = 64
"""So many workers are looked at, at most."""


class Look(NamedTuple):
    """What a worker has found of itself."""

    host: str
    missing: tuple[str, ...]
    unseen: tuple[str, ...]


def check_master(master: str | None) -> None:
    """Whether a master of Spark's own clusters listens; Spark finds out after a minute. Raises PipelineError."""
    match = _STANDALONE.fullmatch(master or "")
    if match is None:
        return
    met = ""
    for place in match[1].split(","):
        host, colon, port = place.rpartition(":")
        if not colon or not port.isdigit():
            raise PipelineError(f"--master {master} is not spark://HOST:PORT[,HOST:PORT…]")
        try:
            socket.create_connection((host, int(port)), _CONNECT_SECONDS).close()
            return
        except (OSError, OverflowError) as error:
            met = str(getattr(error, "strerror", None) or error)
    raise PipelineError(f"no Spark master answers at {master}: {met}; check --master, and whether the cluster runs")


def check_workers(spark: SparkSession, shared: Sequence[tuple[str, Path]] = (), patience: float = PATIENCE) -> None:
    """Ask the workers of a cluster. Raises PipelineError.

    Args:
        shared: options and directories on this machine's own disks that workers have to see, too.
        patience: seconds in which there has to be a worker.
    """
    marks = [(option, path, _marked(path)) for option, path in shared]
    try:
        found = _asked(spark, [str(mark) for _, _, mark in marks], patience)
    finally:
        for _, _, mark in marks:
            if mark.is_file():
                mark.unlink()
    for look in found:
        if look.missing:
            are = "is" if len(look.missing) == 1 else "are"
            raise PipelineError(
                f"the worker on {look.host} cannot decode records: {', '.join(look.missing)} {are} missing in its"
                " Python; install them there, or send a whole Python with --conf spark.archives=ENV.tar.gz#env"
                " --conf spark.pyspark.python=./env/bin/python"
            )
        for option, path, mark in marks:
            if str(mark) in look.unseen:
                raise PipelineError(
                    f"{option} {path} is on this machine's own disk, and the worker on {look.host} does not see it:"
                    " name a directory that all machines share, such as hdfs://… or s3a://…"
                )


def is_local(spark: SparkSession) -> bool:
    """Whether this machine does all the work, in processes that see what this one sees."""
    return bool(re.fullmatch(r"local(\[.*\])?", str(spark.sparkContext.master)))


def _marked(directory: Path) -> Path:
    """A small file in a directory, or in the nearest above it that is there."""
    while not directory.is_dir() and directory != directory.parent:
        directory = directory.parent
    mark = directory / f"_kafkastub-pipeline-{uuid.uuid4()}"
    try:
        mark.touch()
    except OSError:  # what is only read: that it is there must do
        return directory
    return mark


def _asked(spark: SparkSession, marks: list[str], patience: float) -> list[Look]:
    context = spark.sparkContext
    tasks = max(2, min(_TASKS, context.defaultParallelism))
    found: list[Look] = []
    failed: list[BaseException] = []

    def ask() -> None:
        try:
            looks = context.parallelize(range(tasks), tasks).mapPartitions(_Looking(tuple(marks), MODULES))
            found.extend(Look(*one) for one in looks.collect())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=ask, name="asking workers", daemon=True)
    thread.start()
    deadline = time.monotonic() + patience
    while thread.is_alive():
        thread.join(0.2)
        if thread.is_alive() and time.monotonic() > deadline and executors(spark) == 0:
            context.cancelAllJobs()
            raise PipelineError(_no_worker(spark, patience))
    if failed:
        raise PipelineError(_cannot(spark, sentence(failed[0]))) from failed[0]
    return found


def _no_worker(spark: SparkSession, patience: float) -> str:
    conf = spark.sparkContext.getConf()
    return (
        f"{spark.sparkContext.master} has given no worker in {patience:g} s: they are gone, taken by others, or smaller"
        f" than spark.executor.memory={conf.get('spark.executor.memory', '1g')} asks for; ask for less with --conf, or"
        " wait longer with --wait-for-workers SECONDS"
    )


def _cannot(spark: SparkSession, why: str) -> str:
    context: Any = spark.sparkContext
    return (
        f"workers of {context.master} cannot run {context.pythonExec}: {why}; name one that they have, of this version,"
        " with --conf spark.pyspark.python=PATH, or send it with --conf spark.archives=ENV.tar.gz#env"
    )


class _Looking:
    """Runs in a worker."""

    def __init__(self, marks: tuple[str, ...], modules: tuple[str, ...]) -> None:
        self._marks = marks
        self._modules = modules

    def __call__(self, _: Iterable[Any]) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
        missing = tuple(name for name in self._modules if find_spec(name) is None)
        unseen = tuple(mark for mark in self._marks if not Path(mark).exists())
        yield socket.gethostname(), missing, unseen
