"""The report for programs: everything, as one JSON document."""

from __future__ import annotations

import json
from typing import Any

from kafkastub_conformance.differential.compare import Difference
from kafkastub_conformance.differential.running import Comparison, Result, Status
from kafkastub_conformance.differential.testcase import python_test, scenario_of
from kafkastub_conformance.reports.as_json import frame


def report(done: Comparison) -> str:
    """The document."""
    return json.dumps(document(done), indent=1, ensure_ascii=False) + "\n"


def document(done: Comparison) -> dict[str, Any]:
    """What is in it. Frames are hexadecimal, headers included."""
    return {
        "broker": done.tested,
        "against": done.reference,
        "began": done.began,
        "seconds": round(done.seconds, 3),
        "interrupted": done.interrupted,
        "summary": {status.value: done.count(status) for status in Status},
        "answers": done.answers,
        "one-sided": done.one_sided,
        "left behind": done.left,
        "results": [_result(result, done) for result in done.results],
    }


def _result(result: Result, done: Comparison) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": result.name,
        "status": result.status.value,
        "answers": result.answers,
        "steps": result.steps,
        "seconds": round(result.seconds, 4),
    }
    if result.reason:
        found["reason"] = result.reason
    if result.difference is not None:
        found |= _difference(result, result.difference, done)
    return found


def _difference(result: Result, difference: Difference, done: Comparison) -> dict[str, Any]:
    return {
        "step": difference.step.title(),
        "differences": [vars(field) for field in difference.fields],
        "frames": {
            "expected": list(map(frame, difference.step.frames)),
            "got": list(map(frame, difference.frames)),
        },
        "scenario": scenario_of(difference).to_json(),
        "test": python_test(difference, done.tested, done.reference, done.replay_command(result)),
    }
