"""The result of the matrix: results.json beside this file, and what is written from it.

That is docs/clients.md, and the last section of docs/conformance.md.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from kafkastub import __version__
from tests.matrix.clients import CLIENTS
from tests.matrix.playing import CANNOT, FAILED, MISSED, PASSED, Result
from tests.matrix.scenario import CLASSIC, CONSUMER, CONSUMER_STEPS, STEPS, Step
from tests.matrix.scenarios import SHARE, steps_of
from tests.matrix.share_scenario import SHARE_STEPS
from tests.oracle.jars import REFERENCE

HERE: Final = Path(__file__).resolve().parent
RESULTS: Final = HERE / "results.json"
DOCUMENT: Final = HERE.parents[1] / "docs" / "clients.md"
CONFORMANCE: Final = HERE.parents[1] / "docs" / "conformance.md"
SECTION: Final = "## The clients"
"""The last one of docs/conformance.md."""
STUB: Final = "stub"
KAFKA: Final = "kafka"
PROXY: Final = "proxy"
MARKS: Final = {PASSED: "✓", CANNOT: "–", FAILED: "✗", MISSED: "✗"}
SHOWN: Final = {STUB: "the stub", KAFKA: "Apache Kafka", PROXY: "Apache Kafka through the proxy"}

HEAD = """# Clients

Written by `make clients` on {date}: {count} clients, each on kafkastub {stub} and on Apache Kafka {kafka}. All of it
took {minutes} on two cores.

Every client plays the same scenario with a program of its own (`tests/matrix/programs`), on a topic of four partitions:

| step | what is checked |
|---|---|
"""

CHECKED = """
After each step the runner looks at the broker with a client of its own: log end offsets, committed offsets, the group's
state and members. A record's value is its partition and offset.
"""

CONSUMER_HEAD = """
## The consumer protocol

Who speaks the protocol of KIP-848, where the broker assigns, plays the scenario with that too. `rebalance` waits until
the broker shows the group as Stable: each member has said what it owns. Three steps are added:

| step | what is checked |
|---|---|
"""

SHARE_HEAD = """
## Share groups

Who has share groups (KIP-932) plays a scenario of those, in a group whose records are locked for two seconds and are
delivered three times at most. A program tells of each record how often it had been delivered; the broker has to show,
after each step, that no record is left.

| step | what is checked |
|---|---|
"""

CONTRACT = """
## How it is run

```console
make clients                                        # builds all, runs all on both, writes this document
make clients ARGS="--only kafkajs --broker stub"    # a part of it: writes nothing
make clients ARGS="--protocol share"                # so does one protocol
```

The versions are those of the lock files: `requirements/dev.lock`, and `go.mod` with `go.sum`, `package-lock.json`,
`Cargo.lock` and `pom.xml` under `tests/matrix/programs`; kcat is the system's, of that version or none. The npm lock
file names no registry: `npm install --package-lock-only --omit-lockfile-registry-resolved` keeps it so. It has a
Node.js too, which runs the programs: the newest clients want a newer one than distributions have. What is built
goes to `.cache/matrix`: the first build of all takes some nine minutes of one core, nearly all of them for librdkafka
in the Rust crate, later ones a second or two.

A program is started as `program BOOTSTRAP TOPIC GROUP`, with `consumer` or `share` behind them for those. After each
step it prints one line of JSON (`step` names it) and waits for a line on its standard input, while the runner looks at
the broker:

