"""Random histories of a share group: whatever happens, it settles, and somebody reads from every partition."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kafkastub.config import BrokerConfig, Profile
from kafkastub.coordinator import GroupCoordinator, Turn
from kafkastub.coordinator.records import Record
from kafkastub.coordinator.share.group import ShareGroup
from kafkastub.coordinator.share.state_partitions import Deletion, Initialization
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from tests.consumer_groups.context import Topics

START_MS = 1_700_000_000_000
GROUP = "g"
TOPICS = ("a", "b", "c")
MEMBERS = ("m1", "m2", "m3", "m4")
names = st.lists(st.sampled_from(TOPICS), unique=True, min_size=1, max_size=3)
members = st.sampled_from(MEMBERS)


class Histories(RuleBasedStateMachine):
    """Members, a group coordinator, and a share coordinator that answers late, or not at all.

    Attributes:
        epochs: of the members, as they know them.
        asked: what the share coordinator has not answered yet.
        kept: the partitions whose state it keeps.
    """

    def __init__(self) -> None:
        super().__init__()
        self.epochs: dict[str, int] = {}
        self.asked: list[Initialization] = []
        self.kept: set[tuple[bytes, int]] = set()
        self.topics = Topics()
        self.records: list[Record] = []
        self.timer_ms = 1_000

    @initialize(interval=st.sampled_from((0, 1_000)), counts=st.lists(st.integers(0, 5), min_size=3, max_size=3))
    def begin(self, interval: int, counts: list[int]) -> None:
        given = {"group.share.assignment.interval.ms": str(interval), "group.share.max.size": "3"}
        self.config = BrokerConfig(given, Profile.named("kafka"))
        self.coordinator = self._coordinator()
        for name, count in zip(TOPICS, counts, strict=True):
            if count:
                self.grow(name, count)

    def _coordinator(self) -> GroupCoordinator:
        coordinator = GroupCoordinator(self.config, self.config.profile, Random(1))
        coordinator.image = self.topics
        return coordinator

    @property
    def now(self) -> tuple[int, int]:
        return START_MS + self.timer_ms, self.timer_ms

    def took(self, turn: Turn) -> Turn:
        self.records += turn.records
        return turn

    # -- what members do -----------------------------------------------------------------------------------------

    def beat(self, member: str, epoch: int, topics: list[str] | None = None) -> None:
        request = ShareGroupHeartbeatRequest(GROUP, member, epoch, None, topics)
        self.coordinator.share.check_heartbeat(request, 1)
        beat = self.took(self.coordinator.share.heartbeat(request, 1, "client", "/127.0.0.1", *self.now)).reply
        if beat.follow_up is not None:
            self.asked.append(beat.follow_up)
        self.epochs[member] = beat.response.member_epoch
        group = self.group()
        assert group is not None
        if beat.response.assignment is not None:
            told = {one.topic_id: frozenset(one.partitions) for one in beat.response.assignment.topic_partitions}
            assert told == group.members[member].assigned

    @rule(member=members, topics=names)
    def join(self, member: str, topics: list[str]) -> None:
        group = self.group()
        if group is not None and len(group.members) >= 3 and member not in group.members:
            with pytest.raises(KafkaError) as caught:
                self.beat(member, 0, topics)
            assert caught.value.code is ErrorCode.GROUP_MAX_SIZE_REACHED
        else:
            self.beat(member, 0, topics)

    @rule(member=members, topics=st.none() | names, behind=st.booleans())
    def heartbeat(self, member: str, topics: list[str] | None, behind: bool) -> None:
        if member not in self.epochs:
            return
        group = self.group()
        assert group is not None
        before = group.members[member].previous_member_epoch
        self.beat(member, before if behind and before > 0 else self.epochs[member], topics)

    @rule(member=members)
    def leave(self, member: str) -> None:
        if self.epochs.pop(member, None) is not None:
            request = ShareGroupHeartbeatRequest(GROUP, member, -1)
            self.took(self.coordinator.share.heartbeat(request, 1, "client", "/127.0.0.1", *self.now))

    # -- what happens around them --------------------------------------------------------------------------------

    @precondition(lambda self: self.asked)
    @rule(works=st.sampled_from((True, True, False)))
    def share_coordinator_answers(self, works: bool) -> None:
        wanted, share = self.asked.pop(0), self.coordinator.share
        there = {one: list(some) for one, some in wanted.start_offsets.items() if self.topics.topic_name(one)}
        if works:
            self.kept |= {(one, partition) for one, some in there.items() for partition in some}
        told = share.initialized if works else share.uninitialized
        self.took(told(wanted.group_id, there, *self.now))

    @rule(ms=st.sampled_from((1, 500, 1_000, 30_000, 44_999)))
    def time(self, ms: int) -> None:
        end = self.timer_ms + ms
        while (at := self.coordinator.next_deadline()) is not None and at <= end:
            self.timer_ms = max(at, self.timer_ms)
            self.took(self.coordinator.expire(*self.now))
        self.timer_ms = end
        group = self.group()
        known = () if group is None else group.members
        self.epochs = {member: epoch for member, epoch in self.epochs.items() if member in known}

    @rule(name=st.sampled_from(TOPICS), count=st.integers(1, 4))
    def grow(self, name: str, count: int) -> None:
        self.topics.put(name, self.topics.partition_count(name) + count)
        self.coordinator.metadata_changed([name])

    @rule(name=st.sampled_from(TOPICS))
    def drop(self, name: str) -> None:
        if name in self.topics.counts:
            self.topics.drop(name)
            self.took(self.coordinator.on_topics_deleted([name], self.now[0]))
            self.coordinator.metadata_changed([name])
            self.kept = {one for one in self.kept if self.topics.topic_name(one[0])}

    @precondition(lambda self: self.group() is not None)
    @rule()
    def another_coordinator(self) -> None:
        before = self.shown()
        other = self._coordinator()
        for record in self.records:
            other.apply(record)
        self.coordinator = other
        self.took(other.loaded(*self.now))
        assert self.shown() == before

    @precondition(lambda self: self.group() is not None and not self.epochs)
    @rule()
    def delete(self) -> None:
        turn = self.took(self.coordinator.share.begin_delete(GROUP, *self.now))
        asked: Deletion | None = turn.reply
        gone = set() if asked is None else {(one, p) for one, some in asked.partitions.items() for p in some}
        assert self.kept <= gone
        self.kept.clear()
        self.asked.clear()
        self.took(self.coordinator.delete_group(GROUP, self.now[0]))
        assert not self.coordinator.knows(GROUP)

    # -- what holds ----------------------------------------------------------------------------------------------

    @invariant()
    def what_is_counted_is_what_there_is(self) -> None:
        group = self.group()
        if group is None:
            return
        counts: dict[str, int] = {}
        for one in group.members.values():
            for name in one.subscribed_topic_names:
                counts[name] = counts.get(name, 0) + 1
        assert counts == group.subscribed
        assert set(group.timers) == set(group.members) == set(self.epochs)

    @invariant()
    def nobody_reads_what_has_no_state(self) -> None:
        group = self.group()
        if group is None:
            return
        known = self.coordinator.share.initialized_partitions(GROUP)
        assert {(one, partition) for one, some in known.items() for partition in some} <= self.kept
        for member in group.members.values():
            for topic_id, partitions in member.assigned.items():
                if self.topics.topic_name(topic_id) is not None:
                    assert partitions <= set(known.get(topic_id, ()))

    def group(self) -> ShareGroup | None:
        coordinator = getattr(self, "coordinator", None)
        return None if coordinator is None else coordinator.share.find(GROUP)

    def shown(self) -> dict[str, Any]:
        group = self.group()
        assert group is not None
        return {
            "state": (group.state_name, group.epoch, group.target_epoch, group.metadata_hash),
            "members": group.members,
            "target": group.target,
            "kept": group.partition_metadata,
        }

    def teardown(self) -> None:
        """Where members go on and the share coordinator works, somebody reads from every partition, none too many."""
        group = self.group()
        if group is None:
            return
        for name in tuple(self.topics.counts):
            self.grow(name, 1)
        for _ in range(12):
            self.time(5_000)
            for member in list(self.epochs):
                self.beat(member, self.epochs[member])
            while self.asked:
                self.share_coordinator_answers(True)
        assert group.epoch == group.target_epoch or not group.members
        readers: dict[tuple[str, int], int] = {}
        for member in group.members.values():
            for topic_id, partitions in member.assigned.items():
                name = self.topics.topic_name(topic_id)
                for partition in partitions:
                    assert name in member.subscribed_topic_names
                    readers[name or "?", partition] = readers.get((name or "?", partition), 0) + 1
        wanted = {(n, p) for n in group.subscribed for p in range(self.topics.partition_count(n))}
        assert set(readers) == wanted


@pytest.mark.parametrize("steps", [12, 40])
def test_somebody_reads_from_every_partition_in_the_end(steps: int):
    machine = type("History", (Histories,), {})
    run = machine.TestCase
    run.settings = settings(max_examples=60, stateful_step_count=steps, deadline=None)
    run().runTest()
