"""The report for programs: everything, as one JSON document."""

from __future__ import annotations

import json
from typing import Any

from kafkastub_conformance.apis import Api, apis
from kafkastub_conformance.model import Frame, Outcome, Result, Status


def report(outcome: Outcome) -> str:
    """The document."""
    return json.dumps(document(outcome), indent=1, ensure_ascii=False) + "\n"


def document(outcome: Outcome) -> dict[str, Any]:
    """What is in it. Frames are hexadecimal, headers included."""
    return {
        "broker": outcome.broker,
        "profile": outcome.profile,
        "release": outcome.release,
        "notes": outcome.notes,
        "began": outcome.began,
        "seconds": round(outcome.seconds, 3),
        "interrupted": outcome.interrupted,
        "summary": {status.value: outcome.count(status) for status in Status},
        "left behind": outcome.left,
        "advertised": {api: list(between) for api, between in outcome.advertised.items()},
        "apis": [_api(api) for api in apis(outcome)],
        "results": [_result(result) for result in outcome.results],
    }


def _result(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": result.run.id,
        "api": result.run.case.api,
        "version": result.run.version,
        "status": result.status.value,
        "seconds": round(result.seconds, 4),
        "shows": result.run.case.shows,
        "source": result.run.case.source,
        "profile": result.run.case.profile,
    }
    if result.run.case.anomaly is not None:
        found["anomaly"] = vars(result.run.case.anomaly)
    if result.reason:
        found["reason"] = result.reason
    if result.differences:
        found["differences"] = [vars(one) for one in result.differences]
    if result.frames:
        found["frames"] = list(map(frame, result.frames))
    return found


def _api(api: Api) -> dict[str, Any]:
    """Versions are [first, last], null where there are none."""
    return {
        "api": api.name,
        "key": api.key,
        "release": None if api.release is None else list(api.release),
        "served": None if api.served is None else list(api.served),
        "cases": api.cases,
        "shown": api.shown.value,
        "runs": {status.value: api.runs[status] for status in Status},
    }


def frame(one: Frame) -> dict[str, Any]:
    """A request and its answer."""
    return {
        "api": one.api,
        "version": one.version,
        "request": one.request.hex(),
        "answer": None if one.answer is None else one.answer.hex(),
        "closed": one.closed,
    }
