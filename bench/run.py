"""`make bench`: everything against its budget, beside a raw echo, kfake and, if asked for, Apache Kafka.

    python -m bench.run                      all of it, some minutes
    python -m bench.run --quick              a look, about one
    python -m bench.run -k commit            what has "commit" in its name; -k may be repeated
    python -m bench.run --with-kafka         Apache Kafka too (Java 17)
    python -m bench.run --json FILE          the numbers as well ("-" for standard output, instead of the tables)

The status is 1 where kafkastub could not be measured, and 0 otherwise, budgets met or not.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from bench import (
    budgets,
    cases,
    checked,
    codec,
    contact,
    contestants,
    observed,
    page,
    report,
    settling,
    shares,
    snapshots,
    startup,
    sustained,
    transactions,
    upkeep,
    volume,
    wire,
)
from bench.contestants import Contestant, Unavailable
from bench.frames import BadAnswer, Client
from bench.results import Results, machine

Starter = Callable[[], AbstractContextManager[Contestant]]

SWEEP, STARTUP = "sweep", "startup"
VOLUME = "volume/offset-commit"


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    effort: wire.Effort
    codec_rounds: int
    starts: int
    volume_groups: int
    snapshot_records: int
    sustained_rounds: int
    sustained_part: float
    """Of the records of each load."""
    page_rounds: int


FULL = Plan(
    wire.Effort(rounds=7, seconds=0.1),
    codec_rounds=11,
    starts=9,
    volume_groups=1000,
    snapshot_records=1_000_000,
    sustained_rounds=3,
    sustained_part=1.0,
    page_rounds=5,
)
QUICK = Plan(
    wire.Effort(rounds=3, seconds=0.05, most_seconds=3.0),
    codec_rounds=3,
    starts=3,
    volume_groups=200,
    snapshot_records=100_000,
    sustained_rounds=1,
    sustained_part=0.2,
    page_rounds=1,
)


class Selection:
    """Which names were asked for; all of them where none was."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words

    def __contains__(self, name: str) -> bool:
        return not self._words or any(word in name for word in self._words)


def run(plan: Plan, selected: Selection, starters: dict[str, Starter]) -> Results:
    """Everything that is selected. What cannot take part is in `absent`."""
    results = Results(machine())
    start = monotonic()
    for timed in codec.subjects():
        if f"codec/{timed.name}" in selected:
            results.codec.append(codec.measure(timed, plan.codec_rounds))
    if STARTUP in selected:
        _say("start-up")
        try:
            results.startup = startup.measure(plan.starts)
        except (Unavailable, BadAnswer, OSError) as error:
            results.absent[STARTUP] = str(error)
    _wire(plan, selected, starters, results)
    if VOLUME in selected:
        _volumes(plan, starters, results)
    _sustained(plan, selected, starters, results)
    if observed.NAME in selected:
        _say("with journal, metrics and a fault rule")
        try:
            results.observed = observed.run(plan.effort.rounds)
        except (Unavailable, BadAnswer, OSError) as error:
            results.absent[observed.NAME] = str(error)
    if checked.NAME in selected:
        _say("with guarantees checked")
        try:
            results.checked = checked.run(plan.effort.rounds)
        except (Unavailable, BadAnswer, OSError) as error:
            results.absent[checked.NAME] = str(error)
    if page.NAME in selected:
        _say("the page")
        try:
            results.page = page.run(plan.page_rounds)
        except (Unavailable, BadAnswer, OSError) as error:
            results.absent[page.NAME] = str(error)
    if SWEEP in selected:
        _say("sweep and restart")
        try:
            results.upkeep = upkeep.measure(plan.volume_groups)
        except Unavailable as error:
            results.absent[SWEEP] = str(error)
    if snapshots.NAME in selected:
        _say("snapshots")
        try:
            results.snapshots = snapshots.measure(plan.snapshot_records)
        except Unavailable as error:
            results.absent[snapshots.NAME] = str(error)
    results.seconds = monotonic() - start
    return results


def _wire(plan: Plan, selected: Selection, starters: dict[str, Starter], results: Results) -> None:
    chosen = [case for case in (*contact.CASES, *cases.CASES, *transactions.CASES) if case.name in selected]
    with_transactions = any(step in selected for steps in transactions.STEPS.values() for step in steps)
    with_shares = any(step in selected for step in (*shares.STEPS, *shares.TOGETHER))
    to_settle = [kind for name, kind in settling.NAMES.items() if name in selected]
    if not chosen and not with_transactions and not with_shares and not to_settle:
        return
    with ExitStack() as stack:
        running: list[Contestant] = []
        for name, starter in starters.items():
            _say(f"starting {name}")
            try:
                contestant = stack.enter_context(starter())
                if name != wire.ECHO:
                    with Client(contestant.host, contestant.port) as client:
                        cases.prepare_server(client)
                running.append(contestant)
            except (Unavailable, BadAnswer, OSError) as error:
                results.absent[name] = f"{type(error).__name__}: {error}"
        for case in chosen:
            _say(case.name)
            results.wire[case.name] = wire.measure(case, running, plan.effort)
        _say("transactions")
        results.wire |= transactions.measure(running, plan.effort, lambda step: step in selected)
        _say("share groups")
        results.wire |= shares.measure(running, plan.effort, lambda step: step in selected)
        if to_settle:
            _say("large groups")
            servers = [one for one in running if one.name != wire.ECHO]
            results.settled = settling.measure(servers, to_settle, plan.sustained_rounds)


