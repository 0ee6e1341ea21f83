"""What the KIP tables say, as a program of a page: a witness that shares no code with the coordinator.

Offsets, what ends them, and when (KIP-211, KIP-229, KIP-289, KIP-496, KAFKA-20461; docs/profiles.md for the two
profiles). Who is a member of what, the tables do not say: that is `lives.Lives`, which tells the groups here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

Place = tuple[str, int]
"""Topic and partition."""

TOO_LATE = 2**63
NEVER = 2**100


@dataclass
class Offset:
    value: tuple[int, int, str]
    committed: int
    expires: int | None
    """Of a commit with its own retention."""


@dataclass
class Group:
    """`protocol_type` is None where the group only ever stored offsets, `subscribed` where that is not known."""

    since: int
    state: str = "Empty"
    protocol_type: str | None = None
    subscribed: frozenset[str] | None = None
    offsets: dict[Place, Offset] = field(default_factory=dict)

    def subscribes(self, topic: str) -> bool:
        return self.protocol_type == "consumer" if self.subscribed is None else topic in self.subscribed


class Model:
    """`tombstones` are (when, group, what): a place, or None for the group itself."""

    def __init__(self, kips: bool, retention: int, now: int, gone: Callable[[str], None]) -> None:
        self.kips, self.retention, self.now, self.gone = kips, retention, now, gone
        self.groups: dict[str, Group] = {}
        self.meters = Counter[str]()
        self.tombstones: list[tuple[int, str, Place | None]] = []

    def expiry(self, group: Group, topic: str, offset: Offset) -> int:
        """The table of DESIGN: when an offset expires, if nothing happens to its group until then."""
        if self.retention < 0:
            return NEVER
        if self.kips and offset.expires is not None:
            return offset.expires if offset.expires < TOO_LATE else NEVER
        if group.protocol_type is None:
            since = offset.committed
        elif group.state == "Empty":
            since = group.since
        elif group.state == "Stable" and group.protocol_type == "consumer" and not group.subscribes(topic):
            since = offset.committed
        else:
            return NEVER
        if offset.expires is None:
            return since + self.retention
        return offset.expires if offset.expires < TOO_LATE else 0  # 64 bits: the sum is negative

    def due(self) -> Iterator[tuple[int, str, Place | None]]:
        for name, group in self.groups.items():
            for place, offset in group.offsets.items():
                yield self.expiry(group, place[0], offset), name, place
            if group.state == "Empty" and not group.offsets:
                yield self.now, name, None

    def sweep(self) -> None:
        for at, name, place in list(self.due()):
            if at <= self.now and place is not None:
                self.end(name, [place], "offset-expirations")
        for name in [name for name, g in self.groups.items() if g.state == "Empty" and not g.offsets]:
            self.remove(name)

    def advance(self, ms: int) -> None:
        end = self.now + ms
        while (at := min((at for at, _, _ in self.due()), default=NEVER)) <= end:
            self.now = max(at, self.now)
            self.sweep()
        self.now = end

    def end(self, name: str, places: Iterable[Place], meter: str | None) -> None:
        offsets = self.groups[name].offsets
        for place in [place for place in places if place in offsets]:
            del offsets[place]
            self.tombstones.append((self.now, name, place))
            self.meters[meter] += meter is not None

    def remove(self, name: str) -> None:
        del self.groups[name]
        self.tombstones.append((self.now, name, None))
        self.gone(name)

    # -- requests, by group; what they answer --------------------------------------------------------------------

    def commit(self, name: str, places: Iterable[Place], value: tuple[int, int, str], own: int, version: int) -> int:
        if name == "" and self.kips and version >= 4:
            return 73
        group = self.groups.setdefault(name, Group(self.now))
        expires = None if own == -1 else self.now + own
        for place in places:
            group.offsets[place] = Offset(value, self.now, expires)
            self.meters["offset-commits"] += 1
        return 0

    def delete_offsets(self, name: str, places: list[Place]) -> dict[Place, int] | int:
        if name == "":
            return 24
        if name not in self.groups:
            return 69
        group = self.groups[name]
        if group.state != "Empty" and group.protocol_type != "consumer":
            return 68
        self.end(name, [place for place in places if not group.subscribes(place[0])], "offset-deletions")
        return {place: 86 if group.subscribes(place[0]) else 0 for place in places}

    def delete_group(self, name: str) -> int:
        if name not in self.groups:
            return 69
        if self.groups[name].state != "Empty":
            return 68
        self.end(name, list(self.groups[name].offsets), "offset-deletions" if self.kips else None)
        self.remove(name)
        return 0

    def delete_topic(self, topic: str) -> None:
        for name, group in self.groups.items():
            self.end(name, [place for place in group.offsets if place[0] == topic], None)
