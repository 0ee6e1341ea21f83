"""Histories of clients, administrators and clocks, on the handlers and on the model, step by step.

The broker is the real one without its sockets: requests through codec and handlers, the clock through `Broker.advance`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from itertools import count
from typing import Any

from hypothesis import event
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kafkastub.state.topics import create_topic
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kafkawire.messages.group_metadata_key import GroupMetadataKey
from kafkawire.offsets_topic import decode_record
from tests.coordinator.context import (
    DAY_MS,
    START_MS,
    Member,
    Parked,
    subscription,
)
from tests.expiry.context import LARGE, TOPICS, ClockedContext
from tests.expiry.lives import Lives, Topics
from tests.expiry.model import Model, Place

PARTITIONS = (0, 1, 7)
GROUPS = ("g", "h", "")
SESSION_MS = 10_000
BROKEN = [
    b"",
    struct.pack(">hi", 0, 0),
    struct.pack(">hi", 0, -1),
    struct.pack(">hi", 0, 2**31 - 1),
    struct.pack(">hih", 0, 1, 9_999),
]
"""Subscriptions that cannot be parsed, with up to three bytes behind them: too short, no user data, and so on."""


some_places = st.lists(
    st.tuples(st.sampled_from(TOPICS), st.sampled_from(PARTITIONS)), min_size=1, max_size=5, unique=True
).map(sorted)
many_places = st.tuples(st.integers(0, 5), st.integers(15, 70)).map(
    lambda run: [(LARGE, partition) for partition in range(run[0], run[0] + run[1])]
)
places = st.one_of(some_places, some_places, some_places, many_places)
subscriptions = st.one_of(st.frozensets(st.sampled_from([*TOPICS, LARGE]), max_size=2), st.sampled_from(BROKEN))
picks = st.integers(0, 100)
own_retentions = st.one_of(
    st.just(-1), st.sampled_from([0, 1, -2, 0.5, 1.2, 2.0, 2**63 - 1, -(2**62), 2**63 - START_MS])
)
"""Milliseconds, or where it is a fraction, parts of the broker's."""
moves = st.sampled_from([0, 0.1, 0.1, 0.3, 0.3, 0.3, 0.6, 0.6, 1, 1_000_000])
"""As parts of the retention."""
how_far = st.sampled_from([0, 1, 2, 2, 2])
"""Of a join: to itself, to the end of its group's first rebalance, to the assignment."""
sure = st.sampled_from([True, False])
"""Whether to go on with what takes a lot away, and little happens to what is gone."""


