"""The life of one group after the log, and what another retention would have made of it.

`GroupHistory` is a small pure machine: the events of one group in the order of the log, nothing of Spark. It keeps the
group as the log has it, to explain each tombstone, and beside it a world for each retention that is tried, in which
offsets go when that retention says. What an administrator deleted is deleted in every world; what expired, or went for
no reason that is known, is not.

The broker sweeps when its clock comes to an expiry (the stub), or within `offsets.retention.check.interval.ms` (Kafka):
a world deletes at the first, exact time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from kafkastub_pipeline.roster import Part, Roster
from kafkastub_pipeline.rules import LAST_MS, MINUTE_MS

Place = tuple[str, int]
NOBODY: Final = "nobody"
"""In the place of an API: the journal is whole around a tombstone, and has no request for it."""


class Commit(NamedTuple):
    """A committed offset; times are broker milliseconds, -1 for none. The topic's id is None where it has none."""

    offset: int
    at: int
    expires: int
    topic_id: str | None = None


class Event(NamedTuple):
    """One record of the group.

    Attributes:
        kind: "commit", "offset tombstone", "group", "group tombstone"; "part": a record of a KIP-848 group; or "asked":
            a request of the journal that deletes, which counts in worlds where there is still something to delete.
        by: the API that a journal holds responsible for a tombstone, if there is one; or `NOBODY`.
        protocol_type: None for a group that never had members; that of a KIP-848 group is its type.
        subscribed: None where not known.
    """

    kind: str
    at: int
    log_offset: int
    topic: str | None = None
    partition: int | None = None
    commit: Commit | None = None
    by: str | None = None
    protocol_type: str | None = None
    empty: bool = True
    since: int | None = None
    subscribed: frozenset[str] | None = None
    group_type: str = "classic"
    part: Part | None = None


class Expiry(NamedTuple):
    """When something expires and by which rule; base is what its age counts from."""

    rule: str
    base: int | None
    at: int | None


@dataclass
class World:
    """A group as it is at some moment, under one retention."""

    retention_minutes: int
    kips: bool
    protocol_type: str | None = None
    empty: bool = True
    since: int | None = None
    subscribed: frozenset[str] | None = None
    group_type: str = "classic"
    offsets: dict[Place, Commit] = field(default_factory=dict)
    touched: int = -1
    """When the last thing happened to the group."""
    quiet_until: int = LAST_MS
    """No offset expires before this: a group is looked through when something may be due, and not at each event."""

    def __post_init__(self) -> None:
        self._retention_ms = self.retention_minutes * MINUTE_MS

    def expiry(self, topic: str, commit: Commit) -> Expiry:
        """`rules.with_expiry` for one offset."""
        if self.retention_minutes < 0:
            return Expiry("none", None, None)
        rule, base = self._considered(topic, commit)
        if commit.expires != -1 and (self.kips or rule != "none"):
            return Expiry("explicit", None, max(min(commit.expires, LAST_MS), 0))
        if base is None:
            return Expiry("none", None, None)
        return Expiry(rule, base, max(min(base + self.retention_minutes * MINUTE_MS, LAST_MS), 0))

    def _considered(self, topic: str, commit: Commit) -> tuple[str, int | None]:
        if self.protocol_type is None:
            return "simple", commit.at
        if self.group_type == "classic" and self.empty:
            return "empty", commit.at if self.since is None else self.since
        # share groups are of another protocol type
        if self._subscribes and self.subscribed is not None and topic not in self.subscribed:
            return "unsubscribed", commit.at
        return "none", None

    def take(self, place: Place, commit: Commit, at: int) -> None:
        """A commit: nine events in ten, so that this is where the time goes."""
        self.offsets[place] = commit
        self.touched = at
        if self.retention_minutes < 0:
            return
        soonest = commit.expires
        if soonest == -1:  # no rule lets it expire before this
            base = commit.at if self.since is None or commit.at < self.since else self.since
            soonest = base + self._retention_ms
        if soonest < self.quiet_until:
            self.quiet_until = soonest

    def apply(self, event: Event) -> None:
        """Another state of the group."""
        self.protocol_type, self.empty = event.protocol_type, event.empty
        self.since, self.subscribed, self.group_type = event.since, event.subscribed, event.group_type
        self.quiet_until = -1  # by other rules now
        self.touched = event.at

    def administer(self, event: Event) -> None:
        """An administrator's request, as far as the group's state allows it."""
        if event.by == "DeleteGroups" and not self.live:
            self.offsets.clear()
            self.forget_group()
        elif event.by == "OffsetDelete" and event.topic is not None and event.partition is not None:
            if not self.protects(event.topic):
                self.offsets.pop((event.topic, event.partition), None)
        elif event.by == "DeleteTopics":
            self.offsets = {place: commit for place, commit in self.offsets.items() if place[0] != event.topic}
        self.touched = event.at

    @property
    def live(self) -> bool:
        """It has members, so that DeleteGroups refuses it."""
        return self.protocol_type is not None and not self.empty

    def protects(self, topic: str) -> bool:
        """OffsetDelete refuses a partition of this topic (KIP-496)."""
        unsubscribed = self.subscribed is not None and topic not in self.subscribed
        return self.live and not (self._subscribes and unsubscribed)

    @property
    def _subscribes(self) -> bool:
        """Offsets of what it does not read are nobody's."""
        return self.protocol_type == "consumer" or self.group_type == "streams"

    def forget_group(self) -> None:
        """The group is removed: who commits now makes a simple one."""
        self.protocol_type, self.empty, self.since, self.subscribed = None, True, None, None
        self.group_type = "classic"


