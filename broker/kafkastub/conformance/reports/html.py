"""The report for people: one page without anything from elsewhere, the matrix of cases and versions an API."""

from __future__ import annotations

from collections import defaultdict
from html import escape

from kafkastub.conformance.model import Case, Frame, Outcome, Result, Status
from kafkastub.conformance.registry import slug

_STYLE = """
:root { --ok: #2e7d4f; --bad: #b3261e; --error: #8a4b00; --quiet: #6b7280; --line: #d8dce2; --back: #fff;
  --ink: #1c2430; --okback: #e3f3e9; --badback: #fbe3e1; --errorback: #fdebd3; --quietback: #f1f3f5; }
@media (prefers-color-scheme: dark) { :root { --ok: #7fd6a1; --bad: #ff9a92; --error: #ffc07a; --quiet: #9aa4b2;
  --line: #39424f; --back: #161b22; --ink: #e6eaf0; --okback: #17352a; --badback: #47201d; --errorback: #43300f;
  --quietback: #222a34; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1.5rem; background: var(--back);
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
.failure h3 { font-size: 1rem; margin: 0; } code, pre { font: 12.5px/1.45 ui-monospace, monospace; }
pre { background: var(--quietback); padding: .5rem; border-radius: .4rem; white-space: pre-wrap;
  overflow-wrap: anywhere; }
nav { columns: 12rem; font-size: .9rem; } nav a { display: block; }
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
        f"<title>{title}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        f'<p class="told">profile {outcome.profile} · {escape(outcome.began)} · {outcome.seconds:.1f} s'
        f"{' · interrupted' if outcome.interrupted else ''}</p>",
        _summary(outcome),
        _contents(by_api),
        *(_matrix(api, results) for api, results in by_api.items()),
        _failures(outcome.bad),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _summary(outcome: Outcome) -> str:
    items = [
        f'<li class="{status.value}"><b>{outcome.count(status)}</b> {status.value}</li>'
        for status in Status
        if outcome.count(status)
    ]
    return f'<ul class="sum">{"".join(items)}</ul>'


def _contents(by_api: dict[str, list[Result]]) -> str:
    links = []
    for api, results in by_api.items():
        bad = sum(result.bad for result in results)
        told = f" – {bad} not passed" if bad else ""
        links.append(f'<a href="#{slug(api)}">{escape(api)}{told}</a>')
    return f'<nav aria-label="APIs">{"".join(links)}</nav>'


def _matrix(api: str, results: list[Result]) -> str:
    versions = sorted({result.run.version for result in results})
    rows: dict[Case, dict[int, Result]] = {}
    for result in results:
        rows.setdefault(result.run.case, {})[result.run.version] = result
    head = "".join(f'<th class="run" scope="col">v{version}</th>' for version in versions)
    lines = [
        f'<h2 id="{slug(api)}">{escape(api)}</h2><div class="wide"><table>',
        f'<thead><tr><th scope="col">case</th>{head}</tr></thead><tbody>',
    ]
    for case, runs in rows.items():
        cells = "".join(f'<td class="run">{_cell(runs.get(version))}</td>' for version in versions)
        lines.append(f"<tr><td>{_told(case)}</td>{cells}</tr>")
    return "\n".join([*lines, "</tbody></table></div>"])


def _told(case: Case) -> str:
    marks = f'<span class="mark">{case.profile}</span>' if case.profile != "both" else ""
    marks += '<span class="mark">slow</span>' if case.slow else ""
    hint = escape(f"{case.id}: {case.source}", quote=True)
    return f'<span title="{hint}">{escape(case.shows)}</span>{marks}'


def _cell(result: Result | None) -> str:
    if result is None:
        return ""
    hint = escape(f"{result.run.id}: {result.reason or result.status.value}", quote=True)
    sign, kind = _SIGNS[result.status], result.status.value
    if result.bad:
        return f'<a class="{kind}" href="#{slug(result.run.id)}" title="{hint}">{sign}</a>'
    return f'<span class="{kind}" title="{hint}">{sign}</span>'


def _failures(bad: list[Result]) -> str:
    if not bad:
        return ""
    return "<h2>What did not pass</h2>" + "\n".join(map(_failure, bad))


def _failure(result: Result) -> str:
    case = result.run.case
    lines = [
        f'<section class="failure" id="{slug(result.run.id)}"><h3>{escape(result.run.id)}</h3>',
        f'<p>{escape(case.shows)} <span class="source">{escape(case.source)}</span></p>',
    ]
    if result.differences:
        rows = "".join(
            f"<tr><td><code>{escape(one.path)}</code></td><td><code>{escape(one.expected)}</code></td>"
            f"<td><code>{escape(one.got)}</code></td></tr>"
            for one in result.differences
        )
        lines.append(f"<table><thead><tr><th>field</th><th>expected</th><th>got</th></tr></thead>{rows}</table>")
    else:
        lines.append(f"<p>{escape(result.reason)}</p>")
    if result.frames:
        frames = "\n".join(map(_frame, result.frames))
        lines.append(f"<details><summary>{len(result.frames)} frames</summary><pre>{frames}</pre></details>")
    return "\n".join([*lines, "</section>"])


def _frame(frame: Frame) -> str:
    answer = frame.answer.hex() if frame.answer is not None else "closed" if frame.closed else "none"
    return f"{escape(frame.api)} v{frame.version}\n  request {frame.request.hex()}\n  answer  {answer}"
