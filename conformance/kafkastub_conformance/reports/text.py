"""What came of a run in lines."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from kafkastub_conformance.apis import Api, Shown, apis
from kafkastub_conformance.model import Frame, Outcome, Result, Status

T = TypeVar("T")

LONGEST_FRAME = 2000
"""Hexadecimal digits of a frame that are printed; the JSON report has them all."""

WIDTH = 120
"""Of lines that are wrapped."""

_KEPT = "\N{NO-BREAK SPACE}"
"""Between what stays on one line."""


def together(results: Iterable[T], why: Callable[[T], str]) -> list[list[T]]:
    """The results in their order; those in a row of which there is but one thing to say, the same `why`, are one entry.

    A broker that is gone has the same to say of every run.
    """
    entries: list[list[T]] = []
    for one in results:
        if entries and why(one) and why(one) == why(entries[-1][0]):
            entries[-1].append(one)
        else:
            entries.append([one])
    return entries


def entries(results: Iterable[Result]) -> list[list[Result]]:
    """Runs that did not pass; those together that failed for one reason, without any frames."""
    return together(results, lambda one: one.reason if one.status is Status.ERROR and not one.frames else "")


def entry(results: list[Result]) -> Iterator[str]:
    """An entry in lines."""
    first, *more = results
    if not more:
        yield from failure(first)
        return
    yield f"{first.run.id} and {len(more)} more: {first.status.value}"
    yield f"  {first.reason}"


def failure(result: Result) -> Iterator[str]:
    """A run that did not pass, with the fields that differ and the last frames."""
    case = result.run.case
    yield f"{result.run.id}: {result.status.value}"
    yield f"  shows   {case.shows}"
    yield f"  source  {case.source}"
    if case.profile != "both":
        yield f"  profile {case.profile} alone: the other one wants another answer"
    if result.differences:
        yield from (f"  {one}" for one in result.differences)
    else:
        yield f"  {result.reason}"
    for frame in result.frames[-4:]:
        yield from frame_lines(frame)


def frame_lines(frame: Frame) -> Iterator[str]:
    """A request and its answer."""
    yield f"  {frame.api} v{frame.version}"
    yield f"    request {shortened(frame.request)}"
    if frame.answer is not None:
        yield f"    answer  {shortened(frame.answer)}"
    else:
        yield "    answer  " + ("the connection was closed" if frame.closed else "none")


TOLD = {
    Shown.PLAYED: "played, with the runs that passed",
    Shown.SKIPPED: "skipped in every run",
    Shown.NOT_PLAYED: "advertised, none of their cases played",
    Shown.NO_CASE: "advertised, without a case in the suite",
    Shown.NOT_SERVED: "not advertised",
}
"""What is said of the APIs of a kind."""


def every_api(outcome: Outcome, named: bool = True) -> Iterator[str]:
    """What is shown of each API, in lines: of those of the release, and of what else the broker has.

    Args:
        named: whether each is; else those alone that were played.
    """
    found = apis(outcome)
    others = [api.name for api in found if api.release is None]
    more = f", and {', '.join(others)}" if others else ""
    yield f"the {len(found) - len(others)} APIs of Apache Kafka {outcome.release}{more}:"
    for shown, told in TOLD.items():
        own = [_api(api) for api in found if api.shown is shown]
        if own:
            line = f"  {len(own)} {told}" + (f": {', '.join(own)}" if named or shown is Shown.PLAYED else "")
            for one in textwrap.wrap(line, WIDTH, subsequent_indent="    ", break_on_hyphens=False):
                yield one.replace(_KEPT, " ")


def _api(api: Api) -> str:
    if api.shown is not Shown.PLAYED:
        return api.name
    passed = str(api.runs[Status.PASSED]) if api.fine else f"{api.runs[Status.PASSED]} of {api.played}"
    skipped = f" ({api.runs[Status.SKIPPED]} skipped)" if api.runs[Status.SKIPPED] else ""
    return f"{api.name} {passed}{skipped}".replace(" ", _KEPT)


def summary(outcome: Outcome) -> str:
    """One line."""
    counts = [f"{outcome.count(status)} {status.value}" for status in Status if outcome.count(status)]
    ended = ", interrupted" if outcome.interrupted else ""
    told = ", ".join(counts) or "nothing was run"
    return f"{outcome.broker}, profile {outcome.profile}: {told} in {outcome.seconds:.1f} s{ended}"


def shortened(data: bytes, where: str = "") -> str:
    """As hexadecimal digits, as far as they are printed; `where` the rest can be had."""
    text = data.hex()
    return text if len(text) <= LONGEST_FRAME else f"{text[:LONGEST_FRAME]}… ({len(data)} bytes{where})"
