"""The report for build servers: JUnit's XML, a suite an API."""

from __future__ import annotations

import re
from collections import defaultdict
from xml.sax.saxutils import escape, quoteattr

from kafkastub.conformance.model import Outcome, Result, Status
from kafkastub.conformance.reports import text

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 does not take, escaped or not."""


def report(outcome: Outcome) -> str:
    """The document."""
    suites: defaultdict[str, list[Result]] = defaultdict(list)
    for result in outcome.results:
        suites[result.run.case.api].append(result)
    name = quoteattr(f"conformance of {outcome.broker}, profile {outcome.profile}")
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites name={name} {_counts(outcome.results)}>"]
    for api, results in suites.items():
        lines.append(f'  <testsuite name={quoteattr(api)} timestamp="{outcome.began[:19]}" {_counts(results)}>')
        lines += [_case(result) for result in results]
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>", ""])


def _counts(results: list[Result]) -> str:
    def number(status: Status) -> int:
        return sum(result.status is status for result in results)

    seconds = sum(result.seconds for result in results)
    return (
        f'tests="{len(results)}" failures="{number(Status.FAILED)}" errors="{number(Status.ERROR)}" '
        f'skipped="{number(Status.SKIPPED)}" time="{seconds:.3f}"'
    )


def _case(result: Result) -> str:
    head = (
        f"    <testcase classname={quoteattr('kafkastub.conform.' + result.run.case.api)} "
        f'name={quoteattr(result.run.id)} time="{result.seconds:.3f}"'
    )
    if result.status is Status.PASSED:
        return head + "/>"
    reason = quoteattr(_FORBIDDEN.sub("?", result.reason))
    if result.status is Status.SKIPPED:
        return f"{head}><skipped message={reason}/></testcase>"
    kind = "failure" if result.status is Status.FAILED else "error"
    details = escape(_FORBIDDEN.sub("?", "\n".join(text.failure(result))))
    return f"{head}><{kind} message={reason}>{details}</{kind}></testcase>"
