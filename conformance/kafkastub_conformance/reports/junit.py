"""The report for build servers: JUnit's XML, a suite an API."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from kafkastub_conformance.apis import Shown, apis
from kafkastub_conformance.model import Outcome, Result, Status
from kafkastub_conformance.reports import text

KINDS = {Status.FAILED: "failure", Status.ERROR: "error", Status.SKIPPED: "skipped"}

UNPLAYED = "APIs without a case"
"""The suite of those of the release that nothing is shown of, each one as a test that is skipped."""

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 does not take, escaped or not."""


@dataclass(frozen=True)
class TestCase:
    """What JUnit calls so. `kind` is "failure", "error" or "skipped", with a reason; empty where it passed."""

    name: str
    seconds: float
    kind: str = ""
    reason: str = ""
    details: str = ""


def report(outcome: Outcome) -> str:
    """The document."""
    suites: defaultdict[str, list[TestCase]] = defaultdict(list)
    for result in outcome.results:
        suites[result.run.case.api].append(_case(result))
    for api in apis(outcome):
        if api.shown in (Shown.NO_CASE, Shown.NOT_SERVED):
            suites[UNPLAYED].append(TestCase(api.name, 0.0, "skipped", text.TOLD[api.shown]))
    return document(f"conformance of {outcome.broker}, profile {outcome.profile}", outcome.began, suites)


def _case(result: Result) -> TestCase:
    kind = KINDS.get(result.status, "")
    return TestCase(result.run.id, result.seconds, kind, result.reason, "\n".join(text.failure(result)) if kind else "")


def document(name: str, began: str, suites: Mapping[str, Sequence[TestCase]]) -> str:
    """Suites of test cases. `began` is UTC, ISO 8601."""
    everything = [case for cases in suites.values() for case in cases]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites name={quoteattr(name)} {_counts(everything)}>"]
    for suite, cases in suites.items():
        lines.append(f'  <testsuite name={quoteattr(suite)} timestamp="{began[:19]}" {_counts(cases)}>')
        lines += [_element(f"kafkastub.conform.{suite}", case) for case in cases]
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>", ""])


def _counts(cases: Sequence[TestCase]) -> str:
    def number(kind: str) -> int:
        return sum(case.kind == kind for case in cases)

    seconds = sum(case.seconds for case in cases)
    return (
        f'tests="{len(cases)}" failures="{number("failure")}" errors="{number("error")}" '
        f'skipped="{number("skipped")}" time="{seconds:.3f}"'
    )


def _element(group: str, case: TestCase) -> str:
    head = f'    <testcase classname={quoteattr(group)} name={quoteattr(case.name)} time="{case.seconds:.3f}"'
    if not case.kind:
        return head + "/>"
    reason = quoteattr(_FORBIDDEN.sub("?", case.reason))
    if case.kind == "skipped":
        return f"{head}><skipped message={reason}/></testcase>"
    return f"{head}><{case.kind} message={reason}>{escape(_FORBIDDEN.sub('?', case.details))}</{case.kind}></testcase>"
