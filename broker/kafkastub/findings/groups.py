"""Why members of a group get no records, as far as the broker can see it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkastub.config.durations import datable
from kafkastub.coordinator import partition_for
from kafkastub.findings.finding import Finding, Level, awaited, many, seconds
from kafkastub.findings.obstacles import of_faults, of_those_who_left
from kafkastub.findings.readers import Behind, of_readers
from kafkastub.findings.watched import Watched
from kafkastub.metadata import CONSUMER_OFFSETS

if TYPE_CHECKING:
    from kafkastub.coordinator.group import Group
    from kafkastub.coordinator.records import CommittedOffset
    from kafkastub.metadata import PartitionState
    from kafkastub.state.broker_state import BrokerState
    from kafkastub.views.groups import GroupView, MemberView

LEVELS: Final[tuple[Level, ...]] = ("stop", "look", "fine")
"""The worst first."""
MOST: Final = 50
"""Findings of a group."""
_SOME: Final = 128
"""Transactional ids that are looked at in one go."""
_MISSING: Final = 5
"""Members that keep a rebalance waiting."""
_SETTLED: Final = ("Stable", "Empty")


def of_group(watched: Watched, state: BrokerState, group: str) -> Iterator[Finding | None]:
    """What is found, in no order, with None between: there the broker may serve. Nothing for a group that is absent."""
    from kafkastub.views.groups import view

    there = state.coordinator.groups.get(group)
    if there is not None:
        yield from _all(watched, state, there, view(state, group))


def _all(watched: Watched, state: BrokerState, group: Group, seen: GroupView | None) -> Iterator[Finding | None]:
    members = {} if seen is None else seen.members
    topics = {topic for member in members.values() for topic in member.subscribed or ()}
    topics |= {topic for member in members.values() for topic, _ in member.assigned}
    yield from _of_broker(watched, state, group.group_id)
    yield from of_faults(watched, group.group_id, {member.client_id for member in members.values()}, topics)
    if not members and group.size == 0:
        yield from of_those_who_left(watched, group.group_id)
    yield from _of_state(group, members, watched.running().clock.timer_ms())
    yield from _of_topics(state, topics, members)
    behind = Behind()
    yield from _of_partitions(state, group, topics, members, behind)
    yield from _find_whose(state, behind)
    yield from of_readers(watched, state, group, members, behind)
    yield from behind.open.values()


# -- the broker --------------------------------------------------------------------------------------------------


def _of_broker(watched: Watched, state: BrokerState, group: str) -> Iterator[Finding]:
    if not state.cluster.has_living_node:
        yield Finding("stop", "No node is running: nobody answers.", "node", "")
        return
    offsets = state.cluster.topic(CONSUMER_OFFSETS)
    if offsets is not None and offsets.partitions[partition_for(group, len(offsets.partitions))].leader < 0:
        yield Finding("stop", "No node coordinates the group: the one that did is stopped.", "node", "")
    if watched.chaos.running:
        seed = watched.chaos.seed
        what = "with a list of acts" if seed is None else f"with seed {seed}"
        yield Finding("look", f"Chaos is on, {what}.", "chaos", "acts" if seed is None else str(seed))


# -- the group ---------------------------------------------------------------------------------------------------


def _of_state(group: Group, members: dict[str, MemberView], timer_ms: int) -> Iterator[Finding]:
    from kafkastub.state.group_timers import revocation_left_ms

    since = group.state_timestamp
    when = "" if since is None else f" since {_moment(since)}"
    name = group.group_id
    if not members and group.size == 0:
        yield Finding("stop", f"The group has no members{when}: nobody asks for records.", "group", name)
        return
    if group.state_name not in _SETTLED:
        sentence = f"The group is {group.state_name}{when}: {_WAITS_FOR.get(group.state_name, 'it is not settled')}."
        yield Finding("stop", sentence, "group", name)
        yield from _of_rebalance(group, members, timer_ms)
    else:
        yield Finding("fine", f"The group is {group.state_name}, with {many(group.size, 'member')}.", "group", name)
    for member in members.values():
        who = f"Member {member.client_id} ({member.member_id})"
        if member.held:
            sentence = f"{who} is held (hold-revocation): the broker ignores that it has revoked partitions."
            yield Finding("look", sentence, "member", member.member_id)
        if member.pending_revocation:
            places = ", ".join(f"{topic}-{index}" for topic, index in member.pending_revocation[:5])
            left = revocation_left_ms(group, member.member_id, timer_ms)
            until = "" if left is None else f", for {seconds(left)} more (its rebalance timeout)"
            sentence = f"{who} has not revoked {places} yet: others wait for that{until}."
            yield Finding("look", sentence, "member", member.member_id)
        if not member.assigned and group.state_name == "Stable":
            sentence = f"{who} has no partitions: there are fewer partitions than members, or its topics have none."
            yield Finding("look", sentence, "member", member.member_id)


def _of_rebalance(group: Group, members: dict[str, MemberView], timer_ms: int) -> Iterator[Finding]:
    """Who keeps a rebalance of the classic protocol waiting, and how long."""
    from kafkastub.state.group_timers import rebalance_wait

    wait = rebalance_wait(group, timer_ms)
    if wait is None:
        return
    whose = "group.initial.rebalance.delay.ms" if wait.more else "the longest rebalance timeout of its members"
    until = "" if wait.left_ms is None else f" for {seconds(wait.left_ms)} more at most ({whose})"
    for member_id in wait.missing[:_MISSING]:
        client = members[member_id].client_id if member_id in members else ""
        what = "is the leader, and has not sent the assignment" if wait.joined else "has not joined again"
        yield Finding("stop", f"Member {client} ({member_id}) {what}: others wait for it{until}.", "member", member_id)
    if wait.missing_count > _MISSING:
        sentence = f"{many(wait.missing_count - _MISSING, 'more member')} have not joined again."
        yield Finding("stop", sentence, "group", group.group_id)
    if wait.coming:
        sentence = f"{many(wait.coming, 'client')} was given a member id and has not joined with it: it is waited for."
        yield Finding("look", sentence, "group", group.group_id)
    if wait.more and not wait.missing_count:
        yield Finding(
            "look", f"It is the group's first rebalance: it waits for more members{until}.", "group", group.group_id
        )


_WAITS_FOR: Final = {
    "PreparingRebalance": "it waits until its members have joined again",
    "CompletingRebalance": "it waits for the leader to send the assignment",
    "Assigning": "a new assignment is being made",
    "Reconciling": "some members have not revoked or taken over their partitions yet",
    "NotReady": "topics of the application are missing, or do not fit",
    "Dead": "it is gone",
}


def _moment(broker_ms: int) -> str:
    return f"{datetime.fromtimestamp(datable(broker_ms) // 1000, UTC):%Y-%m-%d %H:%M:%S}"


# -- topics and partitions ---------------------------------------------------------------------------------------


def _of_topics(state: BrokerState, topics: set[str], members: dict[str, MemberView]) -> Iterator[Finding]:
    for topic in sorted(topics):
        if state.cluster.topic(topic) is None:
            sentence = f"Topic {topic!r}, to which a member subscribes, does not exist."
            yield Finding("stop", sentence, "topic", topic)
    if members and not topics and all(member.expression is None for member in members.values()):
        yield Finding("look", "No member subscribes to any topic, as far as it is known.", "group", "")


def _of_partitions(
    state: BrokerState, group: Group, topics: set[str], members: dict[str, MemberView], behind: Behind
) -> Iterator[Finding | None]:
    owned = {place for member in members.values() for place in member.assigned}
    offsets = state.coordinator.offsets
    named = topics | {topic for topic, _ in owned} | set(offsets.topics(group.group_id))
    for name in sorted(named):
        topic, columns = state.cluster.topic(name), offsets.topic(group.group_id, name)
        if topic is None:
            continue
        behind.ids[name] = topic.topic_id
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
                yield where.finding("look", f"{name}-{partition.index} is not assigned to any member.")
            if partition.leader < 0:
                yield _leaderless(state, where, partition)
            expired = state.coordinator.expired.at(group.group_id, *place)
            if expired is not None and members:
                yield where.finding("look", _expired(place, expired, commit))
            if commit is not None and not log.log_start_offset <= commit.offset <= log.log_end_offset:
                yield _out_of_range(where, commit.offset, log.log_start_offset, log.log_end_offset)
            if commit is not None and commit.offset > log.log_end_offset:
                behind.beyond.append(place)
            stable = log.last_stable_offset
            if stable < log.high_watermark and (commit is None or commit.offset >= stable):
                behind.undecided[place] = stable
            yield None


def _find_whose(state: BrokerState, behind: Behind) -> Iterator[None]:
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


def _expired(place: tuple[str, int], broker_ms: int, commit: CommittedOffset | None) -> str:
    since = "none was committed since" if commit is None else f"{commit.offset} was committed since"
    return (
        f"The committed offset of {place[0]}-{place[1]} expired at {_moment(broker_ms)}, and {since}. "
        "A consumer that has started since then began where auto.offset.reset says."
    )


def _out_of_range(where: _Where, offset: int, start: int, end: int) -> Finding:
    beyond = f"it is beyond the end, {end}" if offset > end else f"that begins at {start} only"
    sentence = (
        f"The committed offset of {where.topic}-{where.partition}, {offset}, is not in the log: {beyond}. "
        "auto.offset.reset says where reading begins."
    )
    return where.finding("look", sentence)


def _leaderless(state: BrokerState, where: _Where, partition: PartitionState) -> Finding:
    down = [str(node) for node in awaited(state.cluster, partition)]
    which = f"node {' or '.join(down)}" if down else "a node"
    sentence = f"{where.topic}-{where.partition} has no leader: {which} has to be started."
    return Finding("stop", sentence, "node", " ".join(down), *where)


def _open_transaction(topic: str, partition: int, stable: int, whose: str | None) -> Finding:
    sentence = (
        f"read_committed consumers of {topic}-{partition} cannot read past {stable}: a transaction is open, "
        f"{'which no coordinator knows: it hangs' if whose is None else f'of transactional id {whose!r}'}."
    )
    return Finding("look", sentence, "transaction", whose or "", topic, partition, stable)
