"""What long work shows of itself."""

from __future__ import annotations

import io
import logging
from typing import TYPE_CHECKING

import pytest

from kafkastub_pipeline import progress
from kafkastub_pipeline.progress import Progress, line, span
from tests.waiting import until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_line() -> None:
    assert line("writing lag", 4, 2.4, 0, 0) == "step 5, writing lag: 2 s"
    assert line("writing lag", 4, 2.4, 10, 40) == "step 5, writing lag: 2 s, 10 of 40 tasks"
    assert line("writing lag", 4, 10, 10, 40) == "step 5, writing lag: 10 s, 10 of 40 tasks, about 30 s left"


def test_a_span() -> None:
    assert (span(89), span(240), span(5400)) == ("89 s", "4 min", "1.5 h")


def test_a_terminal_has_a_line_and_a_log_has_one_a_step(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, spark: SparkSession
) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.01)
    shown = io.StringIO()
    caplog.set_level(logging.INFO, "kafkastub_pipeline")
    found = Progress(spark, shown)
    with found.running(), found.step("writing lag"):
        assert spark.sparkContext.getLocalProperty("spark.job.description") == "writing lag"
        until(lambda: "step 1, writing lag: 0 s" in shown.getvalue(), "the line")
    assert shown.getvalue().endswith("\r")
    assert spark.sparkContext.getLocalProperty("spark.job.description") is None
    (told,) = [record.getMessage() for record in caplog.records if record.name == "kafkastub_pipeline"]
    assert told.startswith("writing lag: done in 0.")


def test_nobody_looks_on(capsys: pytest.CaptureFixture[str], spark: SparkSession) -> None:
    assert progress.terminal() is None
    found = Progress(spark)
    with found.running(), found.step("writing lag"):
        pass
    assert capsys.readouterr().err == ""
