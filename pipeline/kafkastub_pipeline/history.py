"""The life of one group after the log, and what another retention would have made of it.

`GroupHistory` is a small pure machine: the events of one group in the order of the log, nothing of Spark. It keeps the
group as the log has it, to explain each tombstone, and beside it a world for each retention that is tried, in which
offsets go when that retention says. What an administrator deleted is deleted in every world; what expired is not.

The broker sweeps when its clock comes to an expiry (the stub), or within `offsets.retention.check.interval.ms` (Kafka):
a world deletes at the first, exact time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from kafkastub_pipeline.rules import LAST_MS, MINUTE_MS

Place = tuple[str, int]


class Commit(NamedTuple):
    """A committed offset; times are broker milliseconds, -1 for none."""

    offset: int
    at: int
    expires: int


class Event(NamedTuple):
    """One record of the group.

    Attributes:
        kind: "commit", "offset tombstone", "group", "group tombstone"; or "asked": a request of the journal that
            deletes, which counts in worlds where there is still something to delete.
        by: the API that a journal holds responsible for a tombstone, if there is one.
        protocol_type: None for a group that never had members.
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
    offsets: dict[Place, Commit] = field(default_factory=dict)
    touched: int = -1
    """When the last thing happened to the group."""
    quiet_until: int = LAST_MS
    """No offset expires before this: a group is looked through when something may be due, and not at each event."""

    def expiry(self, topic: str, commit: Commit) -> Expiry:
        """`rules.with_expiry` for one offset."""
        if self.retention_minutes < 0:
            return Expiry("none", None, None)
        rule, base = self._considered(topic, commit)
        if commit.expires != -1 and (self.kips or rule != "none"):
            return Expiry("explicit", None, max(min(commit.expires, LAST_MS), 0))
        if base is None:
            return Expiry("none", None, None)
        return Expiry(rule, base, min(base + self.retention_minutes * MINUTE_MS, LAST_MS))

    def _considered(self, topic: str, commit: Commit) -> tuple[str, int | None]:
        if self.protocol_type is None:
            return "simple", commit.at
        if self.empty:
            return "empty", commit.at if self.since is None else self.since
        known = self.protocol_type == "consumer" and self.subscribed is not None
        if known and self.subscribed is not None and topic not in self.subscribed:
            return "unsubscribed", commit.at
        return "none", None

    def _soonest(self, commit: Commit) -> int:
        """No rule lets a commit expire before this."""
        if self.retention_minutes < 0:
            return LAST_MS
        if commit.expires != -1:
            return commit.expires
        base = commit.at if self.since is None else min(commit.at, self.since)
        return base + self.retention_minutes * MINUTE_MS

    def apply(self, event: Event) -> None:
        if event.kind == "commit":
            assert event.topic is not None
            assert event.partition is not None
            assert event.commit is not None
            self.offsets[event.topic, event.partition] = event.commit
            self.quiet_until = min(self.quiet_until, self._soonest(event.commit))
        elif event.kind == "group":
            self.protocol_type, self.empty = event.protocol_type, event.empty
            self.since, self.subscribed = event.since, event.subscribed
            self.quiet_until = -1  # by other rules now
        self.touched = event.at

    def administer(self, event: Event) -> None:
        """An administrator's request, as far as the group's state allows it."""
        live = self.protocol_type is not None and not self.empty
        if event.by == "DeleteGroups" and not live:
            self.offsets.clear()
            self.forget_group()
        elif event.by == "OffsetDelete" and event.topic is not None and event.partition is not None:
            subscribed = self.subscribed is None or event.topic in self.subscribed
            if not live or (self.protocol_type == "consumer" and not subscribed):
                self.offsets.pop((event.topic, event.partition), None)
        elif event.by == "DeleteTopics":
            self.offsets = {place: commit for place, commit in self.offsets.items() if place[0] != event.topic}
        self.touched = event.at

    def forget_group(self) -> None:
        """The group is removed: who commits now makes a simple one."""
        self.protocol_type, self.empty, self.since, self.subscribed = None, True, None, None


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
    """Of `deletion_audit`; a group's tombstone has neither topic nor commit."""

    what: str
    topic: str | None
    partition: int | None
    commit: Commit | None
    at: int
    reason: str
    evidence: str
    expiry: Expiry
    log_offset: int


