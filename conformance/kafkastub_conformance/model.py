"""What the parts of the suite hand to each other: cases, their runs, and what came of them. Data only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from kafkastub_conformance.messages import KEYS, has_tags
from kafkawire.header import response_header_size

PROFILES = ("kafka", "kips")
AUTO = "auto"
"""The profile that the broker follows, whichever that is."""

FRAMES_KEPT = 12
"""So many of a failed run's last exchanges are reported."""


class Status(Enum):
    """What came of a run."""

    PASSED = "passed"
    FAILED = "failed"
    """The broker answered something else, nothing, or closed the connection."""
    ERROR = "error"
    """The case could not be played: the broker is gone, or what the case needs before did not work."""
    SKIPPED = "skipped"
    """The broker does not have what the case is about, or it would disturb what is there."""


@dataclass(frozen=True)
class Anomaly:
    """Whether a broker lets a client break one of the guarantees in docs/guarantees.md.

    `setting` is what the client has set: acks, idempotence, isolation level.
    """

    guarantee: str
    setting: str
    allowed: bool


@dataclass(frozen=True)
class Case:
    """One thing that a broker shall do.

    `run` plays it, and is given a `broker.Broker`.
    `versions` of the API `api` are those that it holds for; None is every version. `also` are further APIs that it
    cannot do without. `profile` is "both", or the one profile whose letter it follows. `since` is the first release of
    Apache Kafka that does so, "4.0", and `before` what earlier ones do. `clock` is whether it moves the broker's time,
    as nothing can but the control port of kafkastub.
    `anomaly` is what it shows about a guarantee that `kafkastub check` looks for, where it does.
    """

    id: str
    api: str
    shows: str
    source: str
    run: Callable[[Any], None]
    versions: tuple[int, int] | None = None
    also: tuple[str, ...] = ()
    profile: str = "both"
    slow: bool = False
    since: str = ""
    before: str = ""
    clock: bool = False
    anomaly: Anomaly | None = None

    def holds_for(self, profile: str) -> bool:
        """Whether it belongs to a profile, or may belong to the one that is still to be found out."""
        return self.profile == "both" or profile in (self.profile, AUTO)


@dataclass(frozen=True)
class Run:
    """A case at one version."""

    case: Case
    version: int

    @property
    def id(self) -> str:
        return f"{self.case.id}[v{self.version}]"


@dataclass(frozen=True)
class Difference:
    """A field that is not what it should be: `topics[0].partitions[1].error_code`."""

    path: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected}, got {self.got}"


@dataclass
class Frame:
    """One request and its answer as they went over the wire, headers included, without the size before them.

    `answer` is None until it came. `broken` marks a request that no encoder made: it may not come out of a codec as it
    went in.
    """

    api: str
    version: int
    request: bytes
    answer: bytes | None = None
    closed: bool = False
    broken: bool = False

    def body(self) -> bytes:
        """The answer without its header."""
        assert self.answer is not None
        return self.answer[response_header_size(KEYS[self.api], has_tags(self.api, self.version)) :]


@dataclass
class Result:
    """What came of a run. `reason` is one sentence; the rest is there for what failed."""

    run: Run
    status: Status
    seconds: float = 0.0
    reason: str = ""
    differences: list[Difference] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)

    @property
    def bad(self) -> bool:
        return self.status in (Status.FAILED, Status.ERROR)


@dataclass
class Outcome:
    """A whole run of the suite against one broker."""

    broker: str
    """HOST:PORT, or what the broker is called."""
    profile: str
    began: str
    """UTC, ISO 8601."""
    advertised: dict[str, tuple[int, int]]
    """The APIs that we know, by name, with their lowest and highest version."""
    served: dict[int, tuple[int, int]] = field(default_factory=dict)
    """The same by key, with those that we do not know, and those that are answered though not advertised."""
    results: list[Result] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False
    release: str = ""
    """The release of Apache Kafka, "4.3", that the broker was measured by."""
    notes: list[str] = field(default_factory=list)
    """What whoever runs the suite should know of the broker's configuration."""
    left: list[str] = field(default_factory=list)
    """Groups and topics that could not be removed."""

    def count(self, status: Status) -> int:
        return sum(result.status is status for result in self.results)

    @property
    def bad(self) -> list[Result]:
        return [result for result in self.results if result.bad]


class Clock(Protocol):
    """The broker's time in the hands of the suite: `KafkaStub.clock`, or the control port of one."""

    @property
    def frozen(self) -> bool:
        """Whether it stands still."""

    def freeze(self) -> None:
        """Let it stand still."""

    def unfreeze(self) -> None:
        """Let it go on from where it stands."""

    def advance(self, *, milliseconds: int) -> None:
        """Move it forward; what falls due has happened when it returns."""


class Mismatch(Exception):
    """The broker answered something else."""

    def __init__(self, differences: list[Difference]) -> None:
        self.differences = differences
        super().__init__("; ".join(map(str, differences[:3])) + ("; …" if len(differences) > 3 else ""))


class CaseError(Exception):
    """A mistake in the case itself."""


class Skipped(Exception):
    """The case does not apply to this broker; the message says why."""


Body = dict[str, Any]
"""A message as plain data: field to value, structs as dicts, arrays as lists."""
