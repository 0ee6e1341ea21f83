"""Two transcripts side by side: every field that differs, by its path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.differential.bodies import Json
from tests.differential.scenario import Scenario, Step

ABSENT = "(the default)"
"""A field that is not in a transcript holds its schema's default."""

BEFORE = 6
"""So many steps before the difference are shown."""


@dataclass
class Field:
    """One field that differs: `answers[0].members[1].error_code`, what Apache Kafka says, what the other says."""

    path: str
    kafka: Json
    other: Json

    def __str__(self) -> str:
        return f"{self.path}: Kafka {_short(self.kafka)}, here {_short(self.other)}"


@dataclass
class Difference:
    """The first step of a scenario after which the two brokers differ, and all its differing fields."""

    scenario: Scenario
    index: int
    fields: list[Field]
    frames: list[str] = field(default_factory=list)

    @property
    def step(self) -> Step:
        """The step in question, with Kafka's answers."""
        return self.scenario.steps[self.index]

    def __str__(self) -> str:
        lines = [f"{self.scenario.name}, step {self.index}: {self.step.title()}"]
        lines += [f"  {one}" for one in self.fields]
        lines += ["request and Kafka's answers:", "  " + json.dumps(self.step.to_json())]
        lines += ["frames:", *(f"  {frame}" for frame in self.frames)] if self.frames else []
        lines.append("steps before:")
        first = max(0, self.index - BEFORE)
        for number, step in enumerate(self.scenario.steps[first : self.index], first):
            lines.append(f"  {number} {step.title()} {json.dumps(step.body)} -> {json.dumps(step.answers)}")
        return "\n".join(lines)


def fields(kafka: Json, other: Json, path: str = "") -> Iterator[Field]:
    """All differing fields of two answers, in order."""
    if isinstance(kafka, dict) and isinstance(other, dict):
        for key in [*kafka, *(key for key in other if key not in kafka)]:
            inner = f"{path}.{key}" if path else key
            yield from fields(kafka.get(key, ABSENT), other.get(key, ABSENT), inner)
    elif isinstance(kafka, list) and isinstance(other, list) and len(kafka) == len(other):
        for index, (left, right) in enumerate(zip(kafka, other, strict=True)):
            yield from fields(left, right, f"{path}[{index}]")
    elif kafka != other or type(kafka) is not type(other):
        yield Field(path, kafka, other)


def _short(value: Json) -> str:
    text = value if value is ABSENT else json.dumps(value)
    return text if len(text) <= 300 else f"{text[:300]}… ({len(text)} characters)"
