"""What `bench.scale` has found: as a table, and as its section of docs/performance.md with a plot."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bench import performance_page
from bench.plots import Plot, grid, short
from bench.results import machine

PICTURE: Final = performance_page.PICTURES / "scale.svg"

_COLUMNS: Final = (
    ("memory", "bytes each", "bytes_each"),
    ("filling", "us each", "fill_us"),
    ("start again", "us each", "restart_us"),
    ("a sweep", "ms", "sweep_ms"),
    ("one more client", "x the first", "one_more"),
)
"""What is told: its name, its unit, the attribute."""

_HEADING: Final = "Cost of connections, groups, partitions and offsets"
_TEXT: Final = """`make bench-scale` writes this section.

Each row is measured in a separate process. Times are processor time: for connections that of the broker alone,
otherwise that of the process that holds the broker and the client that fills it.

- *memory*: growth of the process, divided by the number of connections, groups, partitions or offsets. Partitions have
  no records.
- *filling*: from the first request to the last answer.
- *start again*: from the start of a stub on a data directory until it has loaded everything.
- *a sweep*: one search for expired offsets that finds none.
- *one more client*: the median request time of a client that connects last, divided by that of a client that is alone.

{table}

![Plots of these figures](pictures/scale.svg)

Measured on {day} with Python {python} on {system}, {processors} processors, load {load}.
"""


@dataclass
class Scale:
    """What so many things of a kind cost. Where something is not measured of a kind it is None."""

    kind: str
    count: int
    bytes_each: float
    """Memory of the process, with what the measuring client has of it."""
    fill_us: float
    """Processor time for each until all are there, client and broker together."""
    sweep_ms: float | None = None
    """One look after what is due, where nothing is."""
    restart_us: float | None = None
    """For each, until a stub on the data directory answers again, all loaded."""
    one_more: float | None = None
    """A request of one more client, by one of the first client of all: the median."""
    one_more_p99: float | None = None
    """The same of the 99th percentile."""


def table(found: Sequence[Scale]) -> str:
    """In Markdown."""
    head = ["", *(f"{name}, {unit}" for name, unit, _ in _COLUMNS)]
    rows = [head, ["---"] + ["---:"] * len(_COLUMNS)]
    for one in found:
        values = (getattr(one, attribute) for _, _, attribute in _COLUMNS)
        rows.append([f"{one.count:,} {one.kind}", *("" if value is None else short(value) for value in values)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def picture(found: Sequence[Scale]) -> str:
    """A row of plots for each kind."""
    rows = []
    for kind in dict.fromkeys(one.kind for one in found):
        of_kind = [one for one in found if one.kind == kind]
        counts = [one.count for one in of_kind]
        rows.append(
            [
                Plot(f"{kind}: {name}", unit, counts, [getattr(one, attribute) for one in of_kind])
                for name, unit, attribute in _COLUMNS
                if getattr(of_kind[0], attribute) is not None
            ]
        )
    return grid(rows)


def write(found: Sequence[Scale]) -> None:
    """The section and its picture."""
    told = machine()
    load = "unknown" if told["load"] is None else f"{told['load']:.1f}"
    day = datetime.datetime.now(datetime.UTC).date()
    performance_page.put(_HEADING, _TEXT.format(**{**told, "load": load}, table=table(found), day=day))
    PICTURE.write_text(picture(found), encoding="utf-8")
