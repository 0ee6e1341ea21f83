"""Whether members of a group ask for the records that are left to them, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkastub.findings.fetching import LastFetch, Looked, Place, Wanted, last_fetches
from kafkastub.findings.finding import Finding, Level, Subject, many, named, seconds
from kafkastub.findings.watched import Watched, reading

if TYPE_CHECKING:
    from kafkastub.coordinator.group import Group
    from kafkastub.state.broker_state import BrokerState
    from kafkastub.state.group_timers import Heard
    from kafkastub.views.groups import MemberView

_SILENT_MS: Final = 10_000
"""Members are heard of every few seconds, by default; who is not may be gone."""
_OVERDUE: Final = 3.0
"""Seconds: so long after a throttled client may ask again it is still taken for one."""
_OTHERS: Final = 10
"""Groups of a client id whose members are looked at."""
_END: Final = -1
"""The time of a ListOffsets that asks for the end of the log, as `auto.offset.reset=latest` does."""


class Behind:
    """Partitions with records that the group has not committed: behind an offset, or without any.

    Attributes:
        places, never: those with a committed offset, and those without one.
        undecided: those where readers of committed records have come to an open transaction, and where it begins …
        open: … and what tells of it.
        beyond: those whose committed offset is behind the end of the log.
        ids: of their topics.
    """

    def __init__(self) -> None:
        self.places: list[Place] = []
        self.never: list[Place] = []
        self.undecided: dict[Place, int] = {}
        self.open: dict[Place, Finding] = {}
        self.beyond: list[Place] = []
        self.ids: dict[str, bytes] = {}


class _Verdict(NamedTuple):
    """A sentence, before and after the partitions that it is about, and how bad it is; of equal ones, one is told."""

    level: Level
    before: str
    after: str
    subject: Subject = "journal"


def of_readers(
    watched: Watched, state: BrokerState, group: Group, members: dict[str, MemberView], behind: Behind
) -> Iterator[Finding | None]:
    """Whether members ask for what they have not committed, by the journal's newest entries."""
    if not members:
        return
    if group.group_type == "share":
        sentence = "Whose records are, and for how long, is among its records in flight."
        yield Finding("fine", sentence, "group", group.group_id)
        return
    left = set(behind.places + behind.never)
    if not left:
        if not behind.beyond:
            sentence = "It has committed all that there is: nothing is left to read."
            yield Finding("fine", sentence, "group", group.group_id)
        return
    ring = watched.running().observer.ring
    places: dict[str, dict[Place, bytes]] = {}
    for one in members.values():
        for place in one.assigned:
            if place in left:
                places.setdefault(one.client_id, {})[place] = behind.ids[place[0]]
    if ring is None or not places:
        return
    looked = Looked({}, {}, {})
    wanted = Wanted(places, state.fetch_purgatory.sessions_of)
    for step in last_fetches(ring.walk(before=ring.total), reading(watched.running()), wanted):
        if step is None:
            yield None
        else:
            looked = step
    sharing = _Sharing()
    yield from sharing.look(state, group.group_id, looked)
    timer_ms = watched.running().clock.timer_ms()
    yield from _Verdicts(state, group, behind, looked, sharing, timer_ms).findings(members, places)


class _Sharing:
    """Members of other groups with the same client ids: their requests look the same."""

    def __init__(self) -> None:
        self._whose: dict[tuple[str, Place], dict[str, str]] = {}
        """Groups with the host of their member."""

    def look(self, state: BrokerState, own: str, looked: Looked) -> Iterator[None]:
        """By what the journal has of them, as groups may be very many."""
        from kafkastub.views.groups import view

        for client, groups in looked.groups.items():
            for other in sorted(groups - {own})[:_OTHERS]:
                seen = view(state, other)
                for one in () if seen is None else seen.members.values():
                    for place in one.assigned if one.client_id == client else ():
                        self._whose.setdefault((client, place), {})[other] = one.client_host
                yield None

    def candidates(
        self, client: str, place: Place, host: str, every: list[LastFetch]
    ) -> tuple[list[LastFetch], list[str]]:
        """Who may be the member on that host, and the other groups of which each may be a member as well.

        A member's own connection to the coordinator and the one that it fetches on have different ports, and the same
        host.
        """
        others = self._whose.get((client, place), {})
        hosts = set(others.values())
        if host in hosts:
            return every, list(others)
        return [one for one in every if one.host not in hosts], []