| step | the line has |
|---|---|
| produce | `offsets`: the acknowledged offsets by partition, where the client tells them |
| consume, resume, expression | `records`: rows of partition, offset and value, in the order in which they came |
| rebalance, static, return | `members`: the partitions of each member, as the client tells them; the named one first |
| share | `records`: such rows of each member |
| commit | `committed`: the offset by partition |
| accept, release, poison, reject, renew, expire, again | `records`: rows with the count of deliveries behind |
| both, close | `records`: such rows of each member |
| expire | `kept`: those that were not accepted in time; `late`: the errors that accepting them came to |
| any | `cannot`: why the client has no such thing; `note`: a remark for the table |
"""


@dataclass
class Run:
    """One client on one broker with one protocol; `missing` tells why there are no steps."""

    client: str
    version: str
    broker: str
    protocol: str = CLASSIC
    steps: list[Result] = field(default_factory=list)
    seconds: float = 0.0
    missing: str = ""
    software: str = ""
    """As it announces itself (KIP-511), where it does."""
    spoke: dict[str, list[int]] = field(default_factory=dict)
    """Versions by API, as the stub's journal has them."""

    def counts(self) -> Counter[str]:
        return Counter(one.verdict for one in self.steps)

    def bad(self) -> bool:
        return any(one.verdict in (FAILED, MISSED) for one in self.steps)

    def step(self, name: str) -> Result | None:
        return next((one for one in self.steps if one.step == name), None)


def different(runs: Iterable[Run]) -> list[str]:
    """What became of a step through the proxy and not so directly: a line each."""
    found = []
    all_of_them = list(runs)
    for protocol in dict.fromkeys(run.protocol for run in all_of_them):
        for client, pair in _pairs(_of(protocol, all_of_them)).items():
            if KAFKA not in pair or PROXY not in pair:
                continue
            for step in steps_of(protocol):
                directly, through = (pair[broker].step(step.name) for broker in (KAFKA, PROXY))
                if _became(directly) != _became(through):
                    found.append(f"{client}, {protocol}, {step.name}: {_became(directly)} and {_became(through)}")
    return found


def _became(one: Result | None) -> tuple[str, str] | None:
    return None if one is None else (one.verdict, one.why)


def write(runs: Sequence[Run], seconds: float) -> None:
    """Write both files, and the section of docs/conformance.md."""
    order = [client.name for client in CLIENTS]
    ordered = sorted(runs, key=lambda run: (run.protocol, order.index(run.client), run.broker != STUB))
    data: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "seconds": round(seconds),
        "kafkastub": __version__,
        "kafka": REFERENCE,
        "runs": [asdict(run) | {"seconds": round(run.seconds, 1), "steps": _steps(run)} for run in ordered],
    }
    RESULTS.write_text(_one_line_a_run(data))
    DOCUMENT.write_text(text(data))
    before = CONFORMANCE.read_text().partition(f"\n{SECTION}\n")[0].rstrip("\n")
    CONFORMANCE.write_text("\n".join([before, *section()]) + "\n")


def _one_line_a_run(data: dict[str, Any]) -> str:
    lines = ",\n".join(json.dumps(run, ensure_ascii=False) for run in data["runs"])
    head = json.dumps({key: value for key, value in data.items() if key != "runs"})
    return f'{head[:-1]}, "runs": [\n{lines}\n]}}\n'


def _steps(run: Run) -> list[dict[str, Any]]:
    return [asdict(one) | {"seconds": round(one.seconds, 2)} for one in run.steps]


def section() -> list[str]:
    """For docs/conformance.md: the table of the last run as lines, nothing where there was none."""
    if not RESULTS.exists():
        return []
    data = json.loads(RESULTS.read_text())
    lines = ["", SECTION, "", f"Written by `make clients` on {data['date']}; [clients.md](clients.md) tells the steps."]
    runs = _read(data)
    lines += ["", *_table(_of(CLASSIC, runs), STEPS)]
    lines += ["", "With the consumer protocol (KIP-848):", "", *_table(_of(CONSUMER, runs), CONSUMER_STEPS)]
    return [*lines, "", "With share groups (KIP-932):", "", *_table(_of(SHARE, runs), SHARE_STEPS)]


