"""How evenly Spark's tasks share the work of a stage, as its own metrics tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEWEST_TASKS = 4
"""In fewer a median says nothing."""
LEAST_SECONDS = 0.5
"""Of the slowest task: below it is Spark's own noise."""


@dataclass(frozen=True)
class Stage:
    """One stage: seconds of its tasks at work, CPU of Java's threads and waiting for Python included."""

    number: int
    name: str
    tasks: int
    median: float
    slowest: float

    @property
    def ratio(self) -> float:
        return self.slowest / max(self.median, 0.001)


def stages(spark: SparkSession, behind: int = -1) -> list[Stage]:
    """Those with numbers above `behind` that were run, the least even first."""
    context: Any = spark.sparkContext
    java, gateway = context._jsc.sc().statusStore(), context._gateway
    quantiles = gateway.new_array(gateway.jvm.double, 2)
    quantiles[0], quantiles[1] = 0.5, 1.0
    listed = java.stageList(None, False, False, gateway.new_array(gateway.jvm.double, 0), None)
    found = []
    for at in range(listed.size()):
        stage = listed.apply(at)
        if stage.stageId() <= behind or stage.numCompleteTasks() < FEWEST_TASKS:
            continue
        summary = java.taskSummary(stage.stageId(), stage.attemptId(), quantiles)
        if summary.isEmpty():
            continue
        times = summary.get().executorRunTime()
        told = stage.description()
        name = str(told.get() if told.isDefined() else stage.name())
        found.append(Stage(stage.stageId(), name, stage.numCompleteTasks(), times.apply(0) / 1e3, times.apply(1) / 1e3))
    return sorted(found, key=lambda one: -one.ratio)
