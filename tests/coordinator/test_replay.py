"""Whatever happens to a coordinator, its records restore its hard state, and its soft state stays in order."""

from __future__ import annotations

from random import Random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kafkastub.coordinator import GroupCoordinator, GroupMetadata
from kafkastub.coordinator.classic.states import State
from kafkawire.errors import ErrorCode
from tests.coordinator.context import CoordinatorTestContext, Member, Parked, subscription

groups = st.sampled_from(["g", "h"])
instances = st.sampled_from([None, None, "i1", "i2"])
versions = st.sampled_from([0, 3, 4, 5, 9])
protocol_sets = st.sampled_from(
    [
        {"range": subscription("a")},
        {"range": subscription("b"), "sticky": subscription("b")},
        {"sticky": subscription("a"), "range": subscription("a", "b")},
        {"other": b""},
        {},
    ]
)
picks = st.integers(0, 1000)


class Lives(RuleBasedStateMachine):
    """Clients that do anything, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.context = CoordinatorTestContext(group_max_size=4)
        self.known = [Member("g", "", -1), Member("h", "nobody", 3)]
        self.parked: list[Parked] = []

    def pick(self, number: int) -> Member:
        return self.known[number % len(self.known)]

    @rule(
        group=groups,
        instance=instances,
        version=versions,
        protocols=protocol_sets,
        rebalance=st.sampled_from([1, 9000]),
    )
    def new_member(self, group: str, instance: str | None, version: int, protocols: dict[str, bytes], rebalance: int):
        if version < 5:
            instance = None
        parked = self.context.join(group, instance=instance, protocols=protocols, version=version, rebalance=rebalance)
        self._follow(group, parked)

    @rule(number=picks, instance=instances, protocols=protocol_sets)
    def join_again(self, number: int, instance: str | None, protocols: dict[str, bytes]):
        member = self.pick(number)
        if self._is_parked(member):
            return  # its connection is muted
        parked = self.context.join(member.group_id, member.member_id, instance=instance, protocols=protocols)
        self._follow(member.group_id, parked)

    def _is_parked(self, member: Member) -> bool:
        group = self.context.coordinator.groups.get(member.group_id)
        known = None if group is None else group.members.get(member.member_id)
        return known is not None and (known.join_token is not None or known.sync_token is not None)

    def _follow(self, group: str, parked: Parked) -> None:
        self.parked.append(parked)
        if parked.answered and parked.answer.member_id:
            self.known.append(Member(group, parked.answer.member_id, parked.answer.generation_id))

    @rule(number=picks, generation=st.sampled_from([None, None, None, 1, 7]), named=st.booleans())
    def sync(self, number: int, generation: int | None, named: bool):
        member = self.pick(number)
        if self._is_parked(member):
            return
        current = self._at(member, generation)
        everybody = {m.member_id: m.member_id.encode() for m in self.known}
        protocol, version = ("range", 5) if named else (None, 4)
        reply = self.context.sync(current, everybody, protocol=protocol, version=version)
        if isinstance(reply, Parked):
            self.parked.append(reply)

    def _at(self, member: Member, generation: int | None) -> Member:
        group = self.context.coordinator.groups.get(member.group_id)
        current = group.generation if generation is None and group is not None else generation or 0
        return Member(member.group_id, member.member_id, current)

    @rule(number=picks, instance=instances)
    def heartbeat(self, number: int, instance: str | None):
        assert self.context.heartbeat(self._at(self.pick(number), None), instance) is not ErrorCode.UNKNOWN_SERVER_ERROR

    @rule(number=picks, instance=instances)
    def leave(self, number: int, instance: str | None):
        member = self.pick(number)
        if not self._is_parked(member):
            self.context.leave(member.group_id, (member.member_id, instance))

    @rule(number=picks, alone=st.booleans(), offset=st.integers(0, 9), retention=st.sampled_from([-1, 1, 10**9]))
    def commit(self, number: int, alone: bool, offset: int, retention: int):
        member = self._at(self.pick(number), None)
        generation, member_id = (-1, "") if alone else (member.generation, member.member_id)
        self.context.commit(
            member.group_id,
            {"a": {0: offset, 5: offset}, "b": {1: offset}},
            generation=generation,
            member_id=member_id,
            retention=retention,
            version=4,
        )

    @rule(group=groups, topic=st.sampled_from(["a", "b"]))
    def delete_offsets(self, group: str, topic: str):
        self.context.delete_offsets(group, {topic: [0, 1]})

    @rule(group=groups)
    def delete_group(self, group: str):
        self.context.delete_groups(group)

    @rule(ms=st.sampled_from([1, 3_000, 9_000, 60_000, 400_000]))
    def time_passes(self, ms: int):
        self.context.advance(ms)

    @rule(ms=st.sampled_from([0, 10**9]))
    def sweep(self, ms: int):
        self.context.sweep(ms)

    @invariant()
    def the_records_restore_the_hard_state(self):
        live = self.context.coordinator
        again = GroupCoordinator(self.context.state.config, live.profile, Random(0))
        for record in self.context.records:
            again.apply(record)
        assert again.hard.generations == live.hard.generations
        for group_id in {*live.offsets.group_ids(), *again.offsets.group_ids()}:
            mine, theirs = live.offsets.topics(group_id), again.offsets.topics(group_id)
            assert {t: dict(c.items()) for t, c in mine.items()} == {t: dict(c.items()) for t, c in theirs.items()}
        again.loaded(self.context.broker_ms, 0)
        for group_id, group in again.groups.items():
            record = live.hard.generations.get(group_id)
            assert group.state is (State.STABLE if record and record.members else State.EMPTY)
            assert list(group.members) == [m.member_id for m in record.members] if record else not group.members
        assert set(again.groups) <= set(live.groups)

    @invariant()
    def groups_are_in_order(self):
        context = self.context
        for group in context.coordinator.groups.values():
            assert group.awaiting_join == sum(m.join_token is not None for m in group.members.values())
            assert group.awaiting_join == 0 or group.state is State.PREPARING_REBALANCE
            assert (group.leader is None) == (not group.members)
            assert group.leader is None or group.leader in group.members
            assert group.state is not State.EMPTY or not group.members
            static = {m.group_instance_id: m.member_id for m in group.members.values() if m.group_instance_id}
            assert group.static_members == static
            if group.state is State.PREPARING_REBALANCE:
                assert group.join is not None
                assert group.join.at is not None
            if group.state is State.STABLE:
                record = context.coordinator.hard.generations[group.group_id]
                assert isinstance(record, GroupMetadata)
                assert record.generation == group.generation
            for member in group.members.values():
                alive = member.session.at is not None or member.satisfies_session
                assert alive, f"{member.member_id} would live for ever"

    @invariant()
    def nothing_is_overdue(self):
        deadline = self.context.coordinator.next_deadline()
        assert deadline is None or deadline >= self.context.timer_ms


TestLives = Lives.TestCase
TestLives.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