def text(data: dict[str, Any]) -> str:
    """docs/clients.md."""
    runs = _read(data)
    minutes = f"{data['seconds'] // 60} min {data['seconds'] % 60} s"
    names = {run.client for run in runs}
    head = HEAD.format(
        date=data["date"], count=len(names), stub=data["kafkastub"], kafka=data["kafka"], minutes=minutes
    )
    lines = [head.rstrip("\n"), *(f"| {_title(step.name)} | {step.shows} |" for step in STEPS)]
    lines += ["", *CHECKED.strip().splitlines()]
    heads = {CLASSIC: "\n## Who passes what", CONSUMER: CONSUMER_HEAD.rstrip("\n"), SHARE: SHARE_HEAD.rstrip("\n")}
    for protocol, title in heads.items():
        lines += title.splitlines()
        if protocol != CLASSIC:
            added = [step for step in steps_of(protocol) if step not in STEPS]
            lines += [f"| {_title(step.name)} | {step.shows} |" for step in added]
        of_it = _of(protocol, runs)
        lines += ["", *_table(of_it, steps_of(protocol)), *_remarks(of_it), *_failures(of_it)]
    lines += _spoken(runs)
    return "\n".join(lines) + "\n" + CONTRACT


def _read(data: dict[str, Any]) -> list[Run]:
    return [Run(**(run | {"steps": [Result(**one) for one in run["steps"]]})) for run in data["runs"]]


def _of(protocol: str, runs: Iterable[Run]) -> list[Run]:
    return [run for run in runs if run.protocol == protocol]


def _pairs(runs: Iterable[Run]) -> dict[str, dict[str, Run]]:
    pairs: dict[str, dict[str, Run]] = {}
    for run in runs:
        pairs.setdefault(run.client, {})[run.broker] = run
    return pairs


def _table(runs: Sequence[Run], steps: Sequence[Step]) -> Iterator[str]:
    titles = [_title(step.name) for step in steps]
    yield "| client | language | version | " + " | ".join(titles) + " | stub, s | Kafka, s |"
    yield "|---|---|---|" + ":-:|" * len(steps) + "--:|--:|"
    languages = {client.name: client.language for client in CLIENTS}
    for name, pair in _pairs(runs).items():
        cells = " | ".join(_cell(pair, step.name) for step in steps)
        seconds = " | ".join(f"{pair[broker].seconds:.1f}" if broker in pair else "" for broker in (STUB, KAFKA))
        yield f"| {name} | {languages[name]} | {pair[STUB].version} | {cells} | {seconds} |"
    yield from ("", "✓ passed on both brokers; – the client has no such thing; where the two differ, both are named.")


def _title(step: str) -> str:
    return step.replace("_", " ")


def _cell(pair: dict[str, Run], step: str) -> str:
    marks = {}
    for broker, run in pair.items():
        found = run.step(step)
        marks[broker] = "not run" if found is None else MARKS[found.verdict]
    if len(set(marks.values())) == 1:
        return next(iter(marks.values()))
    return ", ".join(f"{mark} on {SHOWN[broker]}" for broker, mark in marks.items())


def _remarks(runs: Sequence[Run]) -> Iterator[str]:
    """What clients cannot do, and what is to be said of how they do it."""
    told: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        for one in run.steps:
            remark = one.why if one.verdict == CANNOT else one.note
            names = told.setdefault((run.client, remark), [])
            if remark and one.step not in names:
                names.append(one.step)
    yield ""
    for (client, remark), steps in told.items():
        if remark:
            yield f"- {client}, {', '.join(map(_title, steps))}: {remark}."


def _failures(runs: Sequence[Run]) -> Iterator[str]:
    bad = [(run, one) for run in runs for one in run.steps if one.verdict == FAILED]
    if bad:
        yield from ("", "### What failed", "")
    for run, one in bad:
        yield f"- {run.client} on {SHOWN[run.broker]}, {_title(one.step)}: {' '.join(one.why.split())}"


def _spoken(runs: Sequence[Run]) -> Iterator[str]:
    yield from ("", "## What they speak", "")
    yield "From the stub's journal: the versions of each API that the clients chose, the witness's requests left out."
    yield from ("", "| client | protocol | announces itself as | APIs and versions |", "|---|---|---|---|")
    for run in runs:
        if run.broker == STUB:
            spoken = ", ".join(f"{api} {', '.join(map(str, versions))}" for api, versions in run.spoke.items())
            yield f"| {run.client} | {run.protocol} | {run.software or '–'} | {spoken} |"
