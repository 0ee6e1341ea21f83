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

Written by `make clients` on {date}: {count} clients, each on kafkastub {stub} and on Apache Kafka {kafka}. The whole
run took {minutes} on two cores.

Each client has its own program (`tests/matrix/programs`). All of them play the same scenario, on a topic of four
partitions:

| step | what is checked |
|---|---|
"""

CHECKED = """
After each step the runner checks the broker with a separate client: log end offsets, committed offsets, and the
group's state and members. A record's value is its partition and offset.
"""

CONSUMER_HEAD = """
## The consumer protocol

Clients that have the protocol of KIP-848, in which the broker assigns partitions, play the scenario with it too.
`rebalance` waits until the group is Stable, so each member has reported what it owns. There are three more steps:

| step | what is checked |
|---|---|
"""

SHARE_HEAD = """
## Share groups

Clients that have share groups (KIP-932) play another scenario, in a group whose records are locked for two seconds
and delivered at most three times. A program prints the delivery count of each record. After each step the broker must
show that no record is left.

| step | what is checked |
|---|---|
"""

CONTRACT = """
## How to run it

```console
make clients                                        # builds all clients, runs them on both brokers, writes this page
make clients ARGS="--only kafkajs --broker stub"    # runs a part, writes nothing
make clients ARGS="--protocol share"                # runs one protocol, writes nothing
```

The versions are those of the lock files: `requirements/dev.lock`, and `go.mod` with `go.sum`, `package-lock.json`,
`Cargo.lock` and `pom.xml` under `tests/matrix/programs`. kcat must be installed in this version, or is left out. The
npm lock file names no registry; `npm install --package-lock-only --omit-lockfile-registry-resolved` keeps it so. It
also contains the Node.js that runs the programs, because the newest clients need a newer Node.js than distributions
have. Builds go to `.cache/matrix`. The first build takes about nine minutes of one core, nearly all of it for
librdkafka in the Rust crate; later builds take a second or two.

A program is started as `program BOOTSTRAP TOPIC GROUP`, followed by `consumer` or `share` for these protocols. After
each step it prints one line of JSON, whose `step` names the step, and waits for a line on its standard input while
the runner checks the broker:

| step | fields of the line |
|---|---|
| produce | `offsets`: the acknowledged offsets by partition, if the client returns them |
| consume, resume, expression | `records`: rows of partition, offset and value, in the order of their arrival |
| rebalance, static, return | `members`: the partitions of each member, as it reports them; the step's member first |
| share | `records`: such rows for each member |
| commit | `committed`: the offset by partition |
| accept, release, poison, reject, renew, expire, again | `records`: rows that end with the delivery count |
| both, close | `records`: such rows for each member |
| expire | `kept`: records that were not accepted in time; `late`: the errors from accepting them |
| any | `cannot`: why the client does not support the step; `note`: a remark for the table |
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
    lines = [
        "",
        SECTION,
        "",
        f"Written by `make clients` on {data['date']}; [clients.md](clients.md) describes the steps.",
    ]
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
    yield from (
        "",
        "✓ passed on both brokers; – the client does not support it; other cells name the broker.",
    )


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
    yield from ("", "## API versions", "")
    yield "The API versions that the clients chose, from the stub's journal, without those of the checking client."
    yield from (
        "",
        "| client | protocol | name that it sends | APIs and versions |",
        "|---|---|---|---|",
    )
    for run in runs:
        if run.broker == STUB:
            spoken = ", ".join(f"{api} {', '.join(map(str, versions))}" for api, versions in run.spoke.items())
            yield f"| {run.client} | {run.protocol} | {run.software or '–'} | {spoken} |"
