"""Writes docs/conformance.md and docs/anomalies.md: the suite on the stub, three releases of Apache Kafka and kfake.

`make conformance`; with `--anomalies` it writes the latter alone.

Apache Kafka needs Java and Maven, kfake Go; what cannot be started is left out, with the reason in the document.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from kafkastub import KafkaStub, __version__
from kafkastub_conformance.model import Outcome, Result, Status
from kafkastub_conformance.registry import catalogue, plan
from kafkastub_conformance.release import LATEST, ranges, since
from kafkastub_conformance.running import GONE, conform
from kafkawire.api import ApiKey
from tests.conformance import anomalies
from tests.conformance.kfake_causes import CAUSES, cause_of, unexplained
from tests.conftest import APACHE_CONFIG, CONFIG
from tests.matrix import document as clients
from tests.oracle.jars import REFERENCE, OracleError

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "conformance.md"
OLDER = ("4.3.1", "3.9.2")
CLUSTERED = "Reassignments/ or ElectLeaders/ or DescribeCluster/"
"""Cases that ask for several nodes."""
PORT = re.compile(r"127\.0\.0\.1:\d+")
"""Another one in every run."""

HEAD = """# Conformance

Written by `make conformance` on {date}. {cases} cases, which make {runs} runs on a broker that has every version.

This command runs the suite against any broker:

```console
kafkastub conform --bootstrap-servers localhost:9092 --report conformance.html
```

Each case runs once for every version of its API that the broker advertises. The suite creates groups and topics with its own
names (`conform-…`), removes them again and touches nothing else. In a cluster of several nodes, the suite sends all requests to
one node, about groups that it coordinates and partitions that it leads. If the broker hangs or dies, the current case fails and
the run continues.

| option | meaning |
|---|---|
| `--profile kafka\\|kips` | the expected behaviour: released Kafka's or that of the KIPs (docs/profiles.md). A case on which they differ exists in one of them only. Without this option the suite finds out with a harmless request which profile the broker follows, and says so if it is not Kafka's |
| `-k EXPR` | only runs whose id matches: words with `and`, `or`, `not` and parentheses, for example `-k "OffsetDelete and not missing"` |
| `--slow` | also the cases that wait in real time, for sessions and for offsets that expire |
| `--control URL` | the control port of a stub (`kafkastub serve --control-port …`): also the cases that move its clock, by weeks. Other data of the stub expires too |
| `--release X.Y` | the release of Apache Kafka to compare with; by default the one whose versions the broker advertises |
| `--list` | list the cases, with what each one shows and its source; needs no broker |
| `--report FILE` | write a report: `.html` (the matrix of cases and versions), `.json` (with all frames) or `.xml` (JUnit). Each lists every API of the release with its result |
| `--timeout MS` | how long to wait for an answer |

A failure names the field that differs, the expected value, the actual value, and the frames:

```text
DeleteGroups/named-twice[v2]: failed
  shows   A group named twice is answered once.
  source  Kafka: KafkaApis.handleDeleteGroupsRequest (distinct)
  results: expected 1: [{{'group_id': 'g', 'error_code': 0}}], got 2: [(group_id='g', error_code=0), (group_id='g', error_code=69)]
```

The last lines of the output list all APIs of the release in three groups: APIs with the runs that passed, APIs that the broker
has but the suite did not test (because of `-k`, or because it has no case), and APIs that the broker does not have:

```text
the 77 APIs of Apache Kafka 4.3:
  44 played, with the runs that passed: Produce 250, Fetch 235, OffsetCommit 304 of 311, DescribeAcls 6 (9 skipped) …
  26 not advertised: WriteTxnMarkers, AlterReplicaLogDirs, CreateDelegationToken …
```

The exit status is 0 if all runs passed, 1 if not, and 2 if nothing could be run. With `--against` the command plays random
scenarios on two brokers instead: [differential.md](differential.md).

## What depends on the broker

- With Kafka's default `group.initial.rebalance.delay.ms` every new group waits for three seconds, and so does the suite:
  36 runs took 64 s instead of one. The suite says so before it begins. Set the delay to 0 during the run, with
  `kafkastub serve --config group.initial.rebalance.delay.ms=0` or the same line in `server.properties`.
