"""The report for build servers: JUnit's XML, a test case a scenario."""

from __future__ import annotations

from kafkastub_conformance.differential.report import text
from kafkastub_conformance.differential.running import Comparison, Result, Status
from kafkastub_conformance.reports.junit import TestCase, document

KINDS = {Status.DIFFERENT: "failure", Status.ERROR: "error", Status.UNSTEADY: "skipped"}


def report(done: Comparison) -> str:
    """The document."""
    suites = {"differential": [_case(result) for result in done.results]}
    return document(f"{done.tested} against {done.reference}", done.began, suites)


def _case(result: Result) -> TestCase:
    if result.status is Status.SAME:
        return TestCase(result.name, result.seconds)
    reason = result.reason or (str(result.difference.fields[0]) if result.difference else result.status.value)
    return TestCase(result.name, result.seconds, KINDS[result.status], reason, "\n".join(text.entry([result])))
