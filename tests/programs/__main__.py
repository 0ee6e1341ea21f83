"""`make programs`: real programs play on the stub and on Apache Kafka, with the same result.

A run on both writes docs/programs.md and results.json: with `--only` the others' rows stay. With `--broker`
nothing is written, nor with `--proxy`, which plays on Apache Kafka directly and through `kafkastub proxy`. The exit
status is 1 where one failed, or results differ. With `--check` the stub is asked behind each program what it did to its
records: a broken guarantee is a failure. What this machine cannot run is told; in CI that is a failure too.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import httpx
from confluent_kafka import KafkaException

from tests.in_front import InFront
from tests.oracle.jars import OracleError
from tests.programs import document
from tests.programs.brokers import Apache, Proxied, Stub
from tests.programs.document import KAFKA, PROXY, STUB, Run
from tests.programs.judging import Wrong
from tests.programs.library import PROGRAMS, Program
from tests.programs.stage import ANSWER_SECONDS, Broker, Stage
from tests.toolchains import Unavailable

TOLD: Final = (
    "InitProducerId",
    "AddPartitionsToTxn",
    "AddOffsetsToTxn",
    "EndTxn",
    "TxnOffsetCommit",
    "DescribeProducers",
    "DescribeTransactions",
    "ListTransactions",
    "StreamsGroupHeartbeat",
)


def on_stub(program: Program, keep: str, check: bool = False) -> Run:
    """A stub of its own."""
    run = Run(program.name, program.version(), STUB)
    with contextlib.ExitStack() as stack:
        stub = stack.enter_context(Stub())
        look = {"ignoring": ["read_aborted", *program.breaks]}  # the runner reads aborted records to judge
        if check:  # from now on a check follows the requests: the journal alone would lose the first of them
            httpx.get(f"{stub.control}/v1/check", timeout=ANSWER_SECONDS).raise_for_status()
        _play(run, program, stub.bootstrap_servers, lambda: stack.enter_context(Stub(keep=True)), keep)
        run.spoke = _spoken(httpx.get(f"{stub.control}/metrics", timeout=ANSWER_SECONDS).text)
        if check:
            verdict = httpx.get(f"{stub.control}/v1/check", params=look, timeout=ANSWER_SECONDS).json()
            run.lines.append(f"checked: {verdict['looked_at']}")
            run.failed = run.failed or "; ".join(f"{one['guarantee']}: {one['cause']}" for one in verdict["findings"])
    return run


def on_kafka(program: Program, kafka: str, keep: str) -> Run:
    """One Apache Kafka for all; who needs a second one has it alone."""
    run = Run(program.name, program.version(), KAFKA)
    with contextlib.ExitStack() as stack:
        _play(run, program, kafka, lambda: stack.enter_context(Apache(keep=True)), keep)
    return run


def through_proxy(program: Program, proxy: str, keep: str) -> Run:
    """Another Apache Kafka behind a proxy; a second one has a proxy of its own."""
    run = Run(program.name, program.version(), PROXY)
    with contextlib.ExitStack() as stack:
        _play(run, program, proxy, lambda: stack.enter_context(Proxied()), keep)
    return run


def _play(run: Run, program: Program, bootstrap_servers: str, another: Callable[[], Broker], keep: str) -> None:
    with contextlib.ExitStack() as stack:
        if keep:
            folder = Path(tempfile.mkdtemp(dir=keep))
        else:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="program-")))
        stage = stack.enter_context(Stage(bootstrap_servers, folder, another))
        started = time.monotonic()
        try:
            for line in program.play(stage):
                run.lines.append(line)
        except (Wrong, OracleError, AssertionError, KafkaException, OSError) as error:
            run.failed = f"{'' if isinstance(error, Wrong) else f'{type(error).__name__}: '}{error}"
        run.seconds = time.monotonic() - started


def _spoken(metrics: str) -> dict[str, list[int]]:
    """The versions of these APIs that were asked for, the runner's own requests being none of them."""
    found: dict[str, list[int]] = {}
    for api, version in re.findall(r'^kafkastub_requests_total\{api="(\w+)",version="(\d+)"\}', metrics, re.MULTILINE):
        if api in TOLD:
            found.setdefault(api, []).append(int(version))
    return {api: sorted(versions) for api, versions in sorted(found.items())}


