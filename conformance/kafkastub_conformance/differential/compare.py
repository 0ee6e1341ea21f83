"""Two answers side by side: every field that differs, by its path; and what is told of a difference."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.scenario import Scenario, Step
from kafkastub_conformance.model import Frame
from kafkawire.errors import ErrorCode

ABSENT = "(the default)"
"""A field that is not in a transcript holds its schema's default."""

NOT_THERE = "(not there)"
"""What only one of two arrays has, in the other."""

NAMING = ("name", "topic", "group_id", "resource_name", "topic_id")
"""The fields that tell an array's elements apart, each where it is there and no two have the same."""

PLACE = re.compile(r"\[[^\]]*\]")
"""Where in an array: `[1]`, `[name=retention.ms]`."""

NUMBERED = re.compile(r"<[^<>]*>\w*")
"""Names that stand for something else in another scenario."""

BEFORE = 6
"""So many steps before the difference are shown."""

LONGEST_SHOWN = 300


@dataclass(frozen=True)
class Field:
    """One field that differs: `answer on c1.members[1].error_code`, `answer on c1.topics[name=t1].error_code`."""

    path: str
    expected: Json
    got: Json

    def __str__(self) -> str:
        return f"{self.path}: expected {value_text(self.expected, self.path)}, got {value_text(self.got, self.path)}"


@dataclass
class Difference:
    """The first step of a scenario after which a broker differs from what is expected, and all its differing fields.

    `frames` are those that the broker was sent or answered in this step.
    """

    scenario: Scenario
    index: int
    fields: list[Field]
    frames: list[Frame] = field(default_factory=list)

    @property
    def step(self) -> Step:
        """The step in question, with the expected answers."""
        return self.scenario.steps[self.index]

    @property
    def signature(self) -> tuple[str, str]:
        """What makes two differences the same one: the API, and the first field without its place in arrays."""
        return self.step.api, PLACE.sub("[]", self.fields[0].path)

    @property
    def kind(self) -> tuple[str, ...]:
        """The signature without connection and group, with the values: what is most likely the same mistake."""
        api, path = self.signature
        first = self.fields[0]
        plain = re.sub(r"answer on \w+|<p>\w+", "*", path)
        return (
            api,
            plain,
            *(json.dumps(NUMBERED.sub("<…>", json.dumps(value))) for value in (first.expected, first.got)),
        )

    def __str__(self) -> str:
        lines = [f"{self.scenario.name}, step {self.index + 1}: {self.step.title()}"]
        lines += [f"  {one}" for one in self.fields]
        lines += ["request and expected answers:", "  " + json.dumps(self.step.to_json())]
        for told, frames in (("expected", self.step.frames), ("got", self.frames)):
            lines += [f"frames, {told}:", *(f"  {frame_line(frame)}" for frame in frames)] if frames else []
        lines += ["steps before:"] if self.index else []
        first = max(0, self.index - BEFORE)
        for number, step in enumerate(self.scenario.steps[first : self.index], first + 1):
            lines.append(f"  {number} {step.title()} {json.dumps(step.body)} -> {json.dumps(step.answers)}")
        return "\n".join(lines)


def fields(expected: Json, got: Json, path: str = "") -> Iterator[Field]:
    """All differing fields of two answers, in order."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in [*expected, *(key for key in got if key not in expected)]:
            inner = f"{path}.{key}" if path else key
            yield from fields(expected.get(key, ABSENT), got.get(key, ABSENT), inner)
    elif isinstance(expected, list) and isinstance(got, list) and (paired := _paired(expected, got)) is not None:
        for place, left, right in paired:
            yield from fields(left, right, f"{path}[{place}]")
    elif expected != got or type(expected) is not type(got):
        yield Field(path, expected, got)


def _paired(expected: list[Json], got: list[Json]) -> list[tuple[object, Json, Json]] | None:
    """(place, expected, got) for every element that is to be compared; None where it is the arrays as a whole.

    Where elements have names, and the same ones are there or some of them are missing, the place is the name. Another
    order is a difference, too: by the place.
    """
    for key in NAMING:
        left, right = _by_name(expected, key), _by_name(got, key)
        both = left.keys() & right.keys()
        if both and (list(left) == list(right) or left.keys() != right.keys()):
            return [
                (f"{key}={name}", left.get(name, NOT_THERE), right.get(name, NOT_THERE)) for name in {**left, **right}
            ]
    if len(expected) != len(got):
        return None
    return [(index, one, other) for index, (one, other) in enumerate(zip(expected, got, strict=True))]


def _by_name(elements: list[Json], key: str) -> dict[str, Json]:
    """The elements by their field `key`; nothing where that does not tell them apart."""
    named = {one[key]: one for one in elements if isinstance(one, dict) and one.get(key) and isinstance(one[key], str)}
    return named if len(named) == len(elements) else {}


def value_text(value: Json, path: str = "") -> str:
    """A value in a line; an error code with its name."""
    if path.endswith("error_code") and (value == ABSENT or isinstance(value, int)):
        code = 0 if value == ABSENT else value
        known = code in set(ErrorCode)
        return f"{code} {ErrorCode(code).name}" if known else str(code)
    text = value if value in (ABSENT, NOT_THERE) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}… ({len(text)} characters)"


def frame_line(frame: Frame) -> str:
    """A request and its answer, headers included, as hexadecimal text."""
    answer = "closed" if frame.closed else "no answer"
    if frame.answer is not None:
        answer = frame.answer.hex()
    return f"{frame.api} v{frame.version} {frame.request.hex()} -> {answer}"
