"""What a soak has found: as JSON, as text, and as its section of docs/performance.md with a plot."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from bench import performance_page
from bench.plots import Plot, grid, short
from bench.results import machine

from tests.soak.series import SERIES, each_minute
from tests.soak.soak import Soak
from tests.soak.troubling import NODES

PICTURE: Final = performance_page.PICTURES / "soak.svg"
HEADING: Final = "An hour with all kinds of clients"
_COLUMNS: Final = 4
_PLOTTED: Final = ("memory_mb", "objects", "descriptors", "timers", "p50_ms", "p99_ms", "offsets", "connections")

_TEXT: Final = """`make soak-hour MINUTES={minutes}` runs one `kafkastub serve` with {nodes} nodes and a check of
the guarantees. Clients write, read and commit all the time. A client that fails is made again, as a supervisor does.

{who}

The table shows what happened to the broker. Each client received every record that the broker had acknowledged.

{what}

- *First*, *second* and *last sixth*: the median in that part of the time. Caches, the journal and histories fill in the
  first sixth.
- *Limit*: the largest value of the last sixth, computed from the second one. `make soak-hour` fails above it.
- *Median request*, *99th percentile*: ApiVersions on a separate connection, every 50 ms. Time in which the client or
  the broker waited for a processor does not count.

{table}

![Plots of these figures](pictures/soak.svg)

Measured on {day} with Python {python} on {system}, {processors} processors, load {load}. The broker used {share} of a
processor.
"""


def save(found: Soak, file: Path) -> None:
    """All of it, with the machine and the day."""
    series = [{**asdict(one), "limit": one.limit} for one in found.series]
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    more = {"series": series, "at_the_end": found.at_the_end, "machine": machine(), "day": day}
    file.write_text(json.dumps({**asdict(found), **more}) + "\n")


def read(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def table(found: dict[str, Any]) -> str:
    """In Markdown."""
    rows = [["", "first sixth", "second sixth", "last sixth", "limit"], ["---", *["---:"] * 4]]
    for one in found["series"]:
        of = one["series"]
        limit = short(one["limit"]) if of["budget"] else ""
        rows.append([f"{of['name']}, {of['unit']}", *(short(one[part]) for part in ("first", "second", "last")), limit])
    return _rows(rows)


def told(found: dict[str, Any]) -> str:
    """For a terminal."""
    lines = [
        f"{found['seconds'] / 60:.1f} minutes, the broker had {found['processor']:.2f} of a core",
        table(found),
        "",
    ]
    lines += [f"{name}: {row}" for name, row in found["clients"].items()]
    lines += [f"{what}: {times}" for what, times in {**found["trouble"], **found["programs"]}.items()]
    lines += [f"missing: {name}: {why}" for name, why in found["missing"].items()]
    lines += [f"WRONG {one}" for one in found["wrong"] + found["at_the_end"]] or ["nothing is wrong"]
    return "\n".join(lines)


def picture(found: dict[str, Any]) -> str:
    """Medians of each minute."""
    plots = []
    for series in SERIES:
        if series.key in _PLOTTED:
            minutes, values = each_minute(found["samples"], series.key)
            plots.append(Plot(series.name, f"{series.unit}; minutes", minutes, values))
    return grid([plots[at : at + _COLUMNS] for at in range(0, len(plots), _COLUMNS)])


def section(found: dict[str, Any]) -> str:
    """Of docs/performance.md, without its heading."""
    of = found["machine"]
    who = [["client", "records that came back"], ["---", "---:"]]
    who += [[name, f"{sum(row):,}"] for name, row in found["clients"].items()]
    what = [["what", "times"], ["---", "---:"], *([name, f"{times:,}"] for name, times in found["trouble"].items())]
    what += [
        [f"{name}, played by its program" if "turns" not in name and "page" not in name else name, f"{times:,}"]
        for name, times in found["programs"].items()
    ]
    return _TEXT.format(
        minutes=round(found["seconds"] / 60), nodes=NODES, who=_rows(who), what=_rows(what), table=table(found),
        day=found["day"], python=of["python"], system=of["system"], processors=of["processors"],
        load="unknown" if of["load"] is None else f"{of['load']:.1f}", share=short(found["processor"]),
    )  # fmt: skip


def _rows(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def write(found: dict[str, Any]) -> None:
    """The section and its picture."""
    performance_page.put(HEADING, section(found))
    PICTURE.write_text(picture(found), encoding="utf-8")
