"""Random histories of a group whose members use both protocols, change them, come late and go; restarts between.

The clients do as they are told, each in its own time. Whatever happens, nobody has what another has, what is written
is what is there, and once everybody has caught up all is assigned.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kafkastub.coordinator.classic.group import ClassicGroup
from kafkawire.errors import ErrorCode, KafkaError
from tests.consumer_groups.context import GROUP
from tests.consumer_groups.migration_player import read_assignment
from tests.consumer_groups.mixed import MixedContext

SLOTS = 4
"""Clients; the first two are static members."""

GONE = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.FENCED_INSTANCE_ID)
"""What somebody is told that leaves and was thrown out before."""

Owned = dict[str, set[int]]


class Client:
    """One application's consumer, of either protocol.

    Attributes:
        member_id: "" before it has one.
        epoch: the generation, or member epoch; 0 where it has to join.
        owned: what it has, as it was told.
        seen: how many partitions there were when it joined.
        phase: of a classic one: "out", "joined" (has to sync), "in".
        waits_for: the token of a parked request, with the name of what it is.
    """

    def __init__(self, slot: int, classic: bool) -> None:
        self.instance = f"i{slot}" if slot < 2 else None
        self.name = f"m{slot}"
        self.classic = classic
        self.changes = self.seen = 0
        self.leave_behind()

    def __repr__(self) -> str:
        kind = "classic" if self.classic else "consumer"
        return f"{self.name} {kind} {self.member_id} {self.epoch} {self.owned} {self.phase} {self.waits_for}"

    def leave_behind(self) -> None:
        """Begin anew."""
        self.changes += 1
        self.member_id = "" if self.classic else f"{self.name}-{self.changes}"
        self.epoch, self.owned, self.phase = 0, Owned(), "out"
        self.waits_for: tuple[str, object] | None = None

    def step(self, context: MixedContext) -> None:
        """The next thing that the client does."""
        if self.waits_for is not None:
            what, token = self.waits_for
            if token not in context.answers:
                return
            self.waits_for = None
            answer = context.answers.pop(token)
            if what == "join":
                self._joined(answer, context)
            else:
                self._synced(answer)
            return
        try:
            self._classic_step(context) if self.classic else self._beat(context)
        except KafkaError as error:
            self._refused(error.code)

    def _refused(self, code: ErrorCode) -> None:
        if code in (ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION):
            self.phase = "out"
        elif code is ErrorCode.UNRELEASED_INSTANCE_ID:
            pass  # somebody has its place until a session ends
        else:
            self.leave_behind()

    def _beat(self, context: MixedContext) -> None:
        if self.epoch == 0:
            reply = context.join(self.member_id, "a", instance=self.instance)
        else:
            reply = context.heartbeat(self.member_id, self.epoch, owned=self.owned, instance=self.instance)
        self.epoch = reply.member_epoch
        told = context.told(reply)
        if told is not None:
            self.owned = told

    def _classic_step(self, context: MixedContext) -> None:
        count = context.topics.partition_count("a")
        if self.phase == "in" and self.seen != count:
            self.phase = "out"  # its metadata have told it
        if self.phase == "out":
            self.seen = count
            token = context.start_join(self.member_id, owned=self.owned, instance=self.instance)
            self.waits_for = "join", token
        elif self.phase == "joined":
            self.waits_for = "sync", context.start_sync(self.member_id, self.epoch, instance=self.instance)
        elif context.classic_heartbeat(self.member_id, self.epoch, self.instance) is not ErrorCode.NONE:
            self.phase = "out"
            return
        else:
            return
        if self.waits_for[1] in context.answers:
            self.step(context)

    def _joined(self, answer: Any, context: MixedContext) -> None:
        code = ErrorCode(answer.error_code)
        if code is ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = answer.member_id
        elif code is not ErrorCode.NONE:
            self._refused(code)
        else:
            self.member_id, self.epoch, self.phase = answer.member_id, answer.generation_id, "joined"
            if answer.members:
                members = [member.member_id for member in answer.members]
                count = context.topics.partition_count("a")
                shares = {one: {"a": range(at, count, len(members))} for at, one in enumerate(members)}
                try:
                    token = context.start_sync(self.member_id, self.epoch, shares, self.instance)
                except KafkaError as error:
                    self._refused(error.code)
                else:
                    self.waits_for = "sync", token

    def _synced(self, answer: Any) -> None:
        code = ErrorCode(answer.error_code)
        if code is not ErrorCode.NONE:
            self._refused(code)
        else:
            self.owned = {name: set(some) for name, some in read_assignment(bytes(answer.assignment)).items()}
            self.phase = "in"

    def leave(self, context: MixedContext) -> None:
        """Say goodbye."""
        if self.waits_for is None and self.member_id and (self.classic or self.epoch > 0):
            try:
                if self.classic:
                    context.classic_leave(self.member_id)
                else:
                    context.leave(self.member_id, -1 if self.instance is None else -2, instance=self.instance)
            except KafkaError as error:
                if error.code not in GONE:
                    raise
        self.leave_behind()


class MixedHistory(RuleBasedStateMachine):
    """A group of up to four clients."""

    def __init__(self) -> None:
        super().__init__()
        self.context = MixedContext(group_consumer_assignors="range")
        self.clients: dict[int, Client] = {}

    @initialize(
        partitions=st.integers(1, 6), kinds=st.lists(st.sampled_from([True, True, False, None]), max_size=SLOTS)
    )
    def begin(self, partitions: int, kinds: list[bool | None]) -> None:
        """Some members that have settled: classic ones (True) and others."""
        self.context.topic("a", partitions)
        self.clients = {slot: Client(slot, kind) for slot, kind in enumerate(kinds) if kind is not None}
        self.teardown()

    @rule()
    def everybody_goes_on(self) -> None:
        for _ in range(3):
            for client in self.clients.values():
                client.step(self.context)

    @rule(slot=st.integers(0, SLOTS - 1), classic=st.booleans())
    def start(self, slot: int, classic: bool) -> None:
        if slot not in self.clients:
            self.clients[slot] = Client(slot, classic)
            self.clients[slot].step(self.context)

    @rule(slots=st.lists(st.integers(0, SLOTS - 1), min_size=1, max_size=8))
    def step(self, slots: list[int]) -> None:
        for slot in slots:
            if slot in self.clients:
                self.clients[slot].step(self.context)

    @rule(slot=st.integers(0, SLOTS - 1))
    def leave(self, slot: int) -> None:
        if slot in self.clients:
            self.clients.pop(slot).leave(self.context)

    @rule(slot=st.integers(0, SLOTS - 1))
    def vanish(self, slot: int) -> None:
        self.clients.pop(slot, None)

    @rule(slot=st.integers(0, SLOTS - 1), politely=st.booleans())
    def roll(self, slot: int, politely: bool) -> None:
        """An application is started anew with the other protocol."""
        client = self.clients.pop(slot, None)
        if client is not None:
            if politely:
                client.leave(self.context)
            self.clients[slot] = Client(slot, not client.classic)
            self.clients[slot].step(self.context)

    @rule(slot=st.integers(0, SLOTS - 1))
    def change_in_place(self, slot: int) -> None:
        """The same member goes on with the other protocol; that no real client does."""
        client = self.clients.get(slot)
        if client is not None and client.waits_for is None and client.member_id and client.instance is None:
            client.classic = not client.classic
            client.epoch, client.phase, client.owned = 0, "out", {}

    @rule(ms=st.sampled_from([1, 1_000, 9_999, 10_001, 45_001, 60_001]))
    def pass_time(self, ms: int) -> None:
        self.context.pass_time(ms)

    @rule(partitions=st.integers(1, 6))
    def grow(self, partitions: int) -> None:
        if partitions > self.context.topics.partition_count("a"):
            self.context.topic("a", partitions)

    @rule()
    def restart(self) -> None:
        """Another coordinator: what was parked is answered with NOT_COORDINATOR, and comes back."""
        self.context.took(self.context.coordinator.unload(self.context.broker_ms, self.context.timer_ms))
        answers = self.context.answers
        self.context = self.context.restart()
        for client in self.clients.values():
            if client.waits_for is not None and client.waits_for[1] in answers:
                client.waits_for, client.phase = None, "out"

    @invariant()
    def nobody_has_what_another_has(self) -> None:
        group = self.context.coordinator.consumer.find(GROUP)
        if group is not None:
            has = [
                (topic_id, partition)
                for member in group.members.values()
                for some in (member.assigned, member.pending_revocation)
                for topic_id, of_topic in some.items()
                for partition in of_topic
            ]
            assert len(has) == len(set(has))

    @invariant()
    def a_group_is_of_one_type_and_as_written(self) -> None:
        hard = self.context.coordinator.hard
        assert not (GROUP in hard.generations and GROUP in hard.consumer)
        group = self.context.coordinator.groups.get(GROUP)
        if group is None:
            return
        assert (GROUP in hard.consumer) == (group.group_type == "consumer")
        if not isinstance(group, ClassicGroup):
            other = self.context.restart()
            assert other.shown() == self.context.shown()

    @invariant()
    def nobody_waits_in_a_consumer_group(self) -> None:
        if self.context.coordinator.consumer.find(GROUP) is not None:
            for client in self.clients.values():
                assert client.waits_for is None or client.waits_for[1] in self.context.answers

    def teardown(self) -> None:
        """Everybody catches up.

        A group that is upgraded in the middle of a rebalance, by a static member that takes its own place, stays with
        the assignment of before until something changes, in Kafka too (ConsumerGroup.fromClassicGroup): so it does.
        """
        if not self.clients:
            return
        context = self.context
        if self._catches_up():
            return
        context.topic("a", context.topics.partition_count("a") + 1)
        if not self._catches_up():
            group = context.coordinator.groups[GROUP]
            raise AssertionError(f"it does not settle: {group.state_name}, {list(self.clients.values())}")

    def _catches_up(self) -> bool:
        for _ in range(60):
            for client in self.clients.values():
                client.step(self.context)
            if self._settled():
                return True
            self.context.pass_time(3_000)
        return False

    def _settled(self) -> bool:
        group = self.context.coordinator.groups.get(GROUP)
        if group is None or group.state_name != "Stable" or group.size != len(self.clients):
            return False
        has = sorted(p for client in self.clients.values() for p in client.owned.get("a", ()))
        return has == list(range(self.context.topics.partition_count("a")))


TestMixedHistory = MixedHistory.TestCase
TestMixedHistory.settings = settings(max_examples=40, stateful_step_count=30)
