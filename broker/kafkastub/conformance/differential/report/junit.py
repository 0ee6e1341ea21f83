"""The report for build servers: JUnit's XML, a test case a scenario."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from kafkastub.conformance.differential.report import text
from kafkastub.conformance.differential.running import Comparison, Result, Status

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 does not take, escaped or not."""


def report(done: Comparison) -> str:
    """The document."""
    name = quoteattr(f"{done.tested} against {done.reference}")
    counts = (
        f'tests="{len(done.results)}" failures="{done.count(Status.DIFFERENT)}" errors="{done.count(Status.ERROR)}" '
        f'skipped="{done.count(Status.UNSTEADY)}" time="{done.seconds:.3f}"'
    )
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites name={name} {counts}>"]
    lines.append(f'  <testsuite name="differential" timestamp="{done.began[:19]}" {counts}>')
    lines += map(_case, done.results)
    return "\n".join([*lines, "  </testsuite>", "</testsuites>", ""])


def _case(result: Result) -> str:
    name = quoteattr(result.name)
    head = f'    <testcase classname="kafkastub.conform.differential" name={name} time="{result.seconds:.3f}"'
    if result.status is Status.SAME:
        return head + "/>"
    told = result.reason or (str(result.difference.fields[0]) if result.difference else result.status.value)
    reason = quoteattr(_FORBIDDEN.sub("?", told))
    if result.status is Status.UNSTEADY:
        return f"{head}><skipped message={reason}/></testcase>"
    kind = "failure" if result.status is Status.DIFFERENT else "error"
    details = escape(_FORBIDDEN.sub("?", "\n".join(text.result(result))))
    return f"{head}><{kind} message={reason}>{details}</{kind}></testcase>"