def runs(programs: Sequence[Program], brokers: Sequence[str], kafka: str, keep: str, check: bool) -> Iterator[Run]:
    """Build each program and play it on each broker, one after the other: times are to be compared.

    `kafka` is the address of an Apache Kafka; "" starts one.
    """
    with contextlib.ExitStack() as stack:
        why = ""
        if KAFKA in brokers and not kafka:
            try:
                kafka = stack.enter_context(Apache()).bootstrap_servers
            except OracleError as error:
                why = str(error).splitlines()[0]
        proxy = ""
        if PROXY in brokers and kafka:  # one of its own: some programs have topics that are called as they want
            proxy = stack.enter_context(InFront(stack.enter_context(Apache()).bootstrap_servers)).bootstrap_servers
        for program in programs:
            missing = _build(program)
            for broker in brokers:
                absent = missing or (why if broker != STUB else "")
                if absent:
                    yield Run(program.name, program.version(), broker, missing=absent)
                elif broker == KAFKA:
                    yield on_kafka(program, kafka, keep)
                elif broker == PROXY:
                    yield through_proxy(program, proxy, keep)
                else:
                    yield on_stub(program, keep, check)


def _build(program: Program) -> str:
    """Why it cannot be played; "" where it can."""
    try:
        program.build()
    except Unavailable as error:
        return str(error)
    return ""


def told(run: Run) -> str:
    """What is printed of a run."""
    if run.missing:
        return f"{run.program} on {run.broker}: not run: {run.missing}"
    head = f"{run.program} {run.version} on {run.broker}: {'failed' if run.failed else 'passed'} in {run.seconds:.1f} s"
    return "\n    ".join([head, *run.lines, *([f"✗ {run.failed}"] if run.failed else [])])


def main() -> int:
    """Run; gives the exit status."""
    parser = argparse.ArgumentParser(prog="make programs", description=__doc__)
    names = [program.name for program in PROGRAMS]
    parser.add_argument("--only", action="append", metavar="PROGRAM", choices=names, help=", ".join(names))
    parser.add_argument("--broker", choices=(STUB, KAFKA), help="one of the two")
    parser.add_argument("--proxy", action="store_true", help="Apache Kafka directly and through kafkastub proxy")
    parser.add_argument("--check", action="store_true", help="on the stub alone, with the guarantees checked")
    parser.add_argument("--kafka", default="", metavar="HOST:PORT", help="an Apache Kafka 4.4.0 that runs already")
    parser.add_argument("--keep", default="", metavar="FOLDER", help="leave there what the programs said")
    given = parser.parse_args()
    programs = [program for program in PROGRAMS if given.only is None or program.name in given.only]
    brokers = (
        [KAFKA, PROXY] if given.proxy else [STUB] if given.check else [given.broker] if given.broker else [STUB, KAFKA]
    )
    started = time.monotonic()
    found = []
    for run in runs(programs, brokers, given.kafka, given.keep, given.check):
        print(told(run), flush=True)
        found.append(run)
    seconds = time.monotonic() - started
    missing = [run for run in found if run.missing]
    bad = [run for run in found if run.failed] + document.different(found)
    print(f"{len(found)} runs in {seconds:.0f} s, {len(bad)} failed or differ")
    if given.broker is None and not given.proxy and not given.check and not missing:
        document.write(found)
    return int(bool(bad) or bool(missing and os.environ.get("CI") == "true"))


if __name__ == "__main__":
    sys.exit(main())
