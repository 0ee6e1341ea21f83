"""The result of the programs: results.json beside this file, and docs/programs.md, which is written from it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from kafkastub import __version__
from tests.oracle.jars import REFERENCE
from tests.programs.library import PROGRAMS, STREAMS_GROUPS, TRANSACTIONS

HERE: Final = Path(__file__).resolve().parent
RESULTS: Final = HERE / "results.json"
DOCUMENT: Final = HERE.parents[1] / "docs" / "programs.md"
STUB: Final = "stub"
KAFKA: Final = "kafka"
PROXY: Final = "proxy"
SHOWN: Final = {STUB: "the stub", KAFKA: "Apache Kafka", PROXY: "Apache Kafka through the proxy"}

HEAD = """# Programs

Written by `make programs` on {date}: {count} programs, each on kafkastub {stub} and on Apache Kafka {kafka}. The whole
run took {minutes} on two cores.

The tools and frameworks are the unchanged releases of their projects. Where they need a job or a topology, this
repository has a short one.
"""
OF: Final = {
    TRANSACTIONS: """
## With transactions

Each program is interrupted (`kill -9` while the log has records of an open transaction, unless the table says
otherwise) and started again. It passes if a read_committed reader sees every record once, and no record of an aborted
transaction. A read_uncommitted reader must see more records, which proves that a transaction was aborted.
""",
    STREAMS_GROUPS: """
## Kafka Streams with streams groups

With `group.protocol=streams` (KIP-1071) the broker knows the topology. It creates the repartition and changelog
topics, assigns tasks and standby tasks to members, and tells each instance where the others answer queries. Instances
join, shut down and are killed during the run. A program passes if every result is there: once, unless it says
otherwise.
""",
}

HOW = """
## How to run it

```console
make programs                                                   # builds and runs all programs, writes this page
make programs ARGS="--only 'librdkafka ETL'"                    # runs one program and writes its row again
make programs ARGS="--only Flink --broker stub"                 # runs on one broker, writes nothing
make programs ARGS="--keep /tmp"                                # keeps the programs' logs there
```

This needs Java 17, Maven and Go. Builds go to `.cache/programs`. The versions are those of `requirements/dev.lock`,
and of `go.mod` and the `pom.xml` files under `tests/programs`. Each program is a folder there, whose `playing.py`
starts the program, interrupts it and returns the lines of its result.
"""


@dataclass
class Run:
    """One program on one broker; `missing` tells why it was not played, `failed` what went wrong."""

    program: str
    version: str
    broker: str
    lines: list[str] = field(default_factory=list)
    seconds: float = 0.0
    failed: str = ""
    missing: str = ""
    spoke: dict[str, list[int]] = field(default_factory=dict)
    """Versions by API of those that are told of, as the stub's metrics have them."""


def different(runs: Iterable[Run]) -> list[Run]:
    """The runs on the stub, or through the proxy, that passed with another result than on Apache Kafka."""
    found = []
    for pair in _pairs(runs).values():
        ended = len(pair) == 2 and not any(run.failed or run.missing for run in pair.values())
        found += [run for run in pair.values() if ended and run.lines != pair[KAFKA].lines]
    return found


def write(runs: Sequence[Run]) -> None:
    """Write both files; programs that were not played this time stay as they were."""
    before = [Run(**run) for run in json.loads(RESULTS.read_text())["runs"]] if RESULTS.exists() else []
    played = {run.program for run in runs}
    order = [program.name for program in PROGRAMS]
    ordered = sorted(
        [*runs, *(run for run in before if run.program in order and run.program not in played)],
        key=lambda run: (order.index(run.program), run.broker != STUB),
    )
    data: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "kafkastub": __version__,
        "kafka": REFERENCE,
        "runs": [asdict(run) | {"seconds": round(run.seconds, 1)} for run in ordered],
    }
    RESULTS.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n")
    DOCUMENT.write_text(text(data))


def text(data: dict[str, Any]) -> str:
    """docs/programs.md."""
    runs = [Run(**run) for run in data["runs"]]
    pairs = _pairs(runs)
    seconds = round(sum(run.seconds for run in runs))
    minutes = f"{seconds // 60} min {seconds % 60} s"
    head = HEAD.format(
        date=data["date"], count=len(pairs), stub=data["kafkastub"], kafka=data["kafka"], minutes=minutes
    )
    lines = [head.rstrip(), *_tables(pairs), *_failures(runs), *_results(pairs), *_spoken(runs)]
    return "\n".join(lines) + "\n" + HOW


def _pairs(runs: Iterable[Run]) -> dict[str, dict[str, Run]]:
    pairs: dict[str, dict[str, Run]] = {}
    for run in runs:
        pairs.setdefault(run.program, {})[run.broker] = run
    return pairs


def _tables(pairs: dict[str, dict[str, Run]]) -> Iterator[str]:
    about = {program.name: program.about for program in PROGRAMS}
    for kind, text in OF.items():
        of_kind = {name: pair for name, pair in pairs.items() if about[name] == kind}
        if of_kind:
            yield text
            yield from _table(of_kind)


def _table(pairs: dict[str, dict[str, Run]]) -> Iterator[str]:
    yield "| program | version | what it proves | result | stub, s | Kafka, s |"
    yield "|---|---|---|---|--:|--:|"
    shows = {program.name: program.shows for program in PROGRAMS}
    for name, pair in pairs.items():
        seconds = " | ".join(f"{pair[broker].seconds:.1f}" if broker in pair else "" for broker in (STUB, KAFKA))
        version = next(iter(pair.values())).version
        yield f"| {name} | {version} | {shows[name]} | {_result(pair)} | {seconds} |"


def _result(pair: dict[str, Run]) -> str:
    bad = [f"✗ on {SHOWN[broker]}" for broker, run in pair.items() if run.failed]
    bad += [f"not run on {SHOWN[broker]}" for broker, run in pair.items() if run.missing]
    if bad:
        return ", ".join(bad)
    return "the results differ" if different(pair.values()) else "✓ the same on both"


def _failures(runs: Sequence[Run]) -> Iterator[str]:
    bad = [run for run in runs if run.failed or run.missing]
    if bad:
        yield from ("", "## What failed", "")
    for run in bad:
        yield f"- {run.program} on {SHOWN[run.broker]}: {' '.join((run.failed or run.missing).split())}"


def _results(pairs: dict[str, dict[str, Run]]) -> Iterator[str]:
    yield from ("", "## Results", "", "The lines of output that are compared:", "")
    for name, pair in pairs.items():
        longest = max(pair.values(), key=lambda run: len(run.lines))
        yield f"- {name}: {'; '.join(longest.lines)}." if longest.lines else f"- {name}: nothing."


def _spoken(runs: Sequence[Run]) -> Iterator[str]:
    yield from (
        "",
        "## API versions",
        "",
        "The versions of the APIs of transactions and streams groups that the programs chose, from the stub's metrics:",
    )
    yield from ("", "| program | APIs and versions |", "|---|---|")
    for run in runs:
        if run.broker == STUB and run.spoke:
            spoken = ", ".join(f"{api} {', '.join(map(str, versions))}" for api, versions in run.spoke.items())
            yield f"| {run.program} | {spoken} |"
