"""The report for people: one page without anything from elsewhere, the matrix of cases and versions an API."""

from __future__ import annotations

from collections import defaultdict
from html import escape

from kafkastub.conformance.model import Case, Frame, Outcome, Result, Status
from kafkastub.conformance.registry import slug
from kafkastub.conformance.reports.text import LONGEST_FRAME

STYLE = """
:root { --ok: #2e7d4f; --bad: #b3261e; --error: #8a4b00; --quiet: #6b7280; --line: #d8dce2; --back: #fff;
  --ink: #1c2430; --okback: #e3f3e9; --badback: #fbe3e1; --errorback: #fdebd3; --quietback: #f1f3f5; }
@media (prefers-color-scheme: dark) { :root { --ok: #7fd6a1; --bad: #ff9a92; --error: #ffc07a; --quiet: #9aa4b2;
  --line: #39424f; --back: #161b22; --ink: #e6eaf0; --okback: #17352a; --badback: #47201d; --errorback: #43300f;
  --quietback: #222a34; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 80rem; padding: 1.5rem; background: var(--back);
  color: var(--ink); }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .4rem; } a { color: inherit; }
.told, caption, .source { color: var(--quiet); }
.sum { display: flex; gap: .6rem; flex-wrap: wrap; margin: 1rem 0; padding: 0; list-style: none; }
.sum li { border: 1px solid var(--line); border-radius: .5rem; padding: .35rem .8rem; }
.sum b { font-size: 1.2rem; margin-right: .3rem; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .25rem .45rem; border-bottom: 1px solid var(--line); }
th { text-align: left; font-weight: 600; } td.run, th.run { text-align: center; width: 2.4rem; padding: .1rem; }
td.run > * { display: block; border-radius: .3rem; text-decoration: none; font-size: .85rem; padding: .1rem 0; }
.passed { background: var(--okback); color: var(--ok); } .failed { background: var(--badback); color: var(--bad); }
.error { background: var(--errorback); color: var(--error); } .skipped { background: var(--quietback);
  color: var(--quiet); }
.mark { border: 1px solid var(--line); border-radius: .3rem; font-size: .75rem; padding: 0 .3rem; margin-left: .4rem; }
.wide { overflow-x: auto; } .failure { border-left: 4px solid var(--bad); padding: .1rem 0 .1rem .9rem;
  margin: 1.2rem 0; }
td code { overflow-wrap: anywhere; }
.failure h3 { font-size: 1rem; margin: 0; } .failure p { margin: .2rem 0; }
.failure table { table-layout: fixed; margin-top: .3rem; } .failure summary { margin-top: .3rem; }
code, pre { font: 12.5px/1.45 ui-monospace, monospace; }
pre { background: var(--quietback); padding: .5rem; border-radius: .4rem; white-space: pre-wrap;
  overflow-wrap: anywhere; }
.over { width: auto; font-size: .85rem; margin-top: .8rem; }
.over td { padding: .1rem; text-align: center; white-space: nowrap; }
.over th { padding: .1rem .6rem .1rem 0; font-weight: 500; }
.over thead th { text-align: center; padding: .1rem; min-width: 1.9rem; }
.over td > * { display: block; min-width: 1.9rem; border-radius: .3rem; padding: 0 .2rem; }
.over .all { color: var(--quiet); padding-right: .8rem; text-align: right; }
.id { display: none; font: 11.5px/1.4 ui-monospace, monospace; color: var(--quiet); }
.told label { margin-right: 1.2rem; } #ids:checked ~ main .id { display: block; }
#bad:checked ~ main tr.fine, #bad:checked ~ main section.fine { display: none; }
input { margin: 0 .4rem 0 0; vertical-align: -.1em; } .versions { color: var(--quiet); font-weight: 400; }
@media print { body { max-width: none; } tr, .failure { break-inside: avoid; } }
"""

_SIGNS = {Status.PASSED: "✓", Status.FAILED: "✗", Status.ERROR: "!", Status.SKIPPED: "–"}


