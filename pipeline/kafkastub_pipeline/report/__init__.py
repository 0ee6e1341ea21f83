"""One HTML page of the tables of a run: plots, tables, and the commands to run. It needs nothing else to be shown."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from kafkastub_pipeline.errors import PipelineError, sentence
from kafkastub_pipeline.files import Files, advised, check_writable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "report.html"


def write_report(spark: SparkSession, tables: str | None, out: str, day: date | None = None) -> str:
    """Write the page; returns its path. Raises PipelineError where there are no tables or the page cannot be written.

    Args:
        tables: directory that `run` wrote to; None where `out` is that directory.
        out: the page, or a directory for `report.html`.
        day: of tables by days; None for the newest.
    """
    from kafkastub_pipeline.report import facts, page

    files = Files(spark)
    try:
        inside = tables is None or files.is_directory(out)
        target = f"{out.rstrip('/')}/{NAME}" if inside else out
        folder = files.parent(target)
    except Exception as error:  # Java's: no such file system, no such path
        why = advised(spark, out, sentence(error))
        raise PipelineError(f"--out {out} cannot be written: {why}; name another directory") from error
    check_writable(files, "--out", out, folder)
    html = page.rendered(facts.gathered(spark, (out if tables is None else tables).rstrip("/"), day))
    try:
        _write(files, target, html)
    except Exception as error:
        raise PipelineError(
            f"the page {target} cannot be written: {sentence(error)}; give --out another place"
        ) from error
    return target


def _write(files: Files, target: str, html: str) -> None:
    """Whole or not there. Hadoop would leave a checksum beside a local file."""
    local = files.local(target)
    if local is None:
        files.write(target, html)
        return
    half = local.with_name(f".{local.name}.incomplete")
    local.parent.mkdir(parents=True, exist_ok=True)
    half.write_text(html, encoding="utf-8")
    half.replace(local)
