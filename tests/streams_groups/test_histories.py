"""Random histories of a streams group: whatever happens, it settles, and every task runs somewhere, once."""

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
from kafkastub.coordinator.streams.group import StreamsGroup
from kafkastub.coordinator.streams.statuses import Status
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest, TaskIds
from tests.consumer_groups.context import Topics
from tests.handlers.streams_club import topology

START_MS = 1_700_000_000_000
GROUP = "g"
RUNS = topology(one="a", two="b -two-log", three="a c")
SOURCES = ("a", "b", "c")
MEMBERS = ("m1", "m2", "m3", "m4")
members = st.sampled_from(MEMBERS)
Owned = dict[str, list[int]]


class Histories(RuleBasedStateMachine):
    """Members that do as they are told, or not, and topics that come, grow and go.

    Attributes:
        epochs: of the members, as they know them.
        owned: the tasks that members have, as they were told: active, standby, warm-up.
    """

    def __init__(self) -> None:
        super().__init__()
        self.epochs: dict[str, int] = {}
        self.owned: dict[str, tuple[Owned, Owned, Owned]] = {}
        self.topics = Topics()
        self.records: list[Record] = []
        self.timer_ms = 1_000

    @initialize(
        interval=st.sampled_from((0, 1_000)),
        delay=st.sampled_from((0, 3_000)),
        standby=st.integers(0, 2),
        counts=st.lists(st.integers(0, 4), min_size=3, max_size=3),
    )
    def begin(self, interval: int, delay: int, standby: int, counts: list[int]) -> None:
        given = {
            "group.streams.assignment.interval.ms": str(interval),
            "group.streams.initial.rebalance.delay.ms": str(delay),
            "group.streams.num.standby.replicas": str(standby),
            "group.streams.max.size": "3",
        }
        self.config = BrokerConfig(given, Profile.named("kafka"))
        self.coordinator = self._coordinator()
        for name, count in zip(SOURCES, counts, strict=True):
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

    def beat(self, member: str, epoch: int, **more: Any) -> None:
        owned = self.owned.get(member, ({}, {}, {}))
        if epoch == 0:
            owned = ({}, {}, {})
            more = {"topology": RUNS, "rebalance_timeout_ms": 20_000, **more}
            more["process_id"] = f"p{MEMBERS.index(member) % 3}"
        kinds = ("active_tasks", "standby_tasks", "warmup_tasks")
        told = {kind: [TaskIds(*one) for one in some.items()] for kind, some in zip(kinds, owned, strict=True)}
        request = StreamsGroupHeartbeatRequest(GROUP, member, epoch, **(told | more))
        streams = self.coordinator.streams
        streams.check_heartbeat(request, 1)
        answer = self.took(streams.heartbeat(request, 1, "client", "/127.0.0.1", *self.now)).reply.response
        self.epochs[member] = answer.member_epoch
        if answer.active_tasks is not None:
            kept = (answer.active_tasks, answer.standby_tasks or (), answer.warmup_tasks or ())
            active, standby, warmup = ({one.subtopology_id: [*one.partitions] for one in some} for some in kept)
            self.owned[member] = active, standby, warmup
        if any(one.status_code == Status.MISSING_INTERNAL_TOPICS for one in answer.status or ()):
            self.put("two-log", self.topics.partition_count("b"))

    @rule(member=members, instance=st.booleans())
    def join(self, member: str, instance: bool) -> None:
        group = self.group()
        instance_id = f"i-{member}" if instance else None
        there = None if group is None or instance_id is None else group.static_member(instance_id)
        if there is not None and there.member_epoch > 0:
            expected = ErrorCode.UNRELEASED_INSTANCE_ID
        elif group is not None and len(group.members) >= 3 and member not in group.members:
            expected = ErrorCode.GROUP_MAX_SIZE_REACHED
        else:
            self.beat(member, 0, instance_id=instance_id)
            return
        with pytest.raises(KafkaError) as caught:
            self.beat(member, 0, instance_id=instance_id)
        assert caught.value.code is expected

    @rule(member=members, silent=st.booleans(), shutdown=st.booleans())
    def heartbeat(self, member: str, silent: bool, shutdown: bool) -> None:
        if member not in self.epochs or self.epochs[member] < 0:
            return
        more: dict[str, Any] = {"shutdown_application": shutdown}
        if silent:
            more |= {"active_tasks": None, "standby_tasks": None, "warmup_tasks": None}
        group = self.group()
        assert group is not None
        more["instance_id"] = group.members[member].instance_id
        try:
            self.beat(member, self.epochs[member], **more)
        except KafkaError as error:  # it has tasks that there are no more: it has to join again
            assert error.code is ErrorCode.INVALID_REQUEST, error  # noqa: PT017 - it need not be raised
            self.epochs.pop(member)
            self.owned.pop(member, None)
            self.took(self.coordinator.streams.end_session(GROUP, member, *self.now))

    @rule(member=members)
    def leave(self, member: str) -> None:
        epoch = self.epochs.pop(member, None)
        self.owned.pop(member, None)
        group = self.group()
        if epoch is not None:
            assert group is not None
            instance_id = group.members[member].instance_id
            request = StreamsGroupHeartbeatRequest(GROUP, member, -1, instance_id=instance_id)
            self.took(self.coordinator.streams.heartbeat(request, 1, "client", "/127.0.0.1", *self.now))

    @rule(member=members)
    def leave_for_a_while(self, member: str) -> None:
        group = self.group()
        if self.epochs.get(member, -1) > 0 and group is not None and group.members[member].instance_id is not None:
            instance_id = group.members[member].instance_id
            request = StreamsGroupHeartbeatRequest(GROUP, member, -2, instance_id=instance_id)
            self.took(self.coordinator.streams.heartbeat(request, 1, "client", "/127.0.0.1", *self.now))
            self.epochs[member] = -2

    # -- what happens around them --------------------------------------------------------------------------------

    @rule(ms=st.sampled_from((1, 500, 1_000, 3_000, 19_999, 44_999)))
    def time(self, ms: int) -> None:
        end = self.timer_ms + ms
        while (at := self.coordinator.next_deadline()) is not None and at <= end:
            self.timer_ms = max(at, self.timer_ms)
            self.took(self.coordinator.expire(*self.now))
        self.timer_ms = end
        group = self.group()
        known = () if group is None else group.members
        self.epochs = {member: epoch for member, epoch in self.epochs.items() if member in known}
        self.owned = {member: owned for member, owned in self.owned.items() if member in known}

    def put(self, name: str, count: int) -> None:
        self.topics.put(name, count)
        self.coordinator.metadata_changed([name])

    @rule(name=st.sampled_from(SOURCES), count=st.integers(1, 3))
    def grow(self, name: str, count: int) -> None:
        self.put(name, self.topics.partition_count(name) + count)

    @rule(name=st.sampled_from((*SOURCES, "two-log")))
    def drop(self, name: str) -> None:
        if name in self.topics.counts:
            self.topics.drop(name)
            self.took(self.coordinator.on_topics_deleted([name], self.now[0]))
            self.coordinator.metadata_changed([name])

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

    @precondition(lambda self: self.group() is not None)
    @rule()
    def delete(self) -> None:
        group = self.group()
        assert group is not None
        if group.members:
            with pytest.raises(KafkaError) as caught:
                self.coordinator.delete_group(GROUP, self.now[0])
            assert caught.value.code is ErrorCode.NON_EMPTY_GROUP
        else:
            self.took(self.coordinator.delete_group(GROUP, self.now[0]))
            assert not self.coordinator.knows(GROUP)

    @rule()
    def sweep(self) -> None:
        group = self.group()
        self.took(self.coordinator.expire_offsets(self.now[0]))
        assert self.group() is (group if group is not None and group.members else None)

    # -- what holds ----------------------------------------------------------------------------------------------

    @invariant()
    def nobody_runs_what_another_one_runs(self) -> None:
        group = self.group()
        if group is None:
            return
        running: set[tuple[str, int]] = set()
        for member in group.members.values():
            for some in (member.assigned, member.pending_revocation):
                active = {(name, one) for name, partitions in some.active.items() for one in partitions}
                assert not running & active
                running |= active
                for name, partition in active:
                    assert group.runners.active(name, partition) == member.process_id
        assert set(group.timers) >= set(group.members)

    @invariant()
    def what_is_counted_is_what_there_is(self) -> None:
        group = self.group()
        if group is None:
            return
        counts: dict[int, int] = {}
        for member in group.members.values():
            if member.state == 1:
                counts[member.member_epoch] = counts.get(member.member_epoch, 0) + 1
        assert counts == group._reconciled
        instances = {m.instance_id: m.member_id for m in group.members.values() if m.instance_id is not None}
        assert instances == group.static_members

    def group(self) -> StreamsGroup | None:
        coordinator = getattr(self, "coordinator", None)
        return None if coordinator is None else coordinator.streams.find(GROUP)

    def shown(self) -> dict[str, Any]:
        group = self.group()
        assert group is not None
        return {
            "state": group.state_name,
            "metadata": group.metadata,
            "target": (group.target_epoch, group.target_timestamp, group.target),
            "topology": group.topology,
            "members": group.members,
            "static": group.static_members,
        }

    def teardown(self) -> None:
        """Where all topics are there, members that do as they are told come to rest, and every task runs once."""
        if not hasattr(self, "coordinator"):
            return
        for name in SOURCES:
            if name not in self.topics.counts:
                self.put(name, 2)
        if "two-log" in self.topics.counts:
            self.put("two-log", self.topics.partition_count("b"))
        for member in MEMBERS:
            self.leave(member)
        for member in MEMBERS[:2]:
            self.beat(member, 0)
        for _ in range(12):
            self.time(3_001)
            for member in MEMBERS[:2]:
                self.beat(member, self.epochs[member])
        group = self.group()
        assert group is not None
        assert group.state_name == "Stable"
        running = sorted(
            (name, one)
            for member in group.members.values()
            for name, partitions in member.assigned.active.items()
            for one in partitions
        )
        counts = {name: self.topics.partition_count(name) for name in SOURCES}
        tasks = {"one": counts["a"], "two": counts["b"], "three": max(counts["a"], counts["c"])}
        assert running == sorted((name, one) for name, count in tasks.items() for one in range(count))


TestHistories = Histories.TestCase
TestHistories.settings = settings(deadline=None, max_examples=40, stateful_step_count=30)
