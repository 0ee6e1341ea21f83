"""What of a stub the control port is given: the parts of it that a test in Python holds as well."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from kafkastub.findings import watched

if TYPE_CHECKING:
    from kafkastub.faults import Act, ChaosAct, FaultRule
    from kafkastub.registry.values import ResolvedSchema


class Clock(Protocol):
    """`stub.clock`."""

    def freeze(self) -> None: ...

    def unfreeze(self) -> None: ...

    def set(self, to: datetime | int) -> None:
        """Raises ValueError."""

    def advance(
        self,
        by: timedelta | None = None,
        *,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
        milliseconds: float = 0,
        timers: bool = False,
    ) -> None:
        """Raises ValueError."""


class Fault(watched.Fault, Protocol):
    """A rule that was added."""

    @property
    def matched(self) -> int: ...

    def release(self, n: int | None = None, at: int | None = None) -> int: ...
    def remove(self) -> None: ...


class Faults(Protocol):
    """`stub.faults`."""

    watchers: list[Callable[[], None]]
    """Called when a request has met a fault, and when one is held or released."""

    def add(self, rule: FaultRule) -> Fault:
        """Raises FaultError."""

    def clear(self) -> None: ...

    def __iter__(self) -> Iterator[Fault]: ...

    def __len__(self) -> int: ...


class Chaos(watched.Chaos, Protocol):
    """`stub.chaos`."""

    @property
    def level(self) -> int | None: ...

    @property
    def acts(self) -> Sequence[Act]: ...

    @property
    def played(self) -> Sequence[ChaosAct] | None: ...

    @property
    def left(self) -> int: ...

    def start(self, seed: int, level: int = 1) -> None:
        """Raises FaultError."""

    def play(self, acts: Iterable[ChaosAct]) -> None:
        """Raises FaultError."""

    def scenario(self, name: str) -> None:
        """Raises FaultError."""

    def stop(self) -> None: ...


class Schemas(Protocol):
    """The registry of a broker, as the control port asks it."""

    async def by_id(self, ids: Sequence[int], subject: str | None) -> Mapping[int, ResolvedSchema]:
        """Those of the ids that there are; of several subjects with an id, `subject` where it is one of them."""

    async def of_subject(self, subject: str) -> ResolvedSchema:
        """The latest version. Raises RegistryError."""