def report(outcome: Outcome) -> str:
    """The page."""
    by_api: defaultdict[str, list[Result]] = defaultdict(list)
    for result in outcome.results:
        by_api[result.run.case.api].append(result)
    title = f"Conformance of {escape(outcome.broker)}"
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title><style>{STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        f'<p class="told">{_circumstances(outcome)}</p>',
        *(f"<p>{escape(note)}</p>" for note in outcome.notes),
        _summary(outcome),
        '<input type="checkbox" id="bad"><label for="bad">only what did not pass</label> &ensp;',
        '<input type="checkbox" id="ids"><label for="ids">ids and sources</label>',
        "<main>",
        _overview(by_api),
        *(_matrix(api, results) for api, results in by_api.items()),
        _failures(outcome.bad),
        _skipped(outcome.results),
        "</main></body></html>",
    ]
    return "\n".join(parts) + "\n"


def _circumstances(outcome: Outcome) -> str:
    began = outcome.began.replace("T", " ").replace("+00:00", " UTC")
    told = [f"profile {outcome.profile}", began, f"{outcome.seconds:.1f} s"]
    if outcome.release:
        told.insert(1, f"measured by Apache Kafka {outcome.release}")
    return escape(" · ".join(told + ["interrupted"] * outcome.interrupted))


def _summary(outcome: Outcome) -> str:
    items = [
        f'<li class="{status.value}"><b>{outcome.count(status)}</b> {status.value}</li>'
        for status in Status
        if outcome.count(status)
    ]
    return f'<ul class="sum">{"".join(items)}</ul>'