- Limits are the broker's own, from DescribeConfigs: `offset.metadata.max.bytes`, `telemetry.max.bytes`,
  `transaction.max.timeout.ms`, and the retention of offsets.
- The suite compares a broker with one release. Behaviour can change with a release although the version of an API stays the
  same. A case about behaviour that is newer than the broker's release is skipped, and says what the behaviour was before.
- ACLs: a broker without an authorizer must answer SECURITY_DISABLED. With an authorizer that allows the suite's user everything
  (`super.users=User:ANONYMOUS`), the suite tests entries and filters.
- Reassignments and elections that move something need a cluster of two nodes.
- Expiry needs a stub's control port, or `--slow` and a broker with `offsets.retention.check.interval.ms` of at most 30000
  and `offsets.retention.minutes` of at most 2. A case that cannot be run is skipped with the reason.
- GetTelemetrySubscriptions and PushTelemetry are tested if the broker answers them, advertised or not.
- Transactional ids cannot be removed: those of the suite (`conform-…`) stay until the broker forgets them.

## Who passes what
"""  # noqa: E501

EXPIRING: dict[str, object] = {"offsets.retention.minutes": 1, "offsets.retention.check.interval.ms": 1000}
SECURED: dict[str, object] = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
CLUSTERED = "Reassignments/ or ElectLeaders/"
LIVES = 8
"""So often a broker that a case ended is started anew for the cases after it."""


@dataclass
class Column:
    """A broker in the table: its name, and what came of the run or why there was none.

    `later` is what came of the cases about later releases than the broker's.
    """

    name: str
    outcome: Outcome | None = None
    missing: str = ""
    later: Outcome | None = None


def columns(slow: bool) -> Iterator[Column]:
    """Every broker, one after the other."""
    for profile in ("kafka", "kips"):
        yield _stub(profile, slow)
    for release in (REFERENCE, *OLDER):
        yield _apache_kafka(release, slow)
    yield _kfake(slow)


def _stub(profile: str, slow: bool) -> Column:
    config = {**CONFIG, **(EXPIRING if slow else {})}
    with KafkaStub(profile=profile, config=config) as stub:
        outcome = conform(stub.bootstrap_servers, profile, slow=slow, clock=stub.clock)
    with KafkaStub(profile=profile, config={**CONFIG, **SECURED}) as stub:
        _fill_in(outcome, conform(stub.bootstrap_servers, profile, chosen="Acls/"))
    with KafkaStub(profile=profile, config=CONFIG, nodes=2) as stub:
        _fill_in(outcome, conform(stub.bootstrap_servers.split(",", 1)[0], profile, chosen=CLUSTERED))
    return Column(_stub_name(profile), outcome)


def _stub_name(profile: str) -> str:
    return f"kafkastub {__version__}, `{profile}`"


def _apache_kafka(release: str, slow: bool) -> Column:
    from tests.oracle.apache_cluster import ApacheCluster
    from tests.oracle.apache_kafka import ApacheKafka

    column = Column(f"Apache Kafka {release}")
    config = {**APACHE_CONFIG, **(EXPIRING if slow else {})}
    try:
        with ApacheKafka(config=config, release=release) as kafka:
            column.outcome = conform(kafka.bootstrap_servers, "kafka", slow=slow)
            own = column.outcome.release
            if own != LATEST:
                column.later = conform(
                    kafka.bootstrap_servers, "kafka", release=LATEST, timeout=2, select=lambda run: since(run.case, own)
                )
        with ApacheKafka(config={**APACHE_CONFIG, **SECURED}, release=release) as kafka:
            _fill_in(column.outcome, conform(kafka.bootstrap_servers, "kafka", chosen="Acls/"))
        if release == REFERENCE:
            with ApacheCluster(2, APACHE_CONFIG) as cluster:
                _fill_in(column.outcome, conform(cluster.nodes[2].bootstrap_servers, "kafka", chosen=CLUSTERED))
    except OracleError as error:
        column.outcome, column.missing = None, str(error).splitlines()[0]
    return column


def _kfake(slow: bool) -> Column:
    from bench import contestants

    column = Column(f"kfake {contestants.kfake_version()}")
    try:
        for _ in range(LIVES):
            waiting = None if column.outcome is None else _unplayed(column.outcome)
            if waiting is not None and not waiting:
                break
            with contestants.kfake() as running:
                found = conform(
                    f"{running.host}:{running.port}",
                    "kafka",
                    slow=slow,
                    timeout=2,
                    select=None if waiting is None else lambda run, ids=waiting: run.id in ids,  # type: ignore[misc]
                )
            if column.outcome is None:
                column.outcome = found
            else:
                _replace(column.outcome, found)
    except contestants.Unavailable as error:
        column.outcome, column.missing = None, str(error)
    return column


def _unplayed(outcome: Outcome) -> set[str]:
    """The runs that found nobody there any more."""
    return {result.run.id for result in outcome.results if result.reason == GONE}


def _fill_in(outcome: Outcome, found: Outcome) -> None:
    """Take what another configuration of the broker has played in the place of what was skipped."""
    skipped = {result.run.id for result in outcome.results if result.status is Status.SKIPPED}
    found.results = [
        result for result in found.results if result.status is not Status.SKIPPED and result.run.id in skipped
    ]
    _replace(outcome, found)


def _replace(outcome: Outcome, found: Outcome) -> None:
    newer = {result.run.id: result for result in found.results}
    outcome.results = [newer.get(result.run.id, result) for result in outcome.results]


def document(found: list[Column], slow: bool) -> str:
    """The whole document."""
    date = datetime.now(UTC).date().isoformat()
    runs = len(plan(None, "kafka", slow=True, clock=True))
    lines = [HEAD.format(date=date, cases=len(catalogue()), runs=runs)]
    without = "" if slow else ", without the slow cases"
    lines.append("| API | " + " | ".join(column.name for column in found) + " |")
    lines.append("|---|" + "---|" * len(found))
    for api in dict.fromkeys(case.api for case in catalogue()):
        lines.append(f"| {api} | " + " | ".join(_cell(column, api) for column in found) + " |")
    lines.append("| **all** | " + " | ".join(_cell(column, None) for column in found) + " |")
    lines += [
        "",
        f"Passed runs out of all{without}. APIs that a broker does not have are not run; – marks such an API.",
        "Stub and Kafka run with and without an authorizer, and the newest release also as a cluster of two nodes.",
        "Each run counts once.",
    ]
    lines += _caseless(found)
    for column in found:
        lines += _later(column)
        lines += _skipped(column)
    for column in found:
        lines += _failures(column)
    lines += clients.section()
    return PORT.sub("the broker", "\n".join(lines)) + "\n"


def _caseless(found: Sequence[Column]) -> Iterator[str]:
    """The APIs of the latest release that the suite has no case for, and who has which versions of them."""
    has_cases = {case.api for case in catalogue()}
    names = {key: ApiKey(key).camel for key in ranges(LATEST) if ApiKey(key).camel not in has_cases}
    if not names:
        return
    yield from ("", f"### APIs of Apache Kafka {LATEST} without a case", "")
    yield "| API | " + " | ".join(column.name for column in found) + " |"
    yield "|---|" + "---|" * len(found)
    for key, name in names.items():
        cells = ["not run" if one.outcome is None else _versions(one.outcome.served.get(key)) for one in found]
        yield f"| {name} | " + " | ".join(cells) + " |"
    yield from ("", "Versions that the broker advertises; – is an API that it does not have.")


def _versions(between: tuple[int, int] | None) -> str:
    return "–" if between is None else _ranges(list(range(between[0], between[1] + 1)))


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


def _later(column: Column) -> Iterator[str]:
    """What releases after the broker's do otherwise, as it was seen."""
    if column.later is None:
        return
    by_case = _by_case(column.later.bad)
    yield from ("", f"### Differences of later releases from {column.name}", "")
    yield "| case | since | versions | later | before | first difference |"
    yield "|---|---|---|---|---|---|"
    for name, results in by_case.items():
        case, versions = results[0].run.case, _ranges([result.run.version for result in results])
        yield f"| {name} | {case.since} | {versions} | {case.shows} | {case.before} | {_cut(results[0])} |"


