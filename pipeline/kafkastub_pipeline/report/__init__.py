"""One HTML page of the tables of a run: plots, tables, and the commands to run. It needs nothing else to be shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kafkastub_pipeline.errors import PipelineError, sentence

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "report.html"


def write_report(spark: SparkSession, tables: str | None, out: str) -> str:
    """Write the page; returns its path. Raises PipelineError where there are no tables or the page cannot be written.

    Args:
        tables: directory that `run` wrote to; None where `out` is that directory.
        out: the page, or a directory for `report.html`.
    """
    from kafkastub_pipeline.report.facts import gathered
    from kafkastub_pipeline.report.page import rendered

    source = (out if tables is None else tables).rstrip("/")
    target = Path(out)
    if tables is None or target.is_dir():
        target = target / NAME
    page = rendered(gathered(spark, source))
    half = target.with_name(f".{target.name}.incomplete")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        half.write_text(page, encoding="utf-8")
        half.replace(target)
    except OSError as error:
        raise PipelineError(
            f"the page {target} cannot be written: {sentence(error)}; give --out another place"
        ) from error
    return str(target)
