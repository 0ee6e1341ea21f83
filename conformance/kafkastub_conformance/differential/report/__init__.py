"""What came of a comparison, as a file: JSON, JUnit XML or a page; and in lines."""

from __future__ import annotations

from pathlib import Path

from kafkastub_conformance.differential.running import Comparison


def write(path: Path, done: Comparison) -> None:
    """Write a report in the form that the file's name ends with: .html, .json or .xml. Raises KeyError, OSError."""
    from kafkastub_conformance.differential.report import as_json, html, junit

    forms = {".json": as_json.report, ".xml": junit.report, ".html": html.report}
    path.write_text(forms[path.suffix](done), encoding="utf-8")