def _volumes(plan: Plan, starters: dict[str, Starter], results: Results) -> None:
    """Each on a fresh server, so that nothing else is in its memory."""
    for name, starter in starters.items():
        if name == wire.ECHO or name in results.absent:
            continue
        _say(f"{VOLUME}, {name}")
        try:
            with starter() as contestant:
                results.volumes.append(volume.measure(contestant, plan.volume_groups))
        except (Unavailable, BadAnswer, OSError) as error:
            results.absent[name] = f"{type(error).__name__}: {error}"


def _sustained(plan: Plan, selected: Selection, starters: dict[str, Starter], results: Results) -> None:
    chosen = [load for load in sustained.LOADS if load.name in selected]
    if not chosen:
        return
    with ExitStack() as stack:
        running: list[Contestant] = []
        for name, starter in starters.items():
            if name != wire.ECHO and name not in results.absent:
                _say(f"starting {name}")
                try:
                    running.append(stack.enter_context(starter()))
                except (Unavailable, OSError) as error:
                    results.absent[name] = f"{type(error).__name__}: {error}"
        for load in chosen:
            _say(load.name)
            try:
                found = sustained.measure(load, running, plan.sustained_rounds, plan.sustained_part)
            except Unavailable as error:
                results.absent["sustained"] = str(error)
                return
            results.sustained[load.name] = found


def _say(what: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{what} …", end="", file=sys.stderr, flush=True)


def _print(results: Results, verdicts: list[budgets.Verdict]) -> None:
    parts = []
    if results.codec:
        parts.append(report.codec_table(results.codec))
    if results.startup:
        parts.append(report.startup_table(results.startup))
    if results.wire:
        parts.append(report.wire_tables(results.wire))
    if results.settled:
        parts.append(report.settled_table(results.settled))
    if results.volumes:
        parts.append(report.volume_table(results.volumes))
    if results.sustained:
        parts.append(report.sustained_table(results.sustained))
    if results.upkeep is not None:
        parts.append(report.upkeep_line(results.upkeep))
    if results.snapshots is not None:
        parts.append(report.snapshots_line(results.snapshots))
    parts.append(report.verdict_table(verdicts))
    if results.absent:
        parts.append("\n".join(f"Without {name}: {why}" for name, why in results.absent.items()) + "\n")
    parts.append(report.machine_line(results))
    print("\n".join(parts))


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.run", description="kafkastub's benchmarks")
    parser.add_argument("-k", metavar="WORD", action="append", default=[], help="only what has WORD in its name")
    parser.add_argument("--quick", action="store_true", help="about a minute")
    parser.add_argument("--with-kafka", action="store_true", help="Apache Kafka too (needs Java 17)")
    parser.add_argument("--without-kfake", action="store_true", help="do not build and start kfake")
    parser.add_argument("--json", metavar="FILE", help="write the numbers there, - for standard output")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run; gives the exit status."""
    arguments = _arguments(argv)
    starters: dict[str, Starter] = {wire.ECHO: contestants.echo, budgets.STUB: contestants.stub}
    if not arguments.without_kfake:
        starters[budgets.KFAKE] = contestants.kfake
    if arguments.with_kafka:
        starters[budgets.KAFKA] = contestants.kafka
    results = run(QUICK if arguments.quick else FULL, Selection(arguments.k), starters)
    verdicts = budgets.verdicts(results)
    if arguments.k:
        verdicts = [verdict for verdict in verdicts if verdict.met is not None]
    _say("")
    if arguments.json:
        found = {**results.as_json(), "kfake": contestants.kfake_version()}
        found["budgets"] = [dataclasses.asdict(verdict) for verdict in verdicts]
        text = json.dumps(found, indent=1)
        if arguments.json == "-":
            print(text)
        else:
            Path(arguments.json).write_text(text + "\n")
    if arguments.json != "-":
        _print(results, verdicts)
    failed = any(found[budgets.STUB].failure for found in results.wire.values() if budgets.STUB in found)
    return 1 if failed or {budgets.STUB, STARTUP, SWEEP} & results.absent.keys() else 0


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
    sys.exit(130)
