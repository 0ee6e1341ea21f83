"""What came of a run, as a file: JSON, JUnit XML or a page."""

from __future__ import annotations

from pathlib import Path

from kafkastub_conformance.model import Outcome

FORMS = (".html", ".json", ".xml")


def write(path: Path, outcome: Outcome) -> None:
    """Write a report in the form that the file's name ends with. Raises ValueError for another, OSError."""
    path.write_text(rendered(path.suffix, outcome), encoding="utf-8")


def rendered(form: str, outcome: Outcome) -> str:
    """A report as text."""
    from kafkastub_conformance.reports import as_json, html, junit

    if form == ".json":
        return as_json.report(outcome)
    if form == ".xml":
        return junit.report(outcome)
    if form == ".html":
        return html.report(outcome)
    raise ValueError(f"{form or 'no ending'} is not a form of a report: the file name must end with {', '.join(FORMS)}")
