"""Random scenarios on Apache Kafka and on the stub, one after the other: `python -m tests.differential --seeds 1-200`.

Both are started for it, so that even what a guest does not touch is asked for. `kafkastub conform --against` compares
any two brokers.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from operator import attrgetter

from kafkastub_conformance.differential.admin import admin_script
from kafkastub_conformance.differential.consumers import consumer_script
from kafkastub_conformance.differential.data import data_script
from kafkastub_conformance.differential.groups import groups_script
from kafkastub_conformance.differential.report import text
from kafkastub_conformance.differential.running import Comparison, Result, Status, compare
from kafkastub_conformance.differential.script import Script
from kafkastub_conformance.differential.share_groups import share_script
from kafkastub_conformance.differential.shrink import SECONDS
from kafkastub_conformance.differential.streams_groups import streams_script
from kafkastub_conformance.differential.transactions import transactions_script
from tests.differential.access import access_script
from tests.differential.fuzz import broken_bytes, odd_values
from tests.differential.guarded import GUARDED_SCRIPTS
from tests.differential.handmade import SCRIPTS
from tests.differential.running import SAME_IDS, ByConfig, apache_kafka, started_once, stub
from tests.oracle.apache_kafka import OracleError

KINDS = (
    "groups", "consumer", "share", "streams", "data", "transactions", "admin", "odd", "broken", "access",
    *GUARDED_SCRIPTS,
)  # fmt: skip
MANY_STEPS: dict[str, Callable[..., Script]] = {
    "consumer": consumer_script,
    "share": share_script,
    "streams": streams_script,
    "data": data_script,
    "transactions": transactions_script,
    "admin": admin_script,
    **GUARDED_SCRIPTS,
}
"""Those of which the number of steps can be said."""

TOLD_EVERY = 50


def main() -> int:
    """Parse the command line, play, report."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--seeds", default="1-20", help="one seed, or a range FIRST-LAST (default 1-20)")
    parser.add_argument("--steps", type=int, help="of each scenario (default: 60 and more, by the seed)")
    parser.add_argument("--handmade", nargs="*", metavar="NAME", help="the hand-made ones whose names start so instead")
    parser.add_argument("--kind", choices=KINDS, default="groups", help="what the seeds are of (default groups)")
    parser.add_argument("--no-shrink", action="store_true", help="don't look for shorter scenarios")
    parser.add_argument("--itself", action="store_true", help="Apache Kafka in the stub's place: no difference")
    parser.add_argument("--release", default="", help="of Apache Kafka, 4.3.1, and the stub as of that version")
    parser.add_argument("--timeout", type=float, default=2.0, help="seconds to wait for an answer that is due")
    arguments = parser.parse_args()
    try:
        return _run(arguments)
    except OracleError as error:
        print(error, file=sys.stderr)
        return 2


def _run(arguments: argparse.Namespace) -> int:
    other = "Apache Kafka" if arguments.itself else "the stub"
    done = Comparison(other, "Apache Kafka", time.strftime("%FT%T"))
    expected = partial(apache_kafka, release=arguments.release)
    with started_once(expected) as kafka:
        other_one = expected if arguments.itself else partial(stub, release=arguments.release, like=kafka)
        with started_once(other_one) as tested:
            _compare(arguments, kafka, tested, done)
    print(text.summary(done))
    return 1 if done.bad else 0


def _compare(arguments: argparse.Namespace, kafka: ByConfig, tested: ByConfig, done: Comparison) -> None:
    shrinking = 0.0 if arguments.no_shrink else SECONDS
    chosen = sorted(_chosen(arguments), key=attrgetter("config"))

    def told(result: Result, _: int, __: int) -> None:
        _told(result, len(done.results), len(chosen))

    for config, scripts in groupby(chosen, attrgetter("config")):
        # Where the ids of topics decide who is assigned what, Kafka is asked twice in place of another one.
        same = arguments.itself and config in SAME_IDS
        brokers = kafka(config) if same else tested(config), kafka(config)
        compare(
            list(scripts),
            *brokers,
            timeout=arguments.timeout,
            shrinking=shrinking,
            progress=told,
            into=done,
        )


def _told(result: Result, done: int, all_of_them: int) -> None:
    for line in [] if result.status is Status.SAME else text.entry([result]):
        print(line, flush=True)
    if done % TOLD_EVERY == 0:
        print(f"{time.strftime('%T')} {done} of {all_of_them}", flush=True)


def _chosen(arguments: argparse.Namespace) -> Iterator[Script]:
    if arguments.handmade is not None:
        starts = tuple(arguments.handmade) or ("",)
        yield from (script for name, script in SCRIPTS.items() if name.startswith(starts))
        return
    first, _, last = arguments.seeds.partition("-")
    for seed in range(int(first), int(last or first) + 1):
        if arguments.kind == "groups":
            yield groups_script(seed, arguments.steps)
        elif arguments.kind in MANY_STEPS:
            yield MANY_STEPS[arguments.kind](seed, *([arguments.steps] if arguments.steps else []))
        else:
            yield {"odd": odd_values, "broken": broken_bytes, "access": access_script}[arguments.kind](seed)


if __name__ == "__main__":
    sys.exit(main())
