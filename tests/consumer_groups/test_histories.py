"""Random histories of a consumer group: whatever members do, nobody is given what another one still has."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kafkastub.coordinator.consumer.group import ConsumerGroup
from kafkastub.coordinator.consumer.owners import Owners
from kafkawire.errors import ErrorCode
from kafkawire.messages.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse
from tests.consumer_groups.context import GROUP, Context, refused

TOPICS = ("a", "b", "c")
MEMBERS = ("m1", "m2", "m3", "m4")
names = st.lists(st.sampled_from(TOPICS), unique=True, max_size=3)
members = st.sampled_from(MEMBERS)


@dataclass
class Client:
    """A member as it sees itself.

    Attributes:
        has: what it was given, and has not said that it let go of.
        target: what it was told to have.
    """

    epoch: int
    instance: str | None = None
    has: set[tuple[str, int]] = field(default_factory=set)
    target: set[tuple[str, int]] = field(default_factory=set)


class Histories(RuleBasedStateMachine):
    """Clients that do as they are told, sooner or later, and a coordinator."""

    def __init__(self) -> None:
        super().__init__()
        self.clients: dict[str, Client] = {}

    @initialize(interval=st.sampled_from((0, 1_000)), counts=st.lists(st.integers(0, 5), min_size=3, max_size=3))
    def begin(self, interval: int, counts: list[int]) -> None:
        self.context = Context(group_consumer_assignment_interval_ms=interval)
        for name, count in zip(TOPICS, counts, strict=True):
            if count:
                self.context.topic(name, count)

    # -- what clients do -----------------------------------------------------------------------------------------

    @rule(member=members, topics=names, static=st.booleans(), assignor=st.sampled_from((None, "range")))
    def join(self, member: str, topics: list[str], static: bool, assignor: str | None) -> None:
        """A join: whoever had the id before has let go of everything."""
        instance, known = f"i-{member[1]}" if static else None, self.clients.get(member)
        if known is not None and instance not in (None, known.instance):
            return  # one that becomes static gets nothing before the next epoch: Kafka looks for another's target
        client = Client(0, instance)
        group = self.group()
        if group is not None and instance in group.static_members:
            with refused(ErrorCode.UNRELEASED_INSTANCE_ID):
                self.context.join(member, *topics, instance=instance)
            return
        reply = self.context.join(member, *topics, instance=instance, assignor=assignor)
        client.instance = instance or (known.instance if known else None)
        self.clients[member] = client
        self.take(client, reply)

    @rule(member=members, returns=st.sampled_from((*MEMBERS, "m5")))
    def leave_for_a_while_and_return(self, member: str, returns: str) -> None:
        client = self.clients.get(member)
        if client is None or client.instance is None or (returns != member and returns in self.clients):
            return
        self.context.leave(member, -2, instance=client.instance)
        del self.clients[member]
        again = self.clients[returns] = Client(0, client.instance)
        self.take(again, self.context.join(returns, topics=["a"], instance=client.instance))

    @rule(member=members, tell=st.booleans(), topics=st.none() | names)
    def heartbeat(self, member: str, tell: bool, topics: list[str] | None) -> None:
        """A heartbeat; `tell`: it has let go of what is not its own any more, and says so."""
        client = self.clients.get(member)
        if client is None:
            return
        if tell:
            client.has &= client.target
        told = None
        if tell:
            told = {name: {p for topic, p in client.has if topic == name} for name in self.context.topics.ids}
        self.take(client, self.context.heartbeat(member, client.epoch, topics=topics, owned=told))

    @rule(member=members)
    def leave(self, member: str) -> None:
        if self.clients.pop(member, None) is not None:
            self.context.leave(member)

    def take(self, client: Client, reply: ConsumerGroupHeartbeatResponse) -> None:
        """What the answer says is what the client goes by."""
        assert reply.member_epoch >= client.epoch
        client.epoch = reply.member_epoch
        told = self.context.told(reply)
        if told is not None:
            client.target = {(topic, partition) for topic, some in told.items() for partition in some}
            client.has |= client.target

    # -- what happens around them --------------------------------------------------------------------------------

    @rule(ms=st.sampled_from((1, 500, 1_000, 44_999, 61_000)))
    def time(self, ms: int) -> None:
        """Who is out has nothing any more: its client finds out with its next heartbeat."""
        self.context.pass_time(ms)
        self.forget_the_fenced()

    def forget_the_fenced(self) -> None:
        group = self.context.coordinator.consumer.find(GROUP)
        known = group.members if group is not None else {}
        self.clients = {member: client for member, client in self.clients.items() if member in known}

    @rule(name=st.sampled_from(TOPICS), count=st.integers(1, 4))
    def grow(self, name: str, count: int) -> None:
        self.context.topic(name, self.context.topics.partition_count(name) + count)

    @rule(name=st.sampled_from(TOPICS))
    def drop(self, name: str) -> None:
        """A topic of which nobody has anything is deleted, so that names stay unambiguous for the clients."""
        if name in self.context.topics.counts and not any(
            topic == name for client in self.clients.values() for topic, _ in client.has | client.target
        ):
            self.context.drop(name)

    @precondition(lambda self: self.clients)
    @rule()
    def another_coordinator(self) -> None:
        before = self.context.shown()
        self.context = self.context.restart()
        assert self.context.shown() == before

    # -- what holds ----------------------------------------------------------------------------------------------

    @invariant()
    def nobody_has_what_another_one_has(self) -> None:
        seen: dict[tuple[str, int], str] = {}
        for member, client in self.clients.items():
            for partition in client.has:
                other = seen.setdefault(partition, member)
                assert other == member, f"{partition} is {other}'s and {member}'s"

    @invariant()
    def what_is_counted_is_what_there_is(self) -> None:
        group = self.group()
        if group is None:
            return
        fresh, names_ = Owners(), dict[str, int]()
        for one in group.members.values():
            fresh.replace(None, one)
            for name in one.subscribed_topic_names:
                names_[name] = names_.get(name, 0) + 1
        assert fresh._epochs == group.owners._epochs
        assert names_ == group.subscriptions.now.by_name
        stable = sum(one.is_reconciled_to(group.target_epoch) for one in group.members.values())
        settled = group.epoch == group.target_epoch and stable == len(group.members)
        assert (group.state_name in ("Stable", "Empty")) == (settled or not group.members)

    def group(self) -> ConsumerGroup | None:
        context = getattr(self, "context", None)
        return None if context is None else context.coordinator.consumer.find(GROUP)

    def teardown(self) -> None:
        """Where everybody does as they are told the group settles, and every partition has one owner.

        From a new epoch on, that is: as in Kafka (consumerGroupHeartbeat, `subscriptionType`), a target that is
        computed late, when a member without subscriptions comes, goes by whether all had subscribed to the same before.
        """
        group = self.group()
        if group is None:
            return
        for name in tuple(self.context.topics.counts):
            self.grow(name=name, count=1)
        for _ in range(12):
            self.time(1_000)
            for member in list(self.clients):
                self.heartbeat(member=member, tell=True, topics=None)
            self.nobody_has_what_another_one_has()
        assert group is self.group()
        assert group.state_name == ("Stable" if group.members else "Empty")
        wanted = {
            (name, partition)
            for one in group.members.values()
            for name in one.subscribed_topic_names
            for partition in range(self.context.topics.partition_count(name))
        }
        assert wanted == {partition for client in self.clients.values() for partition in client.has}


@pytest.mark.parametrize("steps", [12, 40])
def test_partitions_go_from_hand_to_hand(steps: int):
    machine = type("History", (Histories,), {})
    run = machine.TestCase
    run.settings = settings(max_examples=60, stateful_step_count=steps, deadline=None)
    run().runTest()