def _overview(by_api: dict[str, list[Result]]) -> str:
    """A row an API, a column a version: how many runs passed, of how many where not all did."""
    last = max((result.run.version for results in by_api.values() for result in results), default=-1)
    head = "".join(f'<th scope="col">v{version}</th>' for version in range(last + 1))
    rows = []
    for api, results in by_api.items():
        cells = [[one for one in results if one.run.version == version] for version in range(last + 1)]
        fine = "" if any(result.bad for result in results) else ' class="fine"'
        rows.append(
            f'<tr{fine}><th scope="row"><a href="#{slug(api)}">{escape(api)}</a></th>'
            f'<td class="all">{_told_count(results)}</td>'
            f"{''.join(f'<td>{_count(cell)}</td>' for cell in cells)}</tr>"
        )
    return (
        '<div class="wide"><table class="over"><thead><tr><th></th><th class="all">all</th>'
        f"{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _count(results: list[Result]) -> str:
    if not results:
        return ""
    statuses = {result.status for result in results}
    worst = next(
        status for status in (Status.FAILED, Status.ERROR, Status.PASSED, Status.SKIPPED) if status in statuses
    )
    return f'<span class="{worst.value}">{_told_count(results)}</span>'


def _told_count(results: list[Result]) -> str:
    played = [result for result in results if result.status is not Status.SKIPPED]
    passed = sum(not result.bad for result in played)
    return ("–" if not played else str(passed)) if passed == len(played) else f"{passed}/{len(played)}"


def _matrix(api: str, results: list[Result]) -> str:
    versions = sorted({result.run.version for result in results})
    rows: dict[Case, dict[int, Result]] = {}
    for result in results:
        rows.setdefault(result.run.case, {})[result.run.version] = result
    head = "".join(f'<th class="run" scope="col">v{version}</th>' for version in versions)
    fine = "" if any(result.bad for result in results) else ' class="fine"'
    lines = [
        f'<section{fine}><h2 id="{slug(api)}">{escape(api)}</h2><div class="wide"><table>',
        f'<thead><tr><th scope="col">case</th>{head}</tr></thead><tbody>',
    ]
    for case, runs in rows.items():
        cells = "".join(f'<td class="run">{_cell(runs.get(version))}</td>' for version in versions)
        row = "<tr>" if any(result.bad for result in runs.values()) else '<tr class="fine">'
        lines.append(f"{row}<td>{_told(case)}</td>{cells}</tr>")
    return "\n".join([*lines, "</tbody></table></div></section>"])


def _told(case: Case) -> str:
    marks = f'<span class="mark">{case.profile}</span>' if case.profile != "both" else ""
    marks += '<span class="mark">slow</span>' if case.slow else ""
    marks += '<span class="mark">clock</span>' if case.clock else ""
    marks += f'<span class="mark">since {escape(case.since)}</span>' if case.since else ""
    hint = f"{escape(case.id)} · {escape(case.source)}"
    return f'<span title="{hint}">{escape(case.shows)}</span>{marks}<span class="id">{hint}</span>'


def _cell(result: Result | None) -> str:
    if result is None:
        return ""
    hint = escape(f"{result.run.id}: {result.reason or result.status.value}", quote=True)
    sign, kind = _SIGNS[result.status], result.status.value
    if result.bad:
        return f'<a class="{kind}" href="#{slug(result.run.id)}" title="{hint}">{sign}</a>'
    return f'<span class="{kind}" title="{hint}">{sign}</span>'


def _failures(bad: list[Result]) -> str:
    """Case by case; versions that differ in the same way are told together."""
    if not bad:
        return ""
    by_case: defaultdict[Case, list[Result]] = defaultdict(list)
    for result in bad:
        by_case[result.run.case].append(result)
    return "<h2>What did not pass</h2>" + "\n".join(_failure(case, results) for case, results in by_case.items())


def _failure(case: Case, results: list[Result]) -> str:
    lines = [
        f'<section class="failure"><h3>{escape(case.id)}</h3>',
        f'<p>{escape(case.shows)} <span class="source">{escape(case.source)}</span></p>',
    ]
    alike: defaultdict[tuple[str, ...], list[Result]] = defaultdict(list)
    for result in results:
        alike[tuple(one.path for one in result.differences) or (result.reason,)].append(result)
    for group in alike.values():
        lines += _alike(group)
    return "\n".join([*lines, "</section>"])


def _alike(results: list[Result]) -> list[str]:
    """Runs of a case that differ in the same fields: the first of them, told in full."""
    first = results[0]
    places = ", ".join(f'<span id="{slug(result.run.id)}">v{result.run.version}</span>' for result in results)
    lines = [f'<p class="versions">{places}</p>']
    if first.differences:
        rows = "".join(
            f"<tr><td><code>{escape(one.path)}</code></td><td><code>{escape(one.expected)}</code></td>"
            f"<td><code>{escape(one.got)}</code></td></tr>"
            for one in first.differences
        )
        lines.append(f"<table><thead><tr><th>field</th><th>expected</th><th>got</th></tr></thead>{rows}</table>")
    else:
        lines.append(f"<p>{escape(first.reason)}</p>")
    if first.frames:
        frames = "\n".join(map(_frame, first.frames))
        count = len(first.frames)
        told = f"{count} frame{'s' if count > 1 else ''} of v{first.run.version}"
        lines.append(f"<details><summary>{told}</summary><pre>{frames}</pre></details>")
    return lines


def _skipped(results: list[Result]) -> str:
    """What was not played, by reason."""
    reasons: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for result in results:
        if result.status is Status.SKIPPED:
            reasons[result.reason][result.run.case.id] = None
    rows = [
        f"<tr><td>{escape(reason)}</td><td><code>{escape(', '.join(names))}</code></td></tr>"
        for reason, names in reasons.items()
    ]
    if not rows:
        return ""
    return f'<section class="fine"><h2>What was skipped</h2><table>{"".join(rows)}</table></section>'


def _frame(frame: Frame) -> str:
    answer = _hex(frame.answer) if frame.answer is not None else "closed" if frame.closed else "none"
    return f"{escape(frame.api)} v{frame.version}\n  request {_hex(frame.request)}\n  answer  {answer}"


def _hex(data: bytes) -> str:
    text = data.hex()
    return (
        text if len(text) <= LONGEST_FRAME else f"{text[:LONGEST_FRAME]}… ({len(data)} bytes; the JSON report has all)"
    )
