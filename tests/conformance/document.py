"""Writes docs/conformance.md: the suite against the stub, Apache Kafka and kfake (`make conformance`).

Apache Kafka needs Java and Maven, kfake Go; what cannot be started is left out, with the reason in the document.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from kafkastub import KafkaStub, __version__
from kafkastub.conformance.model import Outcome, Result, Status
from kafkastub.conformance.registry import catalogue, plan
from kafkastub.conformance.running import conform
from tests.conftest import APACHE_CONFIG, CONFIG
from tests.oracle.jars import OracleError

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "conformance.md"
KAFKA_VERSION = "4.3.1"

HEAD = """# Conformance

Written by `make conformance` on {date}. {cases} cases, which make {runs} runs on a broker that has every version.

```console
kafkastub conform --bootstrap-servers localhost:9092 --report conformance.html
```

runs the suite against any broker. Each case runs once for every version of its API that the broker advertises. The suite
makes groups and topics under names of its own (`conform-…`), removes them again and touches nothing else. Where a broker
has several nodes, one is asked everything: groups that it coordinates, topics that it leads. A broker that hangs or dies
fails the case at hand, and the run goes on.

| option | meaning |
|---|---|
| `--profile kafka\\|kips` | released Kafka's letter (the default) or the KIPs': cases where they differ are in one of them only |
| `-k EXPR` | only runs whose id fits: words with `and`, `or`, `not` and parentheses, `-k "OffsetDelete and not missing"` |
| `--slow` | also the cases that wait for sessions to expire |
| `--list` | the cases, what each shows and its source; needs no broker |
| `--report FILE` | the result as `.html` (the matrix of cases and versions), `.json` (with all frames) or `.xml` (JUnit) |
| `--timeout MS` | how long one answer may take |

A failure names the field that differs, what was expected, what came, and the frames:

```text
DeleteGroups/named-twice[v2]: failed
  shows   A group named twice is answered once.
  source  Kafka: KafkaApis.handleDeleteGroupsRequest (distinct)
  results: expected 1: [{{'group_id': 'g', 'error_code': 0}}], got 2: [(group_id='g', error_code=0), (group_id='g', error_code=69)]
```

The exit status is 0 where all passed, 1 where not, 2 where nothing could be run. A broker with Kafka's default
`group.initial.rebalance.delay.ms` lets each new group wait for three seconds: set it to 0 for the time of the run.

## Who passes what
"""  # noqa: E501


@dataclass
class Column:
    """A broker in the table: its name, and what came of the run or why there was none."""

    name: str
    outcome: Outcome | None = None
    missing: str = ""


def columns(slow: bool) -> Iterator[Column]:
    """Every broker, one after the other."""
    for profile in ("kafka", "kips"):
        with KafkaStub(profile=profile, config=CONFIG) as stub:
            name = f"kafkastub {__version__}, `{profile}`"
            yield Column(name, conform(stub.bootstrap_servers, profile, slow=slow))
    yield _apache_kafka(slow)
    yield _kfake(slow)


def _apache_kafka(slow: bool) -> Column:
    from tests.oracle.apache_kafka import ApacheKafka

    name = f"Apache Kafka {KAFKA_VERSION}"
    try:
        with ApacheKafka(config=APACHE_CONFIG) as kafka:
            return Column(name, conform(kafka.bootstrap_servers, "kafka", slow=slow))
    except OracleError as error:
        return Column(name, missing=str(error).splitlines()[0])


def _kfake(slow: bool) -> Column:
    from bench import contestants

    name = f"kfake {contestants.kfake_version()}"
    try:
        with contextlib.ExitStack() as stack:
            running = stack.enter_context(contestants.kfake())
            return Column(name, conform(f"{running.host}:{running.port}", "kafka", slow=slow, timeout=2))
    except contestants.Unavailable as error:
        return Column(name, missing=str(error))


def document(found: list[Column], slow: bool) -> str:
    """The whole document."""
    date = datetime.now(UTC).date().isoformat()
    lines = [HEAD.format(date=date, cases=len(catalogue()), runs=len(plan(None, "kafka", slow=slow)))]
    without = "" if slow else ", without the slow cases"
    lines.append("| API | " + " | ".join(column.name for column in found) + " |")
    lines.append("|---|" + "---|" * len(found))
    for api in dict.fromkeys(case.api for case in catalogue()):
        lines.append(f"| {api} | " + " | ".join(_cell(column, api) for column in found) + " |")
    lines.append("| **all** | " + " | ".join(_cell(column, None) for column in found) + " |")
    lines += [
        "",
        f"Passed runs of all{without}; what a broker does not advertise is not run. – is an API that it does not have.",
    ]
    for column in found:
        lines += _failures(column)
    return "\n".join(lines) + "\n"


def _cell(column: Column, api: str | None) -> str:
    if column.outcome is None:
        return "not run"
    own = [
        one for one in column.outcome.results if api in (None, one.run.case.api) and one.status is not Status.SKIPPED
    ]
    passed = sum(one.status is Status.PASSED for one in own)
    if not own:
        return "–"
    return f"{passed}/{len(own)}" if passed == len(own) else f"**{passed}**/{len(own)}"


def _failures(column: Column) -> Iterator[str]:
    if column.outcome is None:
        yield from ("", f"{column.name} could not be started: {column.missing}")
        return
    by_case: dict[str, list[Result]] = {}
    for result in column.outcome.bad:
        by_case.setdefault(result.run.case.id, []).append(result)
    if not by_case:
        return
    yield from ("", f"### What {column.name} does otherwise", "", "| case | versions | shows | first difference |")
    yield "|---|---|---|---|"
    for name, results in by_case.items():
        versions = _ranges([result.run.version for result in results])
        yield f"| {name} | {versions} | {results[0].run.case.shows} | {_cut(results[0])} |"


def _cut(result: Result) -> str:
    text = str(result.differences[0]) if result.differences else result.reason
    for name in {word.strip("'\",])}") for word in text.split() if word.strip("'\"[(").startswith("conform-")}:
        text = text.replace(name.strip("'\"[("), "…")
    text = text.replace("|", "\\|").replace("<", "&lt;")
    return text if len(text) <= 160 else text[:160] + "…"


def _ranges(versions: list[int]) -> str:
    """[0, 1, 2, 5] -> "0-2, 5"."""
    parts: list[list[int]] = []
    for version in sorted(versions):
        if parts and parts[-1][1] == version - 1:
            parts[-1][1] = version
        else:
            parts.append([version, version])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def main() -> int:
    """Run all, write the document; gives 1 where the stub or Apache Kafka does not pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slow", action="store_true", help="also the cases that wait for real seconds")
    slow: bool = parser.parse_args().slow
    found = []
    for column in columns(slow):
        found.append(column)
        told = column.missing if column.outcome is None else f"{len(column.outcome.bad)} not passed"
        print(f"{column.name}: {told}", flush=True)
    DOCUMENT.write_text(document(found, slow))
    own = [column for column in found if not column.name.startswith("kfake")]
    return int(any(column.outcome is None or column.outcome.bad for column in own))


if __name__ == "__main__":
    sys.exit(main())
