"""What findings need of a broker."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from kafkastub.journal import Entry, Raw

if TYPE_CHECKING:
    from kafkastub.faults import FaultRule, HeldRequest
    from kafkastub.findings.fetching import Reading
    from kafkastub.server.broker import Broker


class Fault(Protocol):
    """A rule that was added."""

    @property
    def id(self) -> str: ...

    @property
    def rule(self) -> FaultRule: ...

    @property
    def hits(self) -> int: ...

    @property
    def held(self) -> Sequence[HeldRequest]: ...


class Chaos(Protocol):
    """Trouble from a seed or a list."""

    @property
    def running(self) -> bool: ...

    @property
    def seed(self) -> int | None: ...


class Watched(Protocol):
    """A broker that runs, with its faults and its chaos."""

    @property
    def faults(self) -> Iterable[Fault]: ...

    @property
    def chaos(self) -> Chaos: ...

    def running(self) -> Broker: ...


def reading(broker: Broker) -> Reading:
    """Return what makes an entry of the journal out of what the ring has."""
    ring = broker.observer.ring
    offset_ns = 0 if ring is None else ring.wall_offset_ns

    def entry(sequence: int, raw: Raw) -> Entry:
        return Entry(sequence, raw, offset_ns, broker.name_of)

    return entry
