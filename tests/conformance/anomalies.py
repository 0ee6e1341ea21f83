"""Writes docs/anomalies.md: which guarantees a broker lets a client break, on several brokers.

Part of `make conformance`; `make conformance ARGS=--anomalies` plays these cases alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from kafkastub.guarantees import CATALOG
from kafkastub_conformance.model import Case, Outcome, Result, Status
from kafkastub_conformance.registry import catalogue
from tests.conformance.kfake_causes import cause_of

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "anomalies.md"
CHOSEN = "/guarantee-"
"""What the ids of these cases contain."""
NOT_SHOWN = {
    "weak_acks": "acks=1 differs from acks=all only when a node fails, which the suite does not cause.",
    "at_least_once": "A relation of two topics: only the application knows it.",
    "exactly_once": "A relation of two topics: only the application knows it.",
}
"""Guarantees without a case, and why."""

HEAD = """# Anomalies that Kafka allows

Written by `make conformance` on {date}.

`kafkastub check` finds what an application did wrong with its records ([guarantees.md](guarantees.md)). This page lists
which of these anomalies a broker allows, by what the client has set: acks, idempotence, `transactional.id`, isolation
level. If Kafka forbids an anomaly, the broker refuses the request or keeps the records apart. If Kafka allows an
anomaly, only the client can avoid it.

Each row is a case of `kafkastub conform`. You can play them against any broker:

```console
kafkastub conform --bootstrap-servers localhost:9092 -k guarantee
```

A case runs for every version of its API that the broker has. The last columns contain the runs that passed.
"""


def cases() -> list[Case]:
    """Those about guarantees, in the order of the guarantees."""
    order = list(CATALOG)
    found = [case for case in catalogue() if case.anomaly is not None]
    return sorted(found, key=lambda case: order.index(case.anomaly.guarantee) if case.anomaly else -1)


def document(columns: Sequence[tuple[str, Outcome | None]]) -> str:
    """The whole document, of brokers by name; None is one that could not be started."""
    names = " | ".join(name for name, _ in columns)
    lines = [HEAD.format(date=datetime.now(UTC).date().isoformat())]
    lines += [f"| guarantee | setting | Kafka | what happens | {names} |", "|---|---|---|---|" + "---|" * len(columns)]
    for case in cases():
        assert case.anomaly is not None
        name, how = case.anomaly.guarantee, "allows" if case.anomaly.allowed else "**forbids**"
        told = " | ".join(_cell(outcome, case) for _, outcome in columns)
        lines.append(f"| [`{name}`](guarantees.md#{name}) | {case.anomaly.setting} | {how} | {case.shows} | {told} |")
    lines += ["", "– means that the broker does not have the API, or that the case is about a later release.", ""]
    lines += ["There is no case for these guarantees:", ""]
    lines += [f"- `{name}`: {why}" for name, why in NOT_SHOWN.items()]
    for name, outcome in columns:
        lines += _departures(name, outcome)
    return "\n".join(lines) + "\n"


def _of(outcome: Outcome | None, case: Case) -> list[Result]:
    results = [] if outcome is None else outcome.results
    return [one for one in results if one.run.case is case and one.status is not Status.SKIPPED]


def _cell(outcome: Outcome | None, case: Case) -> str:
    if outcome is None:
        return "not run"
    own = _of(outcome, case)
    passed = sum(one.status is Status.PASSED for one in own)
    if not own:
        return "–"
    return f"{passed}/{len(own)}" if passed == len(own) else f"**{passed}**/{len(own)}"


def _departures(name: str, outcome: Outcome | None) -> Iterator[str]:
    """What a broker does otherwise, with the cause where it is known."""
    bad = {case: results for case in cases() if (results := [one for one in _of(outcome, case) if one.bad])}
    if not bad:
        return
    yield from ("", f"## What {name} does otherwise", "")
    yield from ("| guarantee | case | Apache Kafka | this broker |", "|---|---|---|---|")
    for case, results in bad.items():
        assert case.anomaly is not None
        cause = cause_of(case.id)
        kafka, instead = (case.shows, results[0].reason) if cause is None else (cause.kafka, cause.kfake)
        yield f"| `{case.anomaly.guarantee}` | {case.id} | {kafka} | {_plain(instead)} |"


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
