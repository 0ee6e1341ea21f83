"""What came of a run in lines."""

from __future__ import annotations

from collections.abc import Iterator

from kafkastub.conformance.model import Frame, Outcome, Result, Status

LONGEST_FRAME = 2000
"""Hexadecimal digits of a frame that are printed; the JSON report has them all."""


def failure(result: Result) -> Iterator[str]:
    """A run that did not pass, with the fields that differ and the last frames."""
    case = result.run.case
    yield f"{result.run.id}: {result.status.value}"
    yield f"  shows   {case.shows}"
    yield f"  source  {case.source}"
    if result.differences:
        yield from (f"  {one}" for one in result.differences)
    else:
        yield f"  {result.reason}"
    for frame in result.frames[-4:]:
        yield from frame_lines(frame)


def frame_lines(frame: Frame) -> Iterator[str]:
    """A request and its answer."""
    yield f"  {frame.api} v{frame.version}"
    yield f"    request {_hex(frame.request)}"
    if frame.answer is not None:
        yield f"    answer  {_hex(frame.answer)}"
    else:
        yield "    answer  " + ("the connection was closed" if frame.closed else "none")


def summary(outcome: Outcome) -> str:
    """One line."""
    counts = [f"{outcome.count(status)} {status.value}" for status in Status if outcome.count(status)]
    ended = ", interrupted" if outcome.interrupted else ""
    told = ", ".join(counts) or "nothing was run"
    return f"{outcome.broker}, profile {outcome.profile}: {told} in {outcome.seconds:.1f} s{ended}"


def _hex(data: bytes) -> str:
    text = data.hex()
    return text if len(text) <= LONGEST_FRAME else f"{text[:LONGEST_FRAME]}… ({len(data)} bytes)"