class Deletion(NamedTuple):
    """Of `retention_whatif`."""

    retention_minutes: int
    topic: str
    partition: int
    commit: Commit
    expiry: Expiry
    deleted_at: int
    came_back_at: int | None


class Explained(NamedTuple):
    """Of `deletion_audit`; a group's tombstone has neither topic nor commit.

    Attributes:
        reason: "expiry", an API's doing, "no offsets left", "repeated", "converted", "unexplained"; or "deletion": an
            API's doing of which this group alone does not tell whose.
        due: from when on nothing but the broker's next sweep was missing for the expiry.
        since: when the first of the commits came that this tombstone ends.
        protected: the group is alive, and an administrator may not delete the offset.
    """

    what: str
    topic: str | None
    partition: int | None
    commit: Commit | None
    at: int
    reason: str
    evidence: str
    expiry: Expiry
    log_offset: int
    due: int | None = None
    since: int | None = None
    protected: bool = False


_ADMINISTRATIVE: Final = {
    "OffsetDelete": "OffsetDelete",
    "DeleteGroups": "DeleteGroups",
    "DeleteTopics": "topic deletion",
}
_NEVER: Final = Expiry("none", None, None)


class GroupHistory:
    """Told the events of one group, one by one.

    Args:
        retentions: those to try, in minutes.
        kips: the profile is `kips`.
        broker_minutes: the broker's own retention; the first of the others where it is not known.
    """

    def __init__(self, retentions: Sequence[int], kips: bool, broker_minutes: int | None = None) -> None:
        self.real = World(retentions[0] if broker_minutes is None else broker_minutes, kips)
        self.worlds = [World(minutes, kips) for minutes in dict.fromkeys(retentions)]
        self._all = [self.real, *self.worlds]
        self._roster = Roster()
        self._waiting: dict[tuple[int, Place], Deletion] = {}
        """Deletions that nobody has come back after."""
        self._first: dict[Place, int] = {}
        """When the first commit came behind the last tombstone."""
        self._gone: dict[str, int] = {}
        """When the last offset went, for each reason."""
        self._changed_at = -1
        """When the group came into its state, as the log has it."""
        self._ended: tuple[str, Explained] | None = None
        """The last tombstone of the group and its type, until it is clear whether the group went on as another type."""

    def see(self, event: Event) -> Iterator[Deletion | Explained]:
        """What an event tells: about itself, and about what another retention would have done before it."""
        for world in self.worlds:
            if event.at >= world.quiet_until:
                self._sweep(world, event.at)
        if self._ended is not None and event.at != self._ended[1].at:
            yield self._ended[1]
            self._ended = None
        if event.part is not None:
            whole = self._put_together(event, event.part)
            if whole is None:
                return
            event = whole
        if event.kind == "asked":
            for world in self.worlds:
                world.administer(event)
        elif event.kind == "commit":
            assert event.topic is not None
            assert event.partition is not None
            assert event.commit is not None
            place = event.topic, event.partition
            self._first.setdefault(place, event.at)
            if self._waiting:
                yield from self._come_back(place, event.at)
            for world in self._all:
                world.take(place, event.commit, event.at)
        elif event.kind == "offset tombstone":
            yield self._offset_goes(event)
        elif event.kind == "group tombstone":
            yield from self._group_goes(event)
        else:
            self._convert(event)
            for world in self._all:
                world.apply(event)
            self._changed_at = event.at

    def end(self) -> Iterator[Deletion | Explained]:
        """Nothing more happens: everything that expires does."""
        if self._ended is not None:
            yield self._ended[1]
            self._ended = None
        for world in self.worlds:
            self._sweep(world, LAST_MS)
        yield from self._waiting.values()

    def alive(self) -> Iterator[tuple[str, int]]:
        """The topic of each offset that the log leaves, and when the first of the commits came that keep it alive."""
        for (topic, _), since in self._first.items():
            yield topic, since

    def _put_together(self, event: Event, part: Part) -> Event | None:
        """What a record of a KIP-848 group makes of the group; None where its state stays what it was."""
        before = self._roster.group_type
        self._roster.take(part)
        now = self._roster.group_type
        if now is None:
            if before is None:
                return None
            return Event("group tombstone", event.at, event.log_offset, by=event.by, group_type=before)
        empty, subscribed = not self._roster.members, self._roster.subscribed
        if (now, empty, subscribed) == (self.real.group_type, self.real.empty, self.real.subscribed):
            return None
        return Event(
            "group",
            event.at,
            event.log_offset,
            protocol_type=now,
            empty=empty,
            subscribed=subscribed,
            group_type=now,
        )

    def _convert(self, event: Event) -> None:
        """A group whose tombstone is followed at once by a record of another type goes on as that (KIP-848)."""
        if self._ended is not None:
            type_, ended = self._ended
            if type_ != event.group_type and ended.reason in ("no offsets left", "unexplained"):
                self._ended = type_, ended._replace(reason="converted", evidence="log")

    def _sweep(self, world: World, until: int) -> None:
        if until <= world.touched:
            return  # the clock has not moved since
        due: list[tuple[Place, Expiry, int]] = []
        world.quiet_until = LAST_MS
        for place, commit in world.offsets.items():
            expiry = world.expiry(place[0], commit)
            if expiry.at is None:
                continue
            if expiry.at <= until and expiry.at < LAST_MS:
                due.append((place, expiry, max(expiry.at, world.touched)))
            else:
                world.quiet_until = min(world.quiet_until, expiry.at)
        for place, expiry, at in due:
            commit = world.offsets.pop(place)
            self._waiting[world.retention_minutes, place] = Deletion(
                world.retention_minutes, *place, commit, expiry, at, None
            )
        if due and not world.offsets and world.empty:
            world.forget_group()

    def _come_back(self, place: Place, at: int) -> Iterator[Deletion]:
        for world in self.worlds:
            gone = self._waiting.pop((world.retention_minutes, place), None)
            if gone is not None:
                yield gone._replace(came_back_at=at)

    def _offset_goes(self, event: Event) -> Explained:
        assert event.topic is not None
        assert event.partition is not None
        place = event.topic, event.partition
        commit = self.real.offsets.pop(place, None)
        expiry = _NEVER if commit is None else self.real.expiry(event.topic, commit)
        due = None
        if commit is not None and expiry.at is not None:
            due = max(expiry.at, min(commit.at, event.at), self._changed_at)
        reason = _ADMINISTRATIVE.get(event.by or "", "")
        if not reason:
            if commit is None:
                reason = "repeated"
            elif expiry.at is not None and expiry.at <= event.at:
                reason = "expiry"
            else:
                reason = "unexplained" if event.by == NOBODY else "deletion"
        self._gone[reason] = event.at
        self.real.touched = event.at
        if reason not in ("expiry", "unexplained"):
            for world in self.worlds:
                world.offsets.pop(place, None)
                world.touched = event.at
        return Explained(
            "offset",
            *place,
            commit,
            event.at,
            reason,
            "journal" if reason == "unexplained" or event.by not in (None, NOBODY) else "log",
            expiry,
            event.log_offset,
            due,
            self._first.pop(place, None),
            self.real.protects(event.topic),
        )

    def _group_goes(self, event: Event) -> Iterator[Explained]:
        if self._ended is not None:
            yield self._ended[1]
        reason = _ADMINISTRATIVE.get(event.by or "", "")
        evidence = "journal" if reason else "log"
        if not reason:
            if self._gone.get("expiry") == event.at:
                reason = "expiry"
            elif self._gone.get("unexplained") == event.at:
                reason, evidence = "unexplained", "journal"
            elif self.real.offsets:
                reason = "unexplained"  # a group that is removed has none any more
            else:
                reason = "deletion" if self._gone.get("deletion") == event.at else "no offsets left"
        for world in self.worlds:
            if reason in ("DeleteGroups", "deletion"):
                world.offsets.clear()
            if not world.offsets:
                world.forget_group()
            if reason not in ("expiry", "unexplained"):
                world.touched = event.at
        self.real.forget_group()
        self.real.touched = self._changed_at = event.at
        explained = Explained("group", None, None, None, event.at, reason, evidence, _NEVER, event.log_offset)
        self._ended = event.group_type, explained
