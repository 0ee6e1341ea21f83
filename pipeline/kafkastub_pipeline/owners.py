"""Who held which partition, or task, of a group with epochs: its records, one moment after the other.

A member holds what its newest `…_CURRENT_MEMBER_ASSIGNMENT` names, what it is to give up included: it reads on until it
has given it up. What nobody holds, while the group has members, is without an owner: nobody reads it. The cause is what
happened last to the group: who came, who went, whose subscription changed; else a new epoch, as of partitions that
were added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Final, NamedTuple

from kafkastub_pipeline.roster import MEMBERS
from kafkawire.offsets_topic import RecordType

HOLDINGS: Final = {
    int(RecordType.CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT): "consumer",
    int(RecordType.SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT): "share",
    int(RecordType.STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT): "streams",
}
"""The record that says what a member of a group of each type has."""
JOINED, LEFT, CHANGED, EPOCH = "member joined", "member left", "subscription changed", "new epoch"


class Place(NamedTuple):
    """A partition, by its topic's id, or a task, by its role and subtopology."""

    topic_id: str | None
    role: str | None
    subtopology: str | None
    partition: int


class Span(NamedTuple):
    """A place with an owner, or without one, from one moment to another.

    Attributes:
        member_id: None where it has no owner.
        until_ms: None where that goes on.
        epoch: the member's, when it was given the place.
        cause: why it has no owner.
    """

    group_type: str
    place: Place
    member_id: str | None
    from_ms: int
    until_ms: int | None
    epoch: int | None
    cause: str | None


class Owners:
    """Of one group."""

    def __init__(self) -> None:
        self._type = ""
        self._members: dict[str, tuple[str, ...]] = {}
        self._held: dict[str, dict[Place, tuple[int, int | None]]] = {}
        """Of each member what it holds, since when, and in which epoch it was given it."""
        self._free: dict[Place, tuple[int, str]] = {}
        """What nobody holds, since when, and why."""
        self._cause = EPOCH

    def moment(self, at_ms: int, records: Iterable[dict[str, Any]]) -> Iterator[Span]:
        """Apply what was written at one moment; returns what has ended with it."""
        before = self._owned()
        for record in records:
            kind = record["record_type"]
            if kind in MEMBERS:
                self._member(record)
            elif kind in HOLDINGS:
                self._type = HOLDINGS[kind]
                yield from self._holding(at_ms, record)
        now = self._owned()
        for place in now & self._free.keys():
            since, cause = self._free.pop(place)
            if since < at_ms:
                yield Span(self._type, place, None, since, at_ms, None, cause)
        if not self._members:  # nobody is there who could read
            for place, (since, cause) in self._free.items():
                if since < at_ms:
                    yield Span(self._type, place, None, since, at_ms, None, cause)
            self._free.clear()
            return
        for place in before - now:
            self._free.setdefault(place, (at_ms, self._cause))

    def rest(self) -> Iterator[Span]:
        """What goes on at the end."""
        for member, places in self._held.items():
            for place, (since, epoch) in places.items():
                yield Span(self._type, place, member, since, None, epoch, None)
        for place, (since, cause) in self._free.items():
            yield Span(self._type, place, None, since, None, None, cause)

    def _owned(self) -> set[Place]:
        return {place for places in self._held.values() for place in places}

    def _member(self, record: dict[str, Any]) -> None:
        name, topics = record["member_id"], tuple(record["topics"] or ())
        if record["tombstone"]:
            if self._members.pop(name, None) is not None:
                self._cause = LEFT
            return
        if name not in self._members:
            self._cause = JOINED
        elif set(self._members[name]) != set(topics):
            self._cause = CHANGED
        self._members[name] = topics

    def _holding(self, at_ms: int, record: dict[str, Any]) -> Iterator[Span]:
        name = record["member_id"]
        modern = {} if record["tombstone"] else record["modern"] or {}
        places = set(_places(modern))
        held = self._held.setdefault(name, {})
        for place in held.keys() - places:
            since, epoch = held.pop(place)
            if since < at_ms:
                yield Span(self._type, place, name, since, at_ms, epoch, None)
        for place in places - held.keys():
            held[place] = at_ms, modern.get("epoch")
        if not held:
            del self._held[name]


def _places(modern: dict[str, Any]) -> Iterator[Place]:
    for name in ("assigned", "pending_revocation"):
        for one in modern.get(name) or ():
            for partition in one["partitions"]:
                yield Place(one["topic_id"], None, None, partition)
    for name in ("tasks", "pending_tasks"):
        for one in modern.get(name) or ():
            for partition in one["partitions"]:
                yield Place(None, one["role"], one["subtopology"], partition)


def spans_of(records: Iterable[dict[str, Any]]) -> Iterator[Span]:
    """Everything that the records of one group tell, which are in the order of the log."""
    owners = Owners()
    for at_ms, of_moment in groupby(records, key=lambda record: int(record["log_ms"])):
        yield from owners.moment(at_ms, of_moment)
    yield from owners.rest()
