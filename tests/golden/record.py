"""Records the golden transcripts from a live Apache Kafka 4.4.0: `python -m tests.golden.record`.

Every hand-made scenario and the random ones of `SEEDS` go to `transcripts/`, one file each; of what went over the wire
some frames of every API and version to `frames.jsonl`. Each scenario is played a second time on the same broker first:
what differs from run to run must not be recorded.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

from kafkastub.conformance.differential.groups import groups_script
from kafkastub.conformance.differential.replay import replay
from kafkastub.conformance.differential.scenario import Scenario
from kafkastub.conformance.messages import versions
from kafkastub.conformance.model import Frame
from tests.differential.fuzz import broken_bytes, odd_values
from tests.differential.handmade import SCRIPTS
from tests.differential.running import apache_kafka, started_once
from tests.oracle.apache_kafka import OracleError

HERE = Path(__file__).resolve().parent
TRANSCRIPTS = HERE / "transcripts"
FRAMES = HERE / "frames.jsonl"

SEEDS = {groups_script: range(1, 26), odd_values: range(1, 9), broken_bytes: range(1, 9)}
FRAMES_EACH = 6
"""So many frames of one API and version, the ones whose answers differ most in length."""

FRAME_LIMIT = 1200
"""Bytes of a request or response that is recorded."""


def main() -> int:
    """Record everything anew."""
    scripts = [*SCRIPTS.values(), *(kind(seed) for kind, seeds in SEEDS.items() for seed in seeds)]
    frames: list[Frame] = []
    scenarios: list[Scenario] = []
    try:
        with started_once(apache_kafka) as kafka:
            for script in scripts:
                scenario, played = script.play(kafka(script.config))
                difference = replay(scenario, kafka(script.config))
                if difference is not None:
                    print(f"Apache Kafka differs from itself:\n{difference}", file=sys.stderr)
                    return 1
                scenarios.append(scenario)
                frames += [frame for frame in played if not frame.broken]
    except OracleError as error:
        print(error, file=sys.stderr)
        return 2
    TRANSCRIPTS.mkdir(exist_ok=True)
    for old in TRANSCRIPTS.glob("*.json"):
        old.unlink()
    for scenario in scenarios:
        scenario.save(TRANSCRIPTS / f"{scenario.name}.json")
    FRAMES.write_text("".join(f"{line}\n" for line in _lines(frames)))
    size = sum(path.stat().st_size for path in (*TRANSCRIPTS.iterdir(), FRAMES))
    print(f"{len(scenarios)} scenarios, {size} bytes with the frames")
    return 0


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
