"""What a failed test's page says first: what failed, and what of the stub may have made it fail, with links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from kafkastub.pytest_plugin.options import FOR_TESTS, QUICK_HEARTBEATS
from kafkastub.pytest_plugin.report.writing import anchor, cut, html_text

if TYPE_CHECKING:
    from kafkastub.stub.inventory import Inventory, Table

_FACTS: Final = ("ahead of the machine's clock", "expired meanwhile", "configured", "chaos")
"""Of all facts, those that are said at the top again."""
_PLUGINS: Final = frozenset(
    f"{name}={value}" for one in (FOR_TESTS, *QUICK_HEARTBEATS.values()) for name, value in one.items()
)
"""What the plugin itself configures."""
_MOST: Final = 10
"""Faults, and kinds of requests, that are named."""
_LONGEST: Final = 600
"""Bytes of a text."""


def summary(failed: Sequence[tuple[str, str]], stubs: Iterable[tuple[str, Inventory | None]]) -> str:
    """failed: phases with their errors. stubs: their names, and what they had, in the order of the page."""
    lines = [(f"{phase} failed", cut(error, _LONGEST)) for phase, error in failed]
    for number, (name, found) in enumerate(stubs):
        if found is not None:
            lines += [(f"{name[:100]}: {what}", text) for what, text in _of_stub(found, number)]
    return (
        "<h2>In short</h2>\n<dl>"
        + "".join(f"<dt>{html_text(what)}</dt><dd>{text}</dd>" for what, text in lines)
        + "</dl>\n"
    )


def _of_stub(found: Inventory, number: int) -> Iterator[tuple[str, str]]:
    tables = {one.name: one for one in found.tables}
    journal = tables.get("journal")
    if "faults" in tables:
        yield "faults", f"{_faults(tables['faults'], journal)} ({_link(number, tables['faults'])})"
    if journal is not None:
        moves = Counter(row[4] for row in journal.rows if row[3] == "the clock")
        if moves:
            times = ", ".join(f"{how} × {many}" for how, many in moves.items())
            yield "clock moved", f"{cut(times, _LONGEST)} ({_link(number, journal)})"
        errors = Counter(row[5] for row, mark in zip(journal.rows, journal.marks, strict=True) if mark == "error")
        if errors:
            most = ", ".join(f"{name} × {many}" for name, many in errors.most_common(_MOST))
            yield "answered with", f"{cut(most, _LONGEST)} ({_link(number, journal)})"
    for name, value in found.facts:
        if name == "configured":
            value = ", ".join(part for part in value.split(", ") if part not in _PLUGINS)
        if name in _FACTS and value:
            yield name, cut(value, 2 * _LONGEST)


def _faults(rules: Table, journal: Table | None) -> str:
    """`slow met 2 requests (Fetch v12 × 2)`; the requests as far as the journal shows them."""
    said = []
    for fault, _, hits, *_ in rules.rows[:_MOST]:
        met = Counter(row[3] for row in journal.rows if row[7] == fault) if journal is not None else Counter[str]()
        which = ", ".join(f"{request} × {many}" for request, many in met.most_common(_MOST))
        what = "1 request" if hits == "1" else f"{hits if hits != '0' else 'no'} requests"
        said.append(f"{fault} met {what}" + (f" ({which})" if which else ""))
    if len(rules.rows) > _MOST:
        said.append(f"and {len(rules.rows) - _MOST} more")
    return cut("; ".join(said), 3 * _LONGEST)


def _link(number: int, table: Table) -> str:
    return f'<a href="#{html_text(anchor(number, table.name))}">{html_text(table.name)}</a>'
