"""Long work shows itself: a line that moves on a terminal, a line a step in a log.

Spark's own bar shows stages, which say nothing to who does not know the plan. Here a step is a table, or the reading of
the log; how far it is, Spark's tasks tell, and how long it will take is what is left of the tasks that are known by now
at the pace of those that are done.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TextIO

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("kafkastub_pipeline")

EVERY: Final = 0.5
"""Seconds between two looks."""
SURE_AFTER: Final = 3.0
"""Seconds of a step before its end is estimated."""


class Progress:
    """Of one run. Steps may overlap: what is shown is the one that was begun last."""

    def __init__(self, spark: SparkSession, terminal: TextIO | None = None) -> None:
        self._spark = spark
        self._terminal = terminal
        self._steps: dict[str, float] = {}
        self._done = 0
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._width = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """While this runs, the terminal has a line."""
        url = self._spark.sparkContext.uiWebUrl
        if url is not None:
            log.info("Spark shows its work at %s", url)
            self._say(f"Spark shows its work at {url}\n")
        if self._terminal is not None:
            self._thread = threading.Thread(target=self._watch, name="progress", daemon=True)
            self._thread.start()
        try:
            yield
        finally:
            self._ended.set()
            if self._thread is not None:
                self._thread.join()
            self._say("")

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """A step, named for a reader: `reading the log`. Spark's own page has its jobs under that name, too."""
        begun = time.monotonic()
        with self._lock:
            self._steps[name] = begun
        self._spark.sparkContext.setJobDescription(name)
        try:
            yield
        finally:
            self._spark.sparkContext.setLocalProperty("spark.job.description", None)  # type: ignore[arg-type]
            with self._lock:
                del self._steps[name]
                self._done += 1
        log.info("%s: done in %.1f s", name, time.monotonic() - begun)

    def _watch(self) -> None:
        while not self._ended.wait(EVERY):
            with self._lock:
                step = next(reversed(self._steps.items()), None)
                done = self._done
            if step is None:
                continue
            try:
                counted = tasks(self._spark)
            except Exception:  # Spark is going, and with it what there was to show
                return
            self._say(line(step[0], done, time.monotonic() - step[1], *counted))

    def _say(self, text: str) -> None:
        """In the place of what was said before, on one line."""
        if self._terminal is None:
            return
        if text.endswith("\n"):
            self._terminal.write(text)
        else:
            self._terminal.write("\r" + text.ljust(self._width) + ("" if text else "\r"))
            self._width = len(text)
        self._terminal.flush()


def line(step: str, steps_done: int, seconds: float, done: int, known: int) -> str:
    """What a terminal shows.

    Args:
        done, known: tasks of the stages that Spark works at.
    """
    text = f"step {steps_done + 1}, {step}: {seconds:.0f} s"
    if known:
        text += f", {done} of {known} tasks"
        if done and seconds >= SURE_AFTER:
            text += f", about {span(seconds / done * (known - done))} left"
    return text


def span(seconds: float) -> str:
    """A length of time as one says it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def tasks(spark: SparkSession) -> tuple[int, int]:
    """Tasks of the active stages: those that are done, and all."""
    tracker: Any = spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    found = [stage for stage in stages if stage is not None]
    return sum(stage.numCompletedTasks for stage in found), sum(stage.numTasks for stage in found)


def terminal() -> TextIO | None:
    """Standard error, where somebody looks on."""
    return sys.stderr if sys.stderr.isatty() else None