def _skipped(column: Column) -> Iterator[str]:
    """What was not played, by reason, but for what is told above."""
    if column.outcome is None:
        return
    reasons: dict[str, set[str]] = {}
    for result in column.outcome.results:
        if result.status is Status.SKIPPED and not result.reason.startswith("since Apache Kafka"):
            reasons.setdefault(result.reason, set()).add(result.run.case.id)
    for reason, names in reasons.items():
        yield from ("", f"{column.name}, not played: {', '.join(sorted(names))} ({reason}).")


def _failures(column: Column) -> Iterator[str]:
    if column.outcome is None:
        yield from ("", f"{column.name} could not be started: {column.missing}")
        return
    by_case = _by_case(column.outcome.bad)
    if not by_case:
        return
    yield from ("", f"### Differences of {column.name}", "")
    if column.name.startswith("kfake"):
        yield from _causes(by_case)
    yield from ("| case | versions | shows | first difference |", "|---|---|---|---|")
    for name, results in by_case.items():
        versions = _ranges([result.run.version for result in results])
        yield f"| {name} | {versions} | {results[0].run.case.shows} | {_cut(results[0])} |"


def _causes(by_case: Mapping[str, list[Result]]) -> Iterator[str]:
    """kfake's failures by what they come from."""
    yield "The first table lists the causes, from frames and source code; the second one lists every case."
    yield from ("", "| Apache Kafka | kfake | where in kfake | cases, runs |", "|---|---|---|---|")
    for cause in CAUSES:
        own = [name for name in by_case if cause_of(name) is cause]
        if own:
            runs = sum(len(by_case[name]) for name in own)
            listed = ", ".join(own)
            yield f"| {cause.kafka} | {cause.kfake} | {cause.where} | {listed}: {runs} |"
    open_ones = unexplained(by_case)
    if open_ones:
        yield from ("", f"Not yet looked into: {', '.join(open_ones)}.")
    yield ""


