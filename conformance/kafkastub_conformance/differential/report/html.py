"""The report for people: one page, the scenarios that differ with their frames and tests."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from kafkastub_conformance.differential.compare import Difference, value_text
from kafkastub_conformance.differential.report import text
from kafkastub_conformance.differential.running import Comparison, Result, Status
from kafkastub_conformance.differential.testcase import python_test
from kafkastub_conformance.registry import slug
from kafkastub_conformance.reports.page import counts, differences, exchange, page

CLASSES = {Status.SAME: "passed", Status.DIFFERENT: "failed", Status.UNSTEADY: "skipped", Status.ERROR: "error"}


def report(done: Comparison) -> str:
    """The page."""
    told = [done.began, f"{done.answers} answers and states compared", f"{done.seconds:.1f} s"]
    told += ["interrupted"] * done.interrupted
    parts = [counts((CLASSES[status], status.value, done.count(status)) for status in Status)]
    if done.one_sided:
        parts.append(f"<p>Not asked, as only one of the brokers has it: {escape(', '.join(done.one_sided))}.</p>")
    parts += [_entry(results, done) for results in text.entries(done.results)]
    return page(f"{done.tested} against {done.reference}", " · ".join(told), [*parts, _all(done)])


def _entry(results: list[Result], done: Comparison) -> str:
    result = results[0]
    lines = [f'<section class="failure" id="{slug(result.name)}"><h3>{escape(text.title(results))}</h3>']
    if result.reason:
        lines.append(f"<p>{escape(result.reason)}</p>")
    if result.difference is not None:
        lines += _difference(result, result.difference, done)
    return "\n".join([*lines, "</section>"])


def _difference(result: Result, difference: Difference, done: Comparison) -> Iterator[str]:
    yield "<ol>"
    for step in difference.scenario.steps[: difference.index + 1]:
        yield f"<li>{escape(step.title())}</li>"
    yield "</ol>"
    yield differences(
        (one.path, value_text(one.expected, one.path), value_text(one.got, one.path)) for one in difference.fields
    )
    for told, frames in (("expected", difference.step.frames), ("got", difference.frames)):
        if frames:
            yield exchange(f"frames, {told}", frames)
    test = python_test(difference, done.tested, done.reference, done.replay_command(result))
    yield f"<details><summary>as a test</summary><pre>{escape(test)}</pre></details>"


def _all(done: Comparison) -> str:
    rows = "".join(
        f'<tr><td>{escape(result.name)}</td><td class="{CLASSES[result.status]}">{result.status.value}</td>'
        f"<td>{result.steps}</td><td>{result.answers}</td><td>{result.seconds:.2f} s</td></tr>"
        for result in done.results
    )
    head = "<tr><th>scenario</th><th>result</th><th>steps</th><th>answers and states</th><th>time</th></tr>"
    return f"<h2>All scenarios</h2><table><thead>{head}</thead><tbody>{rows}</tbody></table>"