class _Verdicts:
    """What is said of each partition that is left, by who asks for it."""

    def __init__(
        self,
        state: BrokerState,
        group: Group,
        behind: Behind,
        looked: Looked,
        sharing: _Sharing,
        timer_ms: int,
    ) -> None:
        self._state = state
        self._group = group
        self._behind = behind
        self._never = frozenset(behind.never)
        self._looked = looked
        self._sharing = sharing
        self._timer_ms = timer_ms

    def findings(
        self, members: dict[str, MemberView], places: dict[str, dict[Place, bytes]]
    ) -> Iterator[Finding | None]:
        """One finding for all partitions of a client of which the same is to be said."""
        said: dict[tuple[str, _Verdict], list[Place]] = {}
        for member_id, one in sorted(members.items(), key=lambda item: item[1].client_id):
            silence = self._silence(member_id)
            for place in one.assigned:
                if place not in places.get(one.client_id, ()):
                    continue
                yield None
                verdict = self._of(one, place, silence)
                if isinstance(verdict, Finding):
                    yield verdict
                elif verdict is not None:
                    said.setdefault((one.client_id, verdict), []).append(place)
        for (client, verdict), some in said.items():
            yield Finding(verdict.level, verdict.before + named(some) + verdict.after, verdict.subject, client)

    def _silence(self, member_id: str) -> str:
        """When it was last heard of, where that is long ago."""
        from kafkastub.state.group_timers import last_heard

        heard: Heard | None = last_heard(self._group, member_id, self._timer_ms)
        if heard is None or heard.ago_ms < _SILENT_MS:
            return ""
        ends = f"ends in {seconds(heard.left_ms)}" if heard.left_ms > 0 else "is over"
        return (
            f"member {member_id} was last heard of {seconds(heard.ago_ms)} ago (a heartbeat, a join or a commit): "
            f"it may be gone. Its session {ends}."
        )

    def _of(self, member: MemberView, place: Place, silence: str) -> _Verdict | Finding | None:
        """None where something else is told already."""
        client = member.client_id
        every = self._looked.asked.get((client, place), [])
        every, others = self._sharing.candidates(client, place, member.client_host, every)
        if not every:
            why = silence or "it has not begun, or paused."
            after = f" in the entries that the journal still has: {why}"
            return _Verdict("stop", f"{client} has not asked for ", after)
        last = every[0]
        if last.errors:
            return _Verdict("stop", f"{client} asks for ", f" and is answered {', '.join(last.errors)}.")
        if last.pending and last.fault is not None:
            return None  # the fault is told
        if last.committed and place in self._behind.open:
            opened = self._behind.open.pop(place)
            return opened._replace(level="stop", sentence=f"{opened.sentence} {client} reads only those.")
        if last.throttle_ms and last.seconds < last.throttle_ms / 1000 + _OVERDUE:
            return self._throttled(client, last)
        asking = [one for one in every if one.now]
        if asking and (others or sum(not one.gone for one in asking) > 1):
            return _unclear(client, every, others)
        if last.now:
            return self._asks(client, place, last)
        closed = "its connection is closed; " if all(one.gone for one in every) else ""
        why = closed + silence if silence else "it has paused, or is busy with what it has."
        return _Verdict("stop", f"{client} has not asked for ", f" for {last.seconds:.0f} s: {why}")

    def _throttled(self, client: str, asked: LastFetch) -> _Verdict:
        ago = f"{asked.seconds:.0f} s ago" if asked.seconds >= 1 else "just now"
        waits = f"{client} was throttled for {seconds(asked.throttle_ms)} {ago}, when it asked for "
        if asked.fault is not None:
            return _Verdict("stop", waits, f": fault {asked.fault!r}.", "fault")
        quotas = list(_quotas(self._state, asked.principal.partition(":")[2], client))
        return _Verdict("stop", waits, f": quota {' or '.join(quotas) or 'that no longer exists'}.", "quota")

    def _asks(self, client: str, place: Place, asked: LastFetch) -> _Verdict:
        """It does, and nothing hinders it: does it get anything?"""
        topic = self._state.cluster.topic(place[0])
        log = None if topic is None else self._state.logs.log(topic.topic_id, place[1])
        if log is not None and asked.offset is not None:
            end = log.last_stable_offset if asked.committed else log.high_watermark
            if asked.offset >= end:
                return self._at_the_end(client, place, log.log_start_offset, end)
            if asked.pending and asked.min_bytes > 1:
                return _waits_for_more(client, asked, end - asked.offset, log.bytes_after(asked.offset, end))
        after = " right now: it gets what is there, and has not committed all of it yet."
        return _Verdict("look", f"{client} asks for ", after)

    def _at_the_end(self, client: str, place: Place, start: int, end: int) -> _Verdict:
        before, asks = f"{client} asks for ", f" right now, from the end ({end}) on"
        if place not in self._never:
            return _Verdict("look", before, f"{asks}: it was given all that there is, and has not committed all of it.")
        passed = many(end - start, "record")
        began = self._looked.began.get((client, place))
        latest = "it began at the end, by auto.offset.reset=latest, as no offset was committed"
        if began == _END:
            return _Verdict("look", before, f"{asks}: {latest}. It does not get the {passed} before that.")
        if began is not None:
            return _Verdict("look", before, f"{asks}: it was given all that there is, and has committed nothing.")
        after = f"{asks}, and has committed nothing: {latest}, or it was given the {passed} before that."
        return _Verdict("look", before, after)


