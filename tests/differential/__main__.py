"""Random scenarios on Apache Kafka and on the stub, one after the other: `python -m tests.differential --seeds 1-200`.

Prints the first difference of every scenario that has one; ends with status 1 if there was any.
"""

from __future__ import annotations

import argparse
import sys

from tests.differential.compare import Difference
from tests.differential.data_generator import data_script
from tests.differential.fuzz import broken_bytes, odd_values
from tests.differential.generator import random_script
from tests.differential.handmade import SCRIPTS
from tests.differential.replay import replay
from tests.differential.running import apache_kafka, started_once, stub
from tests.differential.scripts import Script
from tests.differential.shrink import shrunk
from tests.oracle.apache_kafka import OracleError

RANDOM = {"random": random_script, "data": data_script, "odd": odd_values, "broken": broken_bytes}


def main() -> int:
    """Parse the command line, play, report."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--seeds", default="1-20", help="one seed, or a range FIRST-LAST (default 1-20)")
    parser.add_argument("--handmade", nargs="*", metavar="NAME", help="the hand-made ones whose names start so instead")
    parser.add_argument("--kind", choices=RANDOM, default="random", help="what the seeds are of (default random)")
    parser.add_argument("--shrink", action="store_true", help="look for the shortest scenario with the same difference")
    parser.add_argument("--itself", action="store_true", help="Apache Kafka in the stub's place: no difference")
    parser.add_argument("--timeout", type=float, default=2.0, help="seconds to wait for an answer that is due")
    arguments = parser.parse_args()
    try:
        return _run(arguments)
    except OracleError as error:
        print(error, file=sys.stderr)
        return 2


def _run(arguments: argparse.Namespace) -> int:
    scripts = _chosen(arguments)
    differences: list[Difference] = []
    with started_once(apache_kafka) as kafka, started_once(apache_kafka if arguments.itself else stub) as other:
        for script in scripts:
            scenario, _ = script.play(kafka(script.config))
            difference = replay(scenario, other(script.config), arguments.timeout)
            if difference is not None:
                if arguments.shrink:
                    difference = shrunk(difference, kafka(script.config), other(script.config))
                differences.append(difference)
                print(difference, end="\n\n", flush=True)
    print(f"{len(scripts)} scenarios, {len(differences)} of them different")
    for one in differences:
        print(f"  {one.scenario.name}, step {one.index}, {one.step.title()}: {one.fields[0]}")
    return 1 if differences else 0


def _chosen(arguments: argparse.Namespace) -> list[Script]:
    if arguments.handmade is not None:
        starts = tuple(arguments.handmade) or ("",)
        return [script for name, script in SCRIPTS.items() if name.startswith(starts)]
    first, _, last = arguments.seeds.partition("-")
    return [RANDOM[arguments.kind](seed) for seed in range(int(first), int(last or first) + 1)]


if __name__ == "__main__":
    sys.exit(main())
