"""`make clients`: every client of the matrix plays the scenario on the stub and on Apache Kafka.

Who speaks the consumer protocol (KIP-848) plays it once more with that, and who has share groups
(KIP-932) the scenario of those. A run of all of them on both writes
docs/clients.md and results.json; `--only`, `--broker` and `--protocol` run a part and write nothing, and so does
`--proxy`, which plays on Apache Kafka directly and through `kafkastub proxy`: what differs then has failed, too. The
exit status is 1 where a step failed. What this machine cannot run is told; in CI that is a failure too.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Final

from kafkastub import KafkaStub
from kafkastub.client.errors import ClientError
from tests.conftest import APACHE_CONFIG, CONFIG
from tests.in_front import InFront
from tests.matrix import document
from tests.matrix.clients import CLIENTS, Client, build
from tests.matrix.document import KAFKA, PROXY, STUB, Run
from tests.matrix.playing import FAILED, PASSED, WITNESS, Result, play
from tests.matrix.scenarios import SCENARIOS, SHARE
from tests.matrix.share_scenario import BROKER_CONFIG
from tests.oracle.apache_kafka import ApacheKafka
from tests.oracle.jars import OracleError
from tests.toolchains import Unavailable

SETTINGS: Final = {
    "group.consumer.min.heartbeat.interval.ms": 200,
    "group.consumer.heartbeat.interval.ms": 200,
    **BROKER_CONFIG,
}
"""In the newer protocols the broker tells how often a member speaks: every five seconds by default."""


def on_stub(client: Client, protocol: str, check: bool = False) -> Run:
    """A stub of its own, whose journal tells what the client speaks."""
    run = Run(client.name, client.version(), STUB, protocol)
    with KafkaStub(config={**CONFIG, **SETTINGS}, check=check) as stub:
        _play(run, client, stub.bootstrap_servers)
        if check:
            # a client without acknowledgements of its own lets records go to their last delivery, as the scenario wants
            found = stub.check(ignoring=["archived"]) if protocol == SHARE else stub.check()
            run.steps += [Result("guarantees", FAILED, one.cause) for one in found.findings]
        entries = stub.journal.requests(where=lambda entry: entry.client_id != WITNESS)
        for entry in entries:
            run.spoke.setdefault(entry.api, []).append(entry.api_version)
            if entry.sender.software_name not in ("", "unknown"):
                run.software = f"{entry.sender.software_name} {entry.sender.software_version}"
    run.spoke = {api: sorted(set(versions)) for api, versions in sorted(run.spoke.items())}
    return run


def on_kafka(client: Client, protocol: str, broker: str, bootstrap_servers: str) -> Run:
    """One Apache Kafka for all, and one proxy in front of it."""
    run = Run(client.name, client.version(), broker, protocol)
    _play(run, client, bootstrap_servers)
    return run


def _play(run: Run, client: Client, bootstrap_servers: str) -> None:
    started = time.monotonic()
    suffix = uuid.uuid4().hex[:8]
    try:
        run.steps = play(client.command(), bootstrap_servers, f"matrix-{suffix}", f"matrix-{suffix}", run.protocol)
    except (ClientError, OSError) as error:
        run.missing = f"{type(error).__name__}: {error}"
    run.seconds = time.monotonic() - started


def runs(
    clients: Sequence[Client],
    protocols: Sequence[str],
    brokers: Sequence[str],
    jobs: int,
    kafka: str,
    check: bool = False,
) -> Iterator[Run]:
    """Build what is needed, then play every client on every broker, `jobs` at the same time, as they end.

    `kafka` is the address of an Apache Kafka; "" starts one. With `check` the stub checks the guarantees.
    """
    kits: dict[str, str] = {}
    for kit in dict.fromkeys(client.kit for client in clients):
        started = time.monotonic()
        try:
            build(kit)
            kits[kit] = ""
            print(f"{kit}: built in {time.monotonic() - started:.1f} s", flush=True)
        except Unavailable as error:
            kits[kit] = str(error)
    with contextlib.ExitStack() as stack:
        why = ""
        if KAFKA in brokers and not kafka:
            try:
                kafka = stack.enter_context(ApacheKafka(config={**APACHE_CONFIG, **SETTINGS})).bootstrap_servers
            except OracleError as error:
                why = str(error).splitlines()[0]
        servers = {KAFKA: kafka}
        if PROXY in brokers and kafka:
            servers[PROXY] = stack.enter_context(InFront(kafka)).bootstrap_servers
        pool = stack.enter_context(ThreadPoolExecutor(jobs))
        waiting = []
        all_of_them = itertools.product(protocols, clients, brokers)
        for protocol, client, broker in all_of_them:
            if protocol not in client.protocols:
                continue
            missing = kits[client.kit] or (why if broker != STUB else "")
            if missing:
                yield Run(client.name, client.version(), broker, protocol, missing=missing)
            elif broker != STUB:
                waiting.append(pool.submit(on_kafka, client, protocol, broker, servers[broker]))
            else:
                waiting.append(pool.submit(on_stub, client, protocol, check))
        for done in as_completed(waiting):
            yield done.result()


def told(run: Run) -> str:
    """What is printed of a run."""
    if run.missing:
        return f"{run.client} on {run.broker}, {run.protocol}: not run: {run.missing}"
    counts = ", ".join(f"{count} {verdict}" for verdict, count in run.counts().items())
    lines = [f"{run.client} {run.version} on {run.broker}, {run.protocol}: {counts} in {run.seconds:.1f} s"]
    lines += [f"    {one.step}: {one.why}" for one in run.steps if one.verdict == FAILED]
    return "\n".join(lines)


def main() -> int:
    """Run; gives the exit status."""
    parser = argparse.ArgumentParser(prog="make clients", description=__doc__)
    names = [client.name for client in CLIENTS]
    parser.add_argument("--only", action="append", metavar="CLIENT", choices=names, help=", ".join(names))
    parser.add_argument("--broker", choices=(STUB, KAFKA), help="one of the two")
    parser.add_argument("--proxy", action="store_true", help="Apache Kafka directly and through kafkastub proxy")
    parser.add_argument("--check", action="store_true", help="on the stub alone, with the guarantees checked")
    parser.add_argument("--protocol", choices=tuple(SCENARIOS), help="one of the three")
    parser.add_argument("--jobs", type=int, default=2, help="how many programs at the same time (2)")
    parser.add_argument("--kafka", default="", metavar="HOST:PORT", help="an Apache Kafka 4.4.0 that runs already")
    given = parser.parse_args()
    clients = [client for client in CLIENTS if given.only is None or client.name in given.only]
    protocols = [given.protocol] if given.protocol else list(SCENARIOS)
    brokers = (
        [KAFKA, PROXY] if given.proxy else [STUB] if given.check else [given.broker] if given.broker else [STUB, KAFKA]
    )
    started = time.monotonic()
    found = []
    for run in runs(clients, protocols, brokers, given.jobs, given.kafka, given.check):
        print(told(run), flush=True)
        found.append(run)
    seconds = time.monotonic() - started
    missing = [run for run in found if run.missing]
    failed = [run for run in found if not run.missing and run.bad()]
    kinds = len({step.name for steps in SCENARIOS.values() for step in steps})
    passed = sum(one.verdict == PASSED for run in found for one in run.steps)
    print(f"{len(found)} runs in {seconds:.0f} s, {passed} steps of {kinds} kinds passed, {len(failed)} runs failed")
    differing = document.different(found)
    if given.proxy:
        print("\n".join([*differing, f"{len(differing)} steps differ through the proxy"]))
    elif given.only is given.broker is given.protocol is None and not missing and not given.check:
        document.write(found, seconds)
    return int(bool(failed or differing) or bool(missing and os.environ.get("CI") == "true"))


if __name__ == "__main__":
    sys.exit(main())