_ADMINISTRATIVE: Final = {
    "OffsetDelete": "OffsetDelete",
    "DeleteGroups": "DeleteGroups",
    "DeleteTopics": "topic deletion",
}
_NEVER: Final = Expiry("none", None, None)


class GroupHistory:
    """Told the events of one group, one by one.

    Args:
        retentions: in minutes; the first is the broker's own.
        kips: the profile is `kips`.
        horizon_ms: deletions after this are told too, up to the end of time, where nothing happens any more.
    """

    def __init__(self, retentions: Sequence[int], kips: bool) -> None:
        self.real = World(retentions[0], kips)
        self.worlds = [World(minutes, kips) for minutes in dict.fromkeys(retentions)]
        self._waiting: dict[tuple[int, Place], Deletion] = {}
        """Deletions that nobody has come back after."""
        self._expired_at = self._deleted_at = -1
        """When the last offset went, by expiry and otherwise."""

    def see(self, event: Event) -> Iterator[Deletion | Explained]:
        """What an event tells: about itself, and about what another retention would have done before it."""
        for world in self.worlds:
            if event.at >= world.quiet_until:
                self._sweep(world, event.at)
        if event.kind == "asked":
            for world in self.worlds:
                world.administer(event)
            return
        if event.kind == "commit":
            yield from self._come_back(event)
        applies, deleted_by = True, None
        if event.kind.endswith("tombstone"):
            explained = self._explain(event)
            yield explained
            applies = explained.reason != "expiry"
            deleted_by = explained.reason
        for world in (self.real, *self.worlds):
            if event.kind == "offset tombstone":
                if applies or world is self.real:
                    assert event.topic is not None
                    assert event.partition is not None
                    world.offsets.pop((event.topic, event.partition), None)
            elif event.kind == "group tombstone":
                whole = world is self.real or "DeleteGroups" in (event.by, deleted_by)
                if whole:
                    world.offsets.clear()
                if not world.offsets:
                    world.forget_group()
            else:
                world.apply(event)
            if applies or world is self.real:
                world.touched = event.at

    def end(self) -> Iterator[Deletion]:
        """Nothing more happens: everything that expires does."""
        for world in self.worlds:
            self._sweep(world, LAST_MS)
        yield from self._waiting.values()

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

    def _come_back(self, event: Event) -> Iterator[Deletion]:
        assert event.topic is not None
        assert event.partition is not None
        for world in self.worlds:
            gone = self._waiting.pop((world.retention_minutes, (event.topic, event.partition)), None)
            if gone is not None:
                yield gone._replace(came_back_at=event.at)

    def _explain(self, event: Event) -> Explained:
        evidence = "log" if event.by is None else "journal"
        if event.kind == "group tombstone":
            reason = _ADMINISTRATIVE.get(event.by or "", "")
            if not reason:
                if self._expired_at == event.at:
                    reason = "expiry"
                else:
                    reason = "DeleteGroups" if self._deleted_at == event.at else "no offsets left"
            return Explained("group", None, None, None, event.at, reason, evidence, _NEVER, event.log_offset)
        assert event.topic is not None
        assert event.partition is not None
        commit = self.real.offsets.get((event.topic, event.partition))
        expiry = _NEVER if commit is None else self.real.expiry(event.topic, commit)
        due = expiry.at is not None and expiry.at <= event.at
        reason = _ADMINISTRATIVE.get(event.by or "", "")
        if not reason:
            reason = "expiry" if due else "deletion" if commit is not None else "repeated"
        if reason == "expiry":
            self._expired_at = event.at
        elif reason == "deletion":
            self._deleted_at = event.at
        return Explained(
            "offset", event.topic, event.partition, commit, event.at, reason, evidence, expiry, event.log_offset
        )
