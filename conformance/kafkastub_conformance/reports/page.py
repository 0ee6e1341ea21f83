"""What the pages consist of, the suite's and those of comparisons: one file each, without anything from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from kafkastub_conformance.model import Frame
from kafkastub_conformance.reports.text import shortened

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


def page(title: str, told: str, parts: Iterable[str]) -> str:
    """The whole page. `title`, and `told` below it, are plain text, `parts` are HTML."""
    lines = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        f'<p class="told">{escape(told)}</p>',
        *parts,
        "</body></html>",
    ]
    return "\n".join(lines) + "\n"


def counts(numbers: Iterable[tuple[str, str, int]]) -> str:
    """How many there are of what: (class, word, number), without those of which there are none."""
    items = (f'<li class="{kind}"><b>{number}</b> {word}</li>' for kind, word, number in numbers if number)
    return f'<ul class="sum">{"".join(items)}</ul>'


def differences(rows: Iterable[tuple[str, str, str]]) -> str:
    """The fields that differ: (field, expected, got)."""
    cells = (f"<td><code>{'</code></td><td><code>'.join(map(escape, row))}</code></td>" for row in rows)
    head = "<tr><th>field</th><th>expected</th><th>got</th></tr>"
    return f"<table><thead>{head}</thead>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def exchange(told: str, frames: Sequence[Frame]) -> str:
    """Frames, behind a line that opens them."""
    lines = "\n".join(map(_frame, frames))
    return f"<details><summary>{told}</summary><pre>{lines}</pre></details>"


def _frame(frame: Frame) -> str:
    answer = _hex(frame.answer) if frame.answer is not None else "closed" if frame.closed else "none"
    return f"{escape(frame.api)} v{frame.version}\n  request {_hex(frame.request)}\n  answer  {answer}"


def _hex(data: bytes) -> str:
    return shortened(data, "; the JSON report has all")
