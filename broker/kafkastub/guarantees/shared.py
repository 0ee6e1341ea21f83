"""A partition as a share group has it: who has which records, and which were released and not given again."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeVar

from kafkastub.guarantees.events import At, ShareGiven

MOST: Final = 2000
"""Ranges of one partition that are kept: as many records as Kafka lets a group have at once (by default)."""
MARGIN_NS: Final = 1_000_000_000
"""So long behind the end of an acquisition lock a broker may take to notice it."""
_NS: Final = 1_000_000
RELEASED: Final = "a release"
ENDED: Final = "the member's share session"
TIMED_OUT: Final = "its acquisition lock, after group.share.record.lock.duration.ms"
"""What the last delivery ended with."""


class Held(NamedTuple):
    """Records that a member has."""

    first: int
    end: int
    deliveries: int
    """How often they have been delivered, with this time."""
    member: str
    at: At
    """When it was given them, or renewed its acquisition lock."""
    lock_ms: int
    """How long it may have them; 0 if unknown."""


class Free(NamedTuple):
    """Records that nobody has, and nobody has accepted or rejected."""

    first: int
    end: int
    deliveries: int
    at: At
    member: str
    why: str


class Archived(NamedTuple):
    """Free records that a member was not given though it was given later ones."""

    first: int
    end: int
    deliveries: int
    at: At
    member: str
    why: str
    shown: At | None = None
    """The fetch that shows it; None if the delivery limit is known."""


T = TypeVar("T", Held, Free, Archived)


class SharedPartition:
    """Follows what is given, acknowledged and released."""

    __slots__ = ("archived", "free", "held")

    def __init__(self) -> None:
        self.held: list[Held] = []
        self.free: list[Free] = []
        self.archived: list[Archived] = []

    def given(self, event: ShareGiven) -> bool:
        """Note that records were given to a member. Return False if some had to be forgotten.

        A broker gives the first records that are free. Those before the last that it gave are not free any more.
        """
        for one in event.acquired:
            self.held = _without(self.held, one.first, one.end)
            self.free = _without(self.free, one.first, one.end)
            self.archived = _without(self.archived, one.first, one.end)
        for held in [one for one in self.held if _is_over(one, event.at)]:
            self.held.remove(held)
            self.free.append(Free(held.first, held.end, held.deliveries, held.at, held.member, TIMED_OUT))
        top = max((one.end for one in event.acquired), default=0)
        for free in [one for one in self.free if one.first < top and one.at.ended < event.at.began]:
            self.free.remove(free)
            if free.end > top:
                self.free.append(free._replace(first=top))
            if free.deliveries > 1:  # no delivery limit is below 2: whatever is missing then is gone for another reason
                end = min(free.end, top)
                self.archived.append(
                    Archived(free.first, end, free.deliveries, free.at, free.member, free.why, event.at)
                )  # fmt: skip
        self.held += [
            Held(one.first, one.end, one.deliveries, event.member, event.at, event.lock_ms) for one in event.acquired
        ]
        fits = max(len(self.held), len(self.free), len(self.archived)) <= MOST
        del self.held[:-MOST], self.free[:-MOST], self.archived[MOST:]
        return fits

    def forget(self, member: str, start: int, end: int) -> None:
        """Note that a member has accepted or rejected records, or that nobody knows what it has done with them."""
        self._take(member, start, end)

    def released(self, member: str, start: int, end: int, at: At) -> None:
        """Note that a member has released records."""
        self.free += [
            Free(one.first, one.end, one.deliveries, at, member, RELEASED) for one in self._take(member, start, end)
        ]

    def renewed(self, member: str, start: int, end: int, at: At) -> None:
        """Note that a member has renewed its acquisition lock."""
        self.held += [one._replace(at=at) for one in self._take(member, start, end)]

    def ended(self, member: str, at: At) -> None:
        """Note that a member has ended its session."""
        mine = [one for one in self.held if one.member == member]
        self.held = [one for one in self.held if one.member != member]
        self.free += [Free(one.first, one.end, one.deliveries, at, member, ENDED) for one in mine]

    def _take(self, member: str, start: int, end: int) -> list[Held]:
        """Take what a member has of these offsets out of what is held."""
        mine = [one for one in self.held if one.member == member and one.first < end and one.end > start]
        taken = [one._replace(first=max(one.first, start), end=min(one.end, end)) for one in mine]
        for one in mine:
            self.held.remove(one)
            self.held += _without([one], start, end)
        return taken


def _is_over(held: Held, at: At) -> bool:
    return held.lock_ms > 0 and at.began > held.at.ended + held.lock_ms * _NS + MARGIN_NS


def _without(ranges: list[T], start: int, end: int) -> list[T]:
    """The ranges without these offsets."""
    found: list[T] = []
    for one in ranges:
        if one.end <= start or one.first >= end:
            found.append(one)
            continue
        if one.first < start:
            found.append(one._replace(end=start))
        if one.end > end:
            found.append(one._replace(first=end))
    return found
