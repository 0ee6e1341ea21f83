"""Records the golden transcripts from a live Apache Kafka 4.4.0: `python -m tests.golden.record`.

Every hand-made scenario and the random ones of `SEEDS` go to `transcripts/`, one file each; of what went over the wire
some frames of every API and version to `frames.jsonl`. Each scenario is played a second time on the same broker first:
what differs from run to run must not be recorded. What an older release does otherwise goes to `transcripts-4.3.1/`;
`--older` records that alone.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from functools import partial
from pathlib import Path

from kafkastub_conformance.differential.groups import groups_script
from kafkastub_conformance.differential.replay import replay
from kafkastub_conformance.differential.scenario import Scenario
from kafkastub_conformance.differential.script import Script
from kafkastub_conformance.differential.streams_groups import streams_script
from kafkastub_conformance.messages import versions
from kafkastub_conformance.model import Frame
from tests.differential.fuzz import broken_bytes, odd_values
from tests.differential.handmade import SCRIPTS
from tests.differential.running import apache_kafka, started_once
from tests.oracle.apache_kafka import OracleError

HERE = Path(__file__).resolve().parent
TRANSCRIPTS = HERE / "transcripts"
FRAMES = HERE / "frames.jsonl"

SEEDS = {groups_script: range(1, 26), odd_values: range(1, 9), broken_bytes: range(1, 9)}
OLDER = "4.3.1"
OLDER_TRANSCRIPTS = HERE / f"transcripts-{OLDER}"
OLDER_SEEDS = {streams_script: (2, 3, 5, 6, 10, 12)}
"""Without those that wait for delays and timeouts."""

FRAMES_EACH = 6
"""So many frames of one API and version, the ones whose answers differ most in length."""

FRAME_LIMIT = 1200
"""Bytes of a request or response that is recorded."""


class Unsteady(Exception):
    """Apache Kafka differs from itself."""


def main() -> int:
    """Record everything anew, or the older release's part."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden.record", description=__doc__)
    parser.add_argument("--older", action="store_true", help=f"only what is of {OLDER}")
    try:
        if not parser.parse_args().older:
            _record_reference()
        _record_older()
    except (OracleError, Unsteady) as error:
        print(error, file=sys.stderr)
        return 1 if isinstance(error, Unsteady) else 2
    return 0


def _record_reference() -> None:
    scripts = [*SCRIPTS.values(), *(kind(seed) for kind, seeds in SEEDS.items() for seed in seeds)]
    scenarios, frames = _played(scripts, "")
    _save(scenarios, TRANSCRIPTS)
    FRAMES.write_text("".join(f"{line}\n" for line in _lines(frames)))


def _record_older() -> None:
    scripts = [kind(seed) for kind, seeds in OLDER_SEEDS.items() for seed in seeds]
    _save(_played(scripts, OLDER)[0], OLDER_TRANSCRIPTS)


def _played(scripts: list[Script], release: str) -> tuple[list[Scenario], list[Frame]]:
    """The scenarios and all their frames. Raises Unsteady, OracleError."""
    frames: list[Frame] = []
    scenarios: list[Scenario] = []
    with started_once(partial(apache_kafka, release=release)) as kafka:
        for script in scripts:
            scenario, played = script.play(kafka(script.config))
            difference = replay(scenario, kafka(script.config))
            if difference is not None:
                raise Unsteady(f"Apache Kafka differs from itself:\n{difference}")
            scenarios.append(scenario)
            frames += [frame for frame in played if not frame.broken]
    return scenarios, frames


def _save(scenarios: list[Scenario], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.json"):
        old.unlink()
    for scenario in scenarios:
        scenario.save(folder / f"{scenario.name}.json")
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{len(scenarios)} scenarios, {size} bytes")


def _lines(frames: list[Frame]) -> list[str]:
    """One JSON document a frame: api, version, request and response as hexadecimal text, headers included."""
    chosen: dict[tuple[str, int], dict[int, Frame]] = defaultdict(dict)
    for frame in frames:
        known = frame.answer is not None and frame.version in versions(frame.api)
        if known and max(len(frame.request), len(frame.answer or b"")) < FRAME_LIMIT:
            chosen[frame.api, frame.version].setdefault(len(frame.answer or b""), frame)
    lines = []
    for _, by_length in sorted(chosen.items()):
        lengths = sorted(by_length)
        step = max(1, len(lengths) // FRAMES_EACH)
        for length in lengths[::step][:FRAMES_EACH]:
            lines.append(_line(by_length[length]))
    return lines


def _line(frame: Frame) -> str:
    assert frame.answer is not None
    saved = {
        "api": frame.api,
        "version": frame.version,
        "request": frame.request.hex(),
        "response": frame.answer.hex(),
    }
    return json.dumps(saved, separators=(",", ":"))


if __name__ == "__main__":
    sys.exit(main())
