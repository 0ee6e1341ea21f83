"""Facts as HTML. Everything that comes from a table is escaped by the template; only our own plots are not."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from kafkastub_pipeline.report import plots
from kafkastub_pipeline.report.facts import Facts, Row, moment
from kafkastub_pipeline.report.todo import command, things_to_do

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATE = "page.html.j2"
KINDS = (
    ("live", "Of live groups, which do not subscribe to these topics", True),
    ("idle", "Of groups without members, unused for long; their owners may still come back", False),
)
"""Of commands: name, what is said of them, and whether they are of what live groups have left."""

SECTIONS = (
    ("What will expire", "expiry_forecast", ""),
    ("What another retention would do", "retention_whatif", ""),
    ("What another session timeout would do", "session_whatif", "with --session-timeout-ms and a --journal"),
    ("What another transaction timeout would do", "transaction_whatif", "with --transaction-timeout-ms"),
    ("What another lock of a share group's records would do", "lock_whatif", "with --record-lock-duration-ms"),
    ("Storms of rebalances, and rates of commits", "findings", ""),
    ("Lag", "lag", "with --bootstrap-servers"),
    ("Share groups", "share_partitions", "with --bootstrap-servers"),
    ("Transactions", "transactions", "with --bootstrap-servers"),
    ("Who holds readers back", "held_partitions", "with --bootstrap-servers"),
    ("Guarantees that were not kept", "guarantees", "with a --journal"),
    ("Stale offsets, and the commands that delete them", "stale_offsets", ""),
    ("Group timelines", "group_timeline", ""),
    ("What was deleted, and why", "deletion_audit", ""),
    ("Protocol coverage", "protocol_coverage", "with a --journal"),
    ("Records that cannot be decoded", "decode_errors", ""),
    ("How many groups and offsets there are", "offset_current", ""),
)
"""What the page says where the table is there, the table, and what it cannot be made without."""


def rendered(facts: Facts) -> str:
    """The whole page."""
    drawn = _plots(facts)
    return (
        _environment()
        .get_template(TEMPLATE)
        .render(
            facts=facts,
            plots=drawn,
            commands=[] if facts.stale is None else [command(row) for row in facts.stale["commands"]],
            kinds=KINDS,
            untried=untried(facts.coverage or []),
            absent=absent(facts),
            todo=things_to_do(facts),
            of_the_day=of_the_day(facts),
        )
    )


def _plots(facts: Facts) -> dict[str, dict[str, str]]:
    drawn = {}
    if facts.expiry is not None and facts.expiry["as_of"] is not None:
        drawn["expiries"] = plots.plotted(plots.expiries, facts.expiry["by_day"], facts.expiry["as_of"])
    if facts.stale is not None:
        drawn["stale"] = plots.plotted(plots.stale, facts.stale["by_group"])
    if facts.lag is not None:
        drawn["lag"] = plots.plotted(plots.lag, facts.lag["groups"])
    if facts.timeline is not None:
        drawn["timelines"] = plots.plotted(plots.timelines, facts.timeline["events"])
    if facts.timeouts is not None:
        drawn["timeouts"] = plots.plotted(plots.timeouts, facts.timeouts)
    if facts.findings is not None:
        storms = [row for row in facts.findings["first"] if row["finding"] == "rebalance_storm"]
        drawn["storms"] = plots.plotted(plots.storms, storms)
    if facts.coverage is not None:
        drawn["coverage"] = plots.plotted(plots.coverage, facts.coverage)
        wrong = [row for row in facts.coverage if row["error_code"] not in (None, 0)]
        drawn["errors"] = plots.plotted(plots.api_errors, wrong)
    return drawn


def absent(facts: Facts) -> list[Row]:
    """What is left out: the table, what it would say, and the command that makes it."""
    tables = {one["name"]: one for one in facts.tables}
    return [
        tables[table] | {"title": title, "needs": needs, "command": f"kafkastub-pipeline run --tables {table}"}
        for title, table, needs in SECTIONS
        if tables[table]["rows"] is None
    ]


def of_the_day(facts: Facts) -> str:
    """What such a command needs so that a table is of the day, and about the moment, of the page."""
    moment = "" if facts.as_of is None else f"--now {facts.as_of.isoformat(timespec='milliseconds')} "
    return f"{moment}--append-day {facts.day}"


def untried(cells: list[Row]) -> list[Row]:
    """APIs of which something is advertised that nobody asked for: versions tried and not."""
    apis: dict[str, dict[str, set[int]]] = {}
    for row in cells:
        found = apis.setdefault(str(row["api"]), {"tried": set(), "not": set()})
        found["tried" if row["exercised"] else "not"].add(row["api_version"])
    return [
        {"api": api, "tried": ranges(found["tried"]), "untried": ranges(found["not"])}
        for api, found in apis.items()
        if found["not"]
    ]


def ranges(numbers: set[int]) -> str:
    """Numbers as ranges: 0–3, 5."""
    found: list[list[int]] = []
    for one in sorted(numbers):
        if found and one == found[-1][1] + 1:
            found[-1][1] = one
        else:
            found.append([one, one])
    return ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in found)


def at(value: datetime | None) -> str:
    """A time as people read it, always UTC."""
    return "–" if value is None else f"{value:%Y-%m-%d %H:%M:%S} UTC"


def late(milliseconds: int) -> str:
    """How late something was: to the millisecond, where that is readable."""
    return f"{milliseconds} ms" if abs(milliseconds) < 10_000 else plots.duration(milliseconds / 1000)


def minutes(value: int) -> str:
    """A retention."""
    return "for ever" if value < 0 else plots.duration(value * 60)


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("kafkastub_pipeline", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        at=at,
        number=plots.number,
        duration=plots.duration,
        minutes=minutes,
        late=late,
        moment=moment,
        timeout=plots.milliseconds,
        shown=lambda name: plots.shown(name, 80),
        told=lambda text: plots.shown(text, 500),
    )
    return environment