class Histories(RuleBasedStateMachine):
    """Whatever happens, the broker and the tables agree after each step."""

    context: ClockedContext
    model: Model

    def __init__(self) -> None:
        super().__init__()
        self.numbers = count(1)
        self.unseen: set[str] = set()
        """Groups that a refused commit made, and nobody has seen since."""

    @initialize(profile=st.sampled_from(["kips", "kafka"]), minutes=st.sampled_from([1, 60, 10_080, 10_080, -1]))
    def start(self, profile: str, minutes: int) -> None:
        if profile == "kafka" and minutes < 0:
            minutes = 10_080
        self.context = ClockedContext(profile, offsets_retention_minutes=minutes)
        retention = -1 if minutes < 0 else minutes * 60_000
        self.model = Model(profile == "kips", retention, START_MS, lambda group: self.lives.gone(group))
        self.lives = Lives(self.model)
        self.ids: dict[str, str] = {}
        event(f"{profile}, {minutes} minutes")

    # -- members -------------------------------------------------------------------------------------------------

    def _metadata(self, topics: Topics | bytes) -> bytes:
        """Never the same twice, so that a member that joins again has something new to say."""
        text = b"%d" % next(self.numbers)
        return topics + text if isinstance(topics, bytes) else subscription(*sorted(topics or ()), user_data=text)

    def _join(self, group: str, name: str, topics: Topics | bytes, protocol_type: str, version: int) -> None:
        protocols = {"range": self._metadata(topics)}
        member_id = self.ids.get(name, "")
        join = {"protocols": protocols, "protocol_type": protocol_type, "session": SESSION_MS, "version": version}
        if not member_id and version >= 4:
            member_id = self.context.join(group, **join).answer.member_id  # type: ignore[arg-type]
        parked = self.context.join(group, member_id, **join)  # type: ignore[arg-type]
        self.lives.join(group, name, None if isinstance(topics, bytes) else topics, protocol_type)
        if not member_id:
            (member_id,) = set(self.context.coordinator.groups[group].members) - set(self.ids.values())
        self.ids[name] = member_id
        assert not parked.answered or parked.answer.error_code == 0

    @rule(
        group=st.sampled_from(GROUPS[:2]),
        topics=subscriptions,
        protocol_type=st.sampled_from(["consumer"] * 3 + ["connect"]),
        version=st.sampled_from([3, 9]),
        far=how_far,
    )
    def somebody_joins(self, group: str, topics: Topics | bytes, protocol_type: str, version: int, far: int) -> None:
        self._join(group, f"{group}{next(self.numbers)}", topics, self._type(group, protocol_type), version)
        self._go_on(far)

    def _type(self, name: str, wanted: str) -> str:
        """A group that is not empty has its protocol type already."""
        group = self.model.groups.get(name)
        return wanted if group is None or group.state == "Empty" else group.protocol_type or ""

    def _members(self) -> list[tuple[str, str]]:
        return [(group, name) for group, life in self.lives.of.items() for name in life.members]

    @precondition(lambda self: self._members())
    @rule(pick=picks, topics=subscriptions, far=how_far, everybody=st.booleans())
    def members_join_again(self, pick: int, topics: Topics | bytes, far: int, everybody: bool) -> None:
        members = self._members()
        group, name = members[pick % len(members)]
        for one in list(self.lives.of[group].members) if everybody else [name]:
            if one not in self.lives.of[group].joined:  # else its connection is muted
                self._join(group, one, topics, self.model.groups[group].protocol_type or "", 9)
        self._go_on(far)

    def _go_on(self, far: int) -> None:
        if far > 0:
            self.first_rebalances_end()
        if far > 1:
            self.all_sync()

    @rule(group=st.sampled_from(GROUPS[:2]))
    def somebody_asks_for_an_id_and_goes(self, group: str) -> None:
        given = self.context.join(group, protocol_type=self._type(group, "consumer"), version=4).answer
        assert given.error_code == ErrorCode.MEMBER_ID_REQUIRED
        self.lives.look_in(group)
        self.context.leave(group, (given.member_id, None))
        self.lives.leave(group)

    @rule()
    def first_rebalances_end(self) -> None:
        self.context.fire()
        self.lives.end_of_delay()

    @rule()
    def all_sync(self) -> None:
        for group, life in self.lives.of.items():
            if self.model.groups[group].state == "CompletingRebalance":
                members = [Member(group, self.ids[name], life.generation) for name in life.members]
                shares = {m.member_id: b"" for m in members}
                named = self.model.groups[group].protocol_type
                parked = [self.context.sync(m, shares, protocol_type=named) for m in members]
                assert {p.answer.error_code for p in parked if isinstance(p, Parked)} == {0}
                self.lives.sync(group)

    @precondition(lambda self: self._members())
    @rule(pick=picks, all_of_it=st.booleans())
    def somebody_leaves(self, pick: int, all_of_it: bool) -> None:
        members = self._members()
        group, name = members[pick % len(members)]
        leaving = list(self.lives.of[group].members) if all_of_it else [name]
        answer = self.context.leave(group, *((self.ids[one], None) for one in leaving))
        assert {m.error_code for m in answer.members} == {0}
        self.lives.leave(group, *leaving)

    def _settled(self) -> bool:
        states = {group.state for group in self.model.groups.values()}
        return "Stable" in states and states <= {"Stable", "Empty"}

    @precondition(_settled)
    @rule(pick=picks)
    def all_members_of_a_group_crash(self, pick: int) -> None:
        """They are not heard of again: their sessions run out, and meanwhile offsets expire."""
        stable = [name for name, group in self.model.groups.items() if group.state == "Stable"]
        crashed = stable[pick % len(stable)]
        self._heartbeat(stable)
        for ms in (SESSION_MS - 1, 1):
            self.context.move(ms, timers=True)
            self._heartbeat([name for name in stable if name != crashed])
        self.model.advance(SESSION_MS - 1)
        self.model.now += 1
        self.lives.leave(crashed, *self.lives.of[crashed].members)
        self.model.sweep()

    def _heartbeat(self, groups: Iterable[str]) -> None:
        for group in groups:
            life = self.lives.of[group]
            for name in life.members:
                assert self.context.heartbeat(Member(group, self.ids[name], life.generation)) == 0

    # -- offsets -------------------------------------------------------------------------------------------------

    def _commit(
        self, group: str, at: list[Place], version: int, own: float, expected: int | None, generation: int, member: str
    ) -> None:
        own = int(own * self._retention()) if isinstance(own, float) else own
        offset, epoch = next(self.numbers), next(self.numbers) if version >= 6 else -1
        wanted: dict[str, dict[int, int]] = {}
        for topic, partition in at:
            wanted.setdefault(topic, {})[partition] = offset
        known = [(t, p) for t, p in at if t in self.context.state.cluster.topics]
        codes = self.context.commit(
            group,
            wanted,
            generation=generation,
            member_id=member,
            metadata=f"v{version}",
            retention=own if version <= 4 else -1,
            epoch=epoch,
            version=version,
        )
        if known and expected is None:
            value = offset, epoch, f"v{version}"
            expected = self.model.commit(group, known, value, own if version <= 4 else -1, version)
        assert {place: code for place, code in codes.items() if place in known} == dict.fromkeys(known, expected)

    @rule(
        group=st.sampled_from(GROUPS), at=places, version=st.one_of(st.integers(2, 4), st.integers(2, 10)),
        own=own_retentions,
    )  # fmt: skip
    def somebody_commits_without_a_generation(self, group: str, at: list[Place], version: int, own: float) -> None:
        live = group in self.model.groups and self.model.groups[group].state != "Empty"
        self._commit(group, at, version, own, ErrorCode.UNKNOWN_MEMBER_ID if live else None, -1, "")

    @precondition(lambda self: self._members())
    @rule(pick=picks, at=places, version=st.one_of(st.integers(2, 4), st.integers(2, 10)), own=own_retentions)
    def a_member_commits(self, pick: int, at: list[Place], version: int, own: float) -> None:
        members = self._members()
        group, name = members[pick % len(members)]
        rebalancing = self.model.groups[group].state == "CompletingRebalance"
        expected = ErrorCode.REBALANCE_IN_PROGRESS if rebalancing else None
        self._commit(group, at, version, own, expected, self.lives.of[group].generation, self.ids[name])

    @rule(group=st.sampled_from(GROUPS[:2]))
    def somebody_commits_too_much(self, group: str) -> None:
        """Nothing of it is stored, but a group that was not there is made."""
        live = group in self.model.groups and self.model.groups[group].state != "Empty"
        if group not in self.model.groups:
            self.unseen.add(group)
        (code,) = self.context.commit(group, {LARGE: {0: 1}}, metadata="x" * 4_097).values()
        assert code == (ErrorCode.UNKNOWN_MEMBER_ID if live else ErrorCode.OFFSET_METADATA_TOO_LARGE)
        self.model.commit(group, [], (0, 0, ""), -1, 9)

    @rule(group=st.sampled_from(GROUPS), at=places, everything=st.booleans())
    def offsets_are_deleted(self, group: str, at: list[Place], everything: bool) -> None:
        if everything and group in self.model.groups:
            at = sorted(self.model.groups[group].offsets) or at
        wanted: dict[str, list[int]] = {}
        for topic, partition in at:
            wanted.setdefault(topic, []).append(partition)
        answer = self.context.delete_offsets(group, wanted)
        there = [place for place in at if place[0] in self.context.state.cluster.topics]
        expected = self.model.delete_offsets(group, there)
        if isinstance(expected, int):
            assert answer.error_code == expected
            return
        assert answer.error_code == 0
        missing = dict.fromkeys(set(at) - set(there), int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        answered = {(t.name, p.partition_index): p.error_code for t in answer.topics for p in t.partitions}
        assert answered == expected | missing

    @rule(groups=st.lists(st.sampled_from(GROUPS), min_size=1, max_size=2, unique=True), sure=sure)
    def groups_are_deleted(self, groups: list[str], sure: bool) -> None:
        if not sure:
            return
        expected = [(group, self.model.delete_group(group)) for group in groups]
        assert sorted(self.context.delete_groups(*groups)) == sorted(expected)

    @rule(topic=st.sampled_from(TOPICS), sure=sure)
    def a_topic_comes_or_goes(self, topic: str, sure: bool) -> None:
        if topic in self.context.state.cluster.topics and not sure:
            return
        if topic in self.context.state.cluster.topics:
            self.context.call(ApiKey.DELETE_TOPICS, 6, DeleteTopicsRequest([DeleteTopicState(topic)], timeout_ms=1))
            self.model.delete_topic(topic)
        else:
            create_topic(self.context.state, topic, 10, 1)

    # -- time ----------------------------------------------------------------------------------------------------

    @rule(part=moves)
    def time_passes(self, part: float) -> None:
        self._move(int(part * self._retention()))

    def _retention(self) -> int:
        return self.model.retention if self.model.retention > 0 else 7 * DAY_MS

    def _move(self, ms: int) -> None:
        self.context.move(ms, most_steps=1_000)
        self.model.advance(ms)

    @rule(pick=picks, off=st.integers(-1, 1))
    def time_is_moved_to_where_something_is_due(self, pick: int, off: int) -> None:
        ahead = sorted({at - self.model.now for at, _, _ in self.model.due() if at < 2**60})
        if ahead:
            self._move(max(ahead[pick % len(ahead)] + off, 0))

    @rule()
    def the_regular_sweep_comes(self) -> None:
        self.context.state.settle(self.context.coordinator.expire_offsets(self.context.broker_ms))
        self.model.sweep()

    @rule(minutes=st.sampled_from([1, 60, 10_080, -1]), sure=sure)
    def the_retention_is_changed(self, minutes: int, sure: bool) -> None:
        if not sure:
            return
        if minutes > 0 or self.model.kips:
            self.model.retention = -1 if minutes < 0 else minutes * 60_000
            self.context.coordinator.set_retention(self.model.retention)

    @rule()
    def the_coordinator_moves(self) -> None:
        self.context.reload()
        self.lives.reload()

    # -- agreement -----------------------------------------------------------------------------------------------

    @invariant()
    def offsets_groups_and_meters_agree(self) -> None:
        context, model = self.context, self.model
        assert context.broker_ms == model.now
        for name in GROUPS:
            group = model.groups.get(name)
            fetched = context.fetch(name)
            assert fetched == ({} if group is None else {place: o.value for place, o in group.offsets.items()})
            state = context.group_state(name)
            if group is None or state == group.state:
                assert state == ("Dead" if group is None else group.state)
                self.unseen.discard(name)
            else:  # there is no record of it yet: see `coordinator.readable`
                assert (state, name in self.unseen) == ("Dead", True), group.state
        assert dict(+model.meters) == {name: n for name, n in context.state.meters().items() if n}

    @invariant()
    def every_tombstone_carries_its_time(self) -> None:
        assert self.context.stamping.tombstones == sorted(self.context.stamping.tombstones, key=lambda t: t[0])
        assert sorted(self.context.stamping.tombstones, key=str) == sorted(self.model.tombstones, key=str)

    def teardown(self) -> None:
        """On the log, too, every tombstone carries the time of what it ends."""
        found = []
        for log in self.context.state.offsets_topic.logs:
            for record in log.records():
                if record.value is None:
                    key: Any = decode_record(record.key, None).key
                    place = None if isinstance(key, GroupMetadataKey) else (key.topic, key.partition)
                    found.append((record.timestamp, key.group, place))
        assert sorted(found, key=str) == sorted(self.model.tombstones, key=str)
