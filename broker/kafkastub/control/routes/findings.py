"""/v1/groups/{group}/findings: why its members get no records, as far as the broker can see it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from fastapi import APIRouter
from pydantic import BaseModel, Field

from kafkastub.control.book import Book
from kafkastub.control.fetching import Asked, Found, last_fetches
from kafkastub.control.finding import Finding, Level, Subject, awaited, many
from kafkastub.control.hosted import Hosted
from kafkastub.control.obstacles import of_faults, of_those_who_left
from kafkastub.control.routes.of_groups import known, loaded
from kafkastub.control.routes.shapes import example, iso
from kafkastub.control.walks import Walks
from kafkastub.coordinator import partition_for
from kafkastub.metadata import CONSUMER_OFFSETS

if TYPE_CHECKING:
    from kafkastub.coordinator.group import Group
    from kafkastub.metadata import PartitionState
    from kafkastub.state.broker_state import BrokerState
    from kafkastub.state.group_views import GroupView, MemberView

LEVELS: Final = ("stop", "look", "fine")
_MOST: Final = 50
"""Findings."""
_SOME: Final = 128
"""Transactional ids that are looked at in one go."""
_JUST_NOW: Final = 3.0
"""Seconds: clients ask again after half of one, by default."""
_SETTLED: Final = ("Stable", "Empty")


class FindingInfo(BaseModel):
    """One thing that was found."""

    level: Level = Field(description="stop: nobody gets records because of it; look: it may be; fine: it is in order")
    sentence: str
    subject: Subject = Field(description="what it is about")
    name: str = Field(description="of the subject: a group, a member id, a topic, a node's id, a transactional id …")
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None


class FindingList(BaseModel):
    """What was found, what stops first."""

    model_config = example(
        group="shipping", findings=[
            {
                "level": "stop", "sentence": "The group has no members: nobody asks for records.", "subject": "group",
                "name": "shipping",
            }
        ],
    )  # fmt: skip

    group: str
    findings: list[FindingInfo]


def routes(hosted: Hosted) -> APIRouter:
    """The endpoint."""
    router = APIRouter(prefix="/groups", tags=["groups"])
    walks = Walks()

    @router.get("/{group:path}/findings", summary="Why members of the group get no records, as far as it can be seen")
    async def list_findings(group: str) -> FindingList:
        known(hosted, group)
        found = await findings_of(hosted, walks, group)
        return FindingList(group=group, findings=[FindingInfo(**one._asdict()) for one in found])

    return router


async def findings_of(hosted: Hosted, walks: Walks, group: str) -> list[Finding]:
    """What stops first; nothing of a group that is not there."""
    from kafkastub.state.group_views import view

    state = loaded(hosted)
    there = state.coordinator.groups.get(group)
    if there is None:
        return []
    found: list[Finding] = []
    async for one in walks.through(_all(hosted, state, there, view(state, group))):
        found.append(one)
        if len(found) == _MOST:
            break
    return sorted(found, key=lambda one: LEVELS.index(one.level))


def _all(hosted: Hosted, state: BrokerState, group: Group, seen: GroupView | None) -> Iterator[Finding | None]:
    members = {} if seen is None else seen.members
    topics = {topic for member in members.values() for topic in member.subscribed or ()}
    topics |= {topic for member in members.values() for topic, _ in member.assigned}
    yield from _of_broker(hosted, state, group.group_id)
    yield from of_faults(hosted, group.group_id, {member.client_id for member in members.values()}, topics)
    if not members and group.size == 0:
        yield from of_those_who_left(hosted, group.group_id)
    yield from _of_state(group, members)
    yield from _of_topics(state, topics, members)
    behind = _Behind()
    yield from _of_partitions(state, group, topics, members, behind)
    yield from _find_whose(state, behind)
    yield from _of_readers(hosted, group, members, behind)
    yield from behind.open.values()


# -- the broker --------------------------------------------------------------------------------------------------


def _of_broker(hosted: Hosted, state: BrokerState, group: str) -> Iterator[Finding]:
    if not state.cluster.has_living_node:
        yield Finding("stop", "No node is running: nobody answers.", "node", "")
        return
    offsets = state.cluster.topic(CONSUMER_OFFSETS)
    if offsets is not None and offsets.partitions[partition_for(group, len(offsets.partitions))].leader < 0:
        yield Finding("stop", "No node coordinates the group: the one that did is stopped.", "node", "")
    if hosted.chaos.running:
        yield Finding("look", f"Chaos is on, with seed {hosted.chaos.seed}.", "chaos", str(hosted.chaos.seed))


# -- the group ---------------------------------------------------------------------------------------------------


def _of_state(group: Group, members: dict[str, MemberView]) -> Iterator[Finding]:
    since = group.state_timestamp
    when = "" if since is None else f" since {iso(since)[:19].replace('T', ' ')}"
    name = group.group_id
    if not members and group.size == 0:
        yield Finding("stop", f"The group has no members{when}: nobody asks for records.", "group", name)
        return
    if group.state_name not in _SETTLED:
        sentence = f"The group is {group.state_name}{when}: {_WAITS_FOR.get(group.state_name, 'it is not settled')}."
        yield Finding("stop", sentence, "group", name)
    else:
        yield Finding("fine", f"The group is {group.state_name}, with {many(group.size, 'member')}.", "group", name)
    for member in members.values():
        who = f"Member {member.client_id} ({member.member_id})"
        if member.held:
            sentence = f"{who} is held: what it lets go of does not count (hold-revocation)."
            yield Finding("look", sentence, "member", member.member_id)
        if member.pending_revocation:
            places = ", ".join(f"{topic}-{index}" for topic, index in member.pending_revocation[:5])
            sentence = f"{who} has not let go of {places} yet: others wait for that."
            yield Finding("look", sentence, "member", member.member_id)
        if not member.assigned and group.state_name == "Stable":
            sentence = f"{who} has no partitions: there are fewer than members, or its topics have none."
            yield Finding("look", sentence, "member", member.member_id)


_WAITS_FOR: Final = {
    "PreparingRebalance": "it waits until its members have joined anew",
    "CompletingRebalance": "it waits for the leader to say who has what",
    "Assigning": "a new assignment is being made",
    "Reconciling": "members have not all taken up, or let go of, what they are to",
    "NotReady": "topics of the application are missing, or do not fit",
    "Dead": "it is gone",
}


# -- topics and partitions ---------------------------------------------------------------------------------------


def _of_topics(state: BrokerState, topics: set[str], members: dict[str, MemberView]) -> Iterator[Finding]:
    for topic in sorted(topics):
        if state.cluster.topic(topic) is None:
            sentence = f"Topic {topic!r}, to which a member subscribes, does not exist."
            yield Finding("stop", sentence, "topic", topic)
    if members and not topics and all(member.expression is None for member in members.values()):
        yield Finding("look", "No member subscribes to any topic, as far as it is known.", "group", "")


def _of_partitions(
    state: BrokerState, group: Group, topics: set[str], members: dict[str, MemberView], behind: _Behind
) -> Iterator[Finding | None]:
    owned = {place for member in members.values() for place in member.assigned}
    offsets = state.coordinator.offsets
    named = topics | {topic for topic, _ in owned} | set(offsets.topics(group.group_id))
    for name in sorted(named):
        topic, columns = state.cluster.topic(name), offsets.topic(group.group_id, name)
        if topic is None:
            continue
        for partition in topic.partitions:
            place = name, partition.index
            log = state.logs.log(topic.topic_id, partition.index)
            commit = None if columns is None else columns.get(partition.index)
            if log is None or (commit is None and place not in owned and name not in topics):
                continue
            where = _Where(name, partition.index, None if commit is None else commit.offset)
            lag = log.log_end_offset - (log.log_start_offset if commit is None else commit.offset)
            if lag > 0 and group.group_type != "share":
                (behind.never if commit is None else behind.places).append(place)
            if members and name in topics and place not in owned and group.state_name == "Stable":
                yield where.finding("look", f"{name}-{partition.index} is assigned to nobody.")
            if partition.leader < 0:
                yield _leaderless(state, where, partition)
            if commit is not None and not log.log_start_offset <= commit.offset <= log.log_end_offset:
                yield where.finding(
                    "look",
                    f"The offset committed of {name}-{partition.index}, {commit.offset}, is not in the log: that has "
                    f"{log.log_start_offset} to {log.log_end_offset}. auto.offset.reset says where reading begins.",
                )
            stable = log.last_stable_offset
            if stable < log.high_watermark and (commit is None or commit.offset >= stable):
                behind.undecided[place] = stable
            yield None


def _find_whose(state: BrokerState, behind: _Behind) -> Iterator[None]:
    """Fill in `open` for all that is undecided, by one look through the transactional ids."""
    whose: dict[tuple[str, int], str] = {}
    known = state.transactions.coordinator.transactions if behind.undecided and state.has_transactions else {}
    for number, (transactional_id, one) in enumerate(list(known.items()), 1):
        for place in behind.undecided.keys() & one.partitions.keys():
            whose.setdefault(place, transactional_id)
        if not number % _SOME:
            yield None
    for place, stable in behind.undecided.items():
        behind.open[place] = _open_transaction(*place, stable, whose.get(place))


class _Where(NamedTuple):
    topic: str
    partition: int
    offset: int | None

    def finding(self, level: Level, sentence: str) -> Finding:
        return Finding(level, sentence, "partition", f"{self.topic}-{self.partition}", *self)


def _leaderless(state: BrokerState, where: _Where, partition: PartitionState) -> Finding:
    down = [str(node) for node in awaited(state.cluster, partition)]
    which = f"node {' or '.join(down)}" if down else "a node"
    sentence = f"{where.topic}-{where.partition} has no leader: {which} has to be started."
    return Finding("stop", sentence, "node", " ".join(down), *where)


def _open_transaction(topic: str, partition: int, stable: int, whose: str | None) -> Finding:
    sentence = (
        f"Readers of committed records of {topic}-{partition} get no further than {stable}: a transaction is open, "
        f"{'nobody knows whose: it hangs' if whose is None else f'of transactional id {whose!r}'}."
    )
    return Finding("look", sentence, "transaction", whose or "", topic, partition, stable)


# -- who asks ----------------------------------------------------------------------------------------------------


class _Behind:
    """Partitions with records that the group has not committed: behind an offset, or without any.

    `undecided`: those where readers of committed records have come to an open transaction, and where it begins; `open`
    tells of it.
    """

    def __init__(self) -> None:
        self.places: list[tuple[str, int]] = []
        self.never: list[tuple[str, int]] = []
        self.undecided: dict[tuple[str, int], int] = {}
        self.open: dict[tuple[str, int], Finding] = {}


def _of_readers(
    hosted: Hosted, group: Group, members: dict[str, MemberView], behind: _Behind
) -> Iterator[Finding | None]:
    """Whether members ask for what they have not committed, by the journal's newest Fetches."""
    if not members:
        return
    if group.group_type == "share":
        sentence = "Whose records are, and for how long, is among its records in flight."
        yield Finding("fine", sentence, "group", group.group_id)
        return
    left = set(behind.places + behind.never)
    if not left:
        yield Finding("fine", "It has committed all that there is: nothing is left to read.", "group", group.group_id)
        return
    ring = hosted.running().observer.ring
    wanted = {(one.client_id, place) for one in members.values() for place in one.assigned if place in left}
    if ring is None or not wanted:
        return
    found: Found = {}
    for step in last_fetches(ring.walk(before=ring.total), Book(hosted).entry, wanted):
        if step is None:
            yield None
        else:
            found = step
    told: dict[tuple[str, str, Level], list[tuple[str, int]]] = {}
    for client, place in sorted(wanted):
        asked = found.get((client, place))
        if asked is not None and not asked.errors:
            if asked.pending and asked.fault is not None:
                continue  # the fault is told
            if asked.committed and place in behind.open:
                opened = behind.open.pop(place)
                yield opened._replace(level="stop", sentence=f"{opened.sentence} {client} reads only those.")
                continue
        told.setdefault((client, *_verdict(asked)), []).append(place)
    for (client, words, level), places in told.items():
        named = ", ".join(f"{topic}-{index}" for topic, index in places[:3])
        more = f" and {len(places) - 3} more" if len(places) > 3 else ""
        yield Finding(level, words.format(client=client, places=named + more), "journal", client)


def _verdict(asked: Asked | None) -> tuple[str, Level]:
    """A sentence with holes, and how bad it is."""
    if asked is None:
        return (
            "{client} has not asked for {places}, as far as the journal goes back: it has not begun, or paused.",
            "stop",
        )
    if asked.errors:
        return f"{{client}} asks for {{places}} and is answered {', '.join(asked.errors)}.", "stop"
    if asked.pending or asked.seconds < _JUST_NOW:
        return (
            "{client} asks for {places} right now: it gets what is there, and has not committed all of it yet.",
            "look",
        )
    ago = f"{asked.seconds:.0f} s"
    return f"{{client}} has not asked for {{places}} for {ago}: it has paused, or is busy with what it has.", "stop"