def _waits_for_more(client: str, asked: LastFetch, records: int, size: int | None) -> _Verdict:
    there = many(records, "record") + ("" if size is None else f", {size} bytes")
    left = max(asked.max_wait_ms / 1000 - asked.waited, 0)
    return _Verdict(
        "stop",
        f"{client} asks for ",
        f" and waits until {asked.min_bytes} bytes are there (fetch.min.bytes): there are {there}. It waits for "
        f"{left:.0f} s more (fetch.wait.max.ms, of Java fetch.max.wait.ms: {asked.max_wait_ms}).",
    )


def _unclear(client: str, every: list[LastFetch], others: list[str]) -> _Verdict:
    """Somebody with that client id asks, and nobody can tell whether that is the member."""
    seen = [
        f"{one.peer} asks right now{'' if one.offset is None else f' from {one.offset} on'}"
        if one.now
        else f"{one.peer} has not for {one.seconds:.0f} s"
        for one in every[:3]
    ]
    groups = ", ".join(others)
    whose = f"a member of {groups} has that client id, too" if others else "several connections have that client id"
    return _Verdict(
        "look",
        f"Somebody with the client id {client} asks for ",
        f", and whether that is this group's member is not known: {whose} ({'; '.join(seen)}). With a client.id for "
        "each it would be.",
    )


def _quotas(state: BrokerState, user: str, client: str) -> Iterator[str]:
    """Those that a Fetch can be held up by, in words."""
    from kafkastub.security.quota_meters import counted_as, quota_of
    from kafkastub.security.quotas import CONSUMER_BYTE_RATE, REQUEST_PERCENTAGE

    for name in (CONSUMER_BYTE_RATE, REQUEST_PERCENTAGE) if state.has_quotas else ():
        limits = state.quotas.limits(name)
        who = quota_of(limits, *counted_as(limits, user, client))
        if who is not None:
            kinds = zip(("user", "client id"), who, strict=True)
            whose = " and ".join(
                f"any {kind}" if one is None else f"{kind} {one!r}" for kind, one in kinds if one != ""
            )
            yield f"{name} {limits[who]:g} of {whose}"
