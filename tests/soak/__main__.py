"""python -m tests.soak: a broker for an hour with all kinds of clients, and what it holds in that time."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import time
from pathlib import Path

from tests.soak import report
from tests.soak.soak import KITS, SEED, soak
from tests.toolchains import CACHE

CYCLE_SECONDS = 45.0


def main() -> int:
    """Run; gives the exit status."""
    parser = argparse.ArgumentParser(prog="make soak-hour", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long (60)")
    parser.add_argument("--cycle", type=float, default=CYCLE_SECONDS, help="seconds between two changes (45)")
    parser.add_argument("--seed", type=int, default=SEED, help="of all faults")
    parser.add_argument(
        "--kits", nargs="*", default=KITS, choices=KITS, help="toolchains of tests/matrix whose programs play"
    )
    parser.add_argument("--json", type=Path, default=CACHE / "soak.json", help="where samples are written")
    parser.add_argument("--document", action="store_true", help="write the section of docs/performance.md and its plot")
    parser.add_argument("--from", dest="saved", type=Path, help="take a JSON of a run instead of running")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)  # of clients, which tell of each fault
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was started ends, too
    if given.saved is None:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        report.save(soak(given.minutes, given.cycle, kits=tuple(given.kits), seed=given.seed, say=_say), given.json)
    found = report.read(given.saved or given.json)
    print(report.told(found))
    if given.document:
        report.write(found)
    return int(bool(found["wrong"] or found["at_the_end"]))


def _say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
