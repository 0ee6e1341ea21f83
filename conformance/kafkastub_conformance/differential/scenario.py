"""A scenario: what is asked of a broker step by step, and what it should answer. Data only, saved as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.model import Frame

CLOSED = {"closed": True}
"""In place of an answer: the broker closed the connection."""

SILENT = {"silent": True}
"""In place of an answer: none came within the deadline."""

NO_CLIENT_ID = "(none)"
"""The client id of a connection that sends a null one."""

MORE = ("ignore", "transactional_ids", "consumer_groups", "share_groups", "streams_groups")
"""Fields of a scenario that are saved where they are not empty."""

Answers = list[tuple[str, Json]]
"""(connection, answer), by connection; of one connection in their order."""


@dataclass
class Step:
    """One step; exactly one of `api`, `close`, `until` and `pause_ms` is set.

    A request: on connection `on` (the client id; connected when first used) goes `api` at `version` with `body` as
    the module `bodies` has it, or the pieces `raw` in its place (see `bodies.pieces`), and the hexadecimal bytes
    `after` behind it; with `poll` it goes again and again until the answer is the one that is due
    (what a broker does in its own time); with `settle` what it changes in the cluster is awaited. `close` closes a
    connection. `until` waits for group states: {group: state}. `pause_ms` lets that much time pass, in real life.

    `answers` came because of the step: often its own, none where the request is parked, several where it releases
    others. `state` describes the groups that are different after it.
    """

    on: str = ""
    api: str = ""
    version: int = 0
    body: dict[str, Json] = field(default_factory=dict)
    raw: list[Json] | None = None
    after: str = ""
    poll: bool = False
    settle: bool = False
    close: str = ""
    until: dict[str, str] = field(default_factory=dict)
    pause_ms: int = 0
    answers: Answers = field(default_factory=list)
    state: dict[str, Json] = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=list, compare=False, repr=False)
    """What went over the wire where it was made; not saved."""

    def title(self) -> str:
        """The step in a few words."""
        if self.close:
            return f"close {self.close}"
        if self.pause_ms:
            return f"pause {self.pause_ms} ms"
        return f"until {self.until}" if self.until else f"{self.api} v{self.version} on {self.on}"

    def to_json(self) -> dict[str, Json]:
        """Only what is set."""
        names = ("on", "api", "body", "after", "poll", "settle", "close", "until", "pause_ms", "answers", "state")
        saved = {name: getattr(self, name) for name in names if getattr(self, name)}
        if self.api:
            saved["version"] = self.version
        if self.raw is not None:
            saved["raw"] = self.raw
        return saved

    @staticmethod
    def from_json(saved: Mapping[str, Json]) -> Step:
        """The reverse of `to_json`."""
        step = Step(**saved)
        step.answers = [(on, answer) for on, answer in step.answers]
        return step


@dataclass
class Scenario:
    """Steps on a broker; `config` is for the tests' own use, the name of its settings.

    `groups` are watched: each is described after every step. So are `transactional_ids`, once no marker is under way,
    and `consumer_groups`, those of the newer protocol, `share_groups`, with what is kept of their partitions, and
    `streams_groups`, with the topics that the broker makes for them.
    """

    name: str
    groups: list[str]
    config: str = "plain"
    steps: list[Step] = field(default_factory=list)
    ignore: list[str] = field(default_factory=list)
    """Fields of answers that were left out."""
    transactional_ids: list[str] = field(default_factory=list)
    consumer_groups: list[str] = field(default_factory=list)
    share_groups: list[str] = field(default_factory=list)
    streams_groups: list[str] = field(default_factory=list)

    @property
    def answers(self) -> int:
        """So many answers and states it has to be compared with."""
        return sum(len(step.answers) + len(step.state) for step in self.steps)

    def to_json(self) -> dict[str, Json]:
        """As plain data."""
        steps = [step.to_json() for step in self.steps]
        return self._head() | {"steps": steps}

    def _head(self) -> dict[str, Json]:
        head: dict[str, Json] = {"name": self.name, "config": self.config, "groups": self.groups}
        more = {name: getattr(self, name) for name in MORE if getattr(self, name)}
        return head | more

    @staticmethod
    def from_json(saved: Mapping[str, Json]) -> Scenario:
        """The reverse of `to_json`. Raises KeyError, TypeError and ValueError for what is no scenario."""
        steps = [Step.from_json(one) for one in saved["steps"]]
        more = (list(saved.get(name, ())) for name in MORE)
        return Scenario(saved["name"], list(saved["groups"]), saved.get("config", "plain"), steps, *more)

    def save(self, path: Path) -> None:
        """Write it as one JSON document with a line a step."""
        lines = ",\n".join(_compact(step.to_json()) for step in self.steps)
        path.write_text(f'{_compact(self._head())[:-1]},"steps":[\n{lines}\n]}}\n')

    @staticmethod
    def load(path: Path) -> Scenario:
        """Read what `save` wrote."""
        return Scenario.from_json(json.loads(path.read_text()))


def _compact(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)
