"""What came of a comparison in lines."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from kafkastub_conformance.differential.compare import Difference
from kafkastub_conformance.differential.running import Comparison, Result, Status
from kafkastub_conformance.model import Frame
from kafkastub_conformance.reports.text import frame_lines, together


def entries(results: Iterable[Result]) -> list[list[Result]]:
    """The scenarios that were not the same on both; those together that could not be played for one reason."""
    told = (one for one in results if one.status is not Status.SAME)
    return together(told, lambda one: one.reason if one.status is Status.ERROR else "")


def title(results: list[Result]) -> str:
    """The first line of an entry."""
    first, *more = results
    return f"{first.name}{f' and {len(more)} more' if more else ''}: {first.status.value}"


def entry(results: list[Result]) -> Iterator[str]:
    """An entry in lines."""
    one = results[0]
    yield title(results)
    if one.reason:
        yield f"  {one.reason}"
    if one.like and one.difference is not None:
        yield f"  as {one.like}: {one.difference.step.title()}, {one.difference.fields[0]}"
        return
    if one.difference is not None:
        yield from difference(one.difference)


def difference(found: Difference) -> Iterator[str]:
    """The step, its fields, the frames on both sides."""
    count = found.index + 1
    shown = f"step {count}" if count > 1 else "its only step"
    yield f"  {found.step.title()}, {shown}"
    yield from (f"  {field}" for field in found.fields)
    for told, frames in (("expected", found.step.frames), ("got", found.frames)):
        yield from _frames(told, list(frames))


def _frames(told: str, frames: list[Frame]) -> Iterator[str]:
    if frames:
        yield f"  frames, {told}:"
    for frame in frames:
        yield from (textwrap.indent(line, "  ") for line in frame_lines(frame))


def summary(done: Comparison) -> str:
    """A line, and one for what was left out."""
    told = ", ".join(f"{done.count(status)} {status.value}" for status in Status if done.count(status))
    ended = ", interrupted" if done.interrupted else ""
    line = f"{done.tested} against {done.reference}: {len(done.results)} scenarios, {done.answers} answers and states"
    line += f" compared: {told or 'nothing was run'} in {done.seconds:.1f} s{ended}"
    if done.one_sided:
        line = f"not asked, as only one of the brokers has it: {', '.join(done.one_sided)}\n{line}"
    return line