def _by_case(results: Sequence[Result]) -> dict[str, list[Result]]:
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.run.case.id, []).append(result)
    return found


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
    """Run all, write the documents; gives 1 where stub or Kafka does not pass, or kfake fails for no known cause."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slow", action="store_true", help="also the cases that wait for real seconds")
    parser.add_argument("--anomalies", action="store_true", help="only the cases about guarantees, and their document")
    told = parser.parse_args()
    slow: bool = told.slow
    found = []
    for column in _anomalies() if told.anomalies else columns(slow):
        found.append(column)
        state = column.missing if column.outcome is None else f"{len(column.outcome.bad)} not passed"
        print(f"{column.name}: {state}", flush=True)
    if not told.anomalies:
        DOCUMENT.write_text(document(found, slow))
    anomalies.DOCUMENT.write_text(
        PORT.sub("the broker", anomalies.document([(one.name, one.outcome) for one in found]))
    )
    return int(any(map(_is_wrong, found)))


def _anomalies() -> Iterator[Column]:
    """Every broker, with the cases about guarantees alone."""
    from bench import contestants

    from tests.oracle.apache_kafka import ApacheKafka

    for profile in ("kafka", "kips"):
        with KafkaStub(profile=profile, config=CONFIG) as stub:
            outcome = conform(stub.bootstrap_servers, profile, chosen=anomalies.CHOSEN)
        yield Column(_stub_name(profile), outcome)
    for release in (REFERENCE, *OLDER):
        with ApacheKafka(config=APACHE_CONFIG, release=release) as kafka:
            outcome = conform(kafka.bootstrap_servers, "kafka", chosen=anomalies.CHOSEN)
        yield Column(f"Apache Kafka {release}", outcome)
    with contestants.kfake() as running:
        outcome = conform(f"{running.host}:{running.port}", "kafka", chosen=anomalies.CHOSEN, timeout=2)
    yield Column(f"kfake {contestants.kfake_version()}", outcome)


def _is_wrong(column: Column) -> bool:
    if column.outcome is None:
        return True
    if column.name.startswith("kfake"):
        return bool(unexplained(result.run.case.id for result in column.outcome.bad))
    if column.later is None:
        return bool(column.outcome.bad)
    played = [result for result in column.later.results if result.status is not Status.SKIPPED]
    return bool(column.outcome.bad) or _by_case(column.later.bad).keys() != _by_case(played).keys()


if __name__ == "__main__":
    sys.exit(main())
