"""The report for people: one page without anything from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from kafkastub.conformance.differential.compare import Difference, shown
from kafkastub.conformance.differential.running import Comparison, Result, Status
from kafkastub.conformance.differential.testcase import python_test
from kafkastub.conformance.model import Frame
from kafkastub.conformance.registry import slug
from kafkastub.conformance.reports.html import STYLE

CLASSES = {Status.SAME: "passed", Status.DIFFERENT: "failed", Status.UNSTEADY: "skipped", Status.ERROR: "error"}


def report(done: Comparison) -> str:
    """The page."""
    title = f"{escape(done.tested)} against {escape(done.reference)}"
    told = f"{escape(done.began)} · {done.answers} answers and states compared · {done.seconds:.1f} s"
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title><style>{STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        f'<p class="told">{told}{" · interrupted" if done.interrupted else ""}</p>',
        _summary(done),
    ]
    if done.one_sided:
        parts.append(f"<p>Not asked, as only one of the brokers has it: {escape(', '.join(done.one_sided))}.</p>")
    parts += [_scenario(result, done) for result in done.results if result.status is not Status.SAME]
    return "\n".join([*parts, _all(done), "</body></html>"]) + "\n"


def _summary(done: Comparison) -> str:
    items = (
        f'<li class="{CLASSES[status]}"><b>{done.count(status)}</b> {status.value}</li>'
        for status in Status
        if done.count(status)
    )
    return f'<ul class="sum">{"".join(items)}</ul>'


def _scenario(result: Result, done: Comparison) -> str:
    lines = [f'<section class="failure" id="{slug(result.name)}"><h3>{escape(result.name)}: {result.status.value}</h3>']
    if result.reason:
        lines.append(f"<p>{escape(result.reason)}</p>")
    if result.difference is not None:
        lines += _difference(result, result.difference, done)
    return "\n".join([*lines, "</section>"])


def _difference(result: Result, difference: Difference, done: Comparison) -> Iterator[str]:
    rows = "".join(
        f"<tr><td><code>{escape(one.path)}</code></td><td><code>{escape(shown(one.expected, one.path))}</code></td>"
        f"<td><code>{escape(shown(one.got, one.path))}</code></td></tr>"
        for one in difference.fields
    )
    yield "<ol>"
    for step in difference.scenario.steps[: difference.index + 1]:
        yield f"<li>{escape(step.title())}</li>"
    yield "</ol>"
    yield f"<table><thead><tr><th>field</th><th>expected</th><th>got</th></tr></thead>{rows}</table>"
    for told, frames in (("expected", difference.step.frames), ("got", difference.frames)):
        if frames:
            shown_frames = "\n".join(map(_frame, frames))
            yield f"<details><summary>frames, {told}</summary><pre>{shown_frames}</pre></details>"
    test = python_test(difference, done.tested, done.reference, done.again(result))
    yield f"<details><summary>as a test</summary><pre>{escape(test)}</pre></details>"


def _frame(frame: Frame) -> str:
    answer = frame.answer.hex() if frame.answer is not None else "closed" if frame.closed else "none"
    return f"{escape(frame.api)} v{frame.version}\n  request {frame.request.hex()}\n  answer  {answer}"


def _all(done: Comparison) -> str:
    rows = "".join(
        f'<tr><td>{escape(result.name)}</td><td class="{CLASSES[result.status]}">{result.status.value}</td>'
        f"<td>{result.steps}</td><td>{result.answers}</td><td>{result.seconds:.2f} s</td></tr>"
        for result in done.results
    )
    head = "<tr><th>scenario</th><th>result</th><th>steps</th><th>answers and states</th><th>time</th></tr>"
    return f"<h2>All scenarios</h2><table><thead>{head}</thead><tbody>{rows}</tbody></table>"
