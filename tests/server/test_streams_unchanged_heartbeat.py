"""A streams group's heartbeat that changes nothing is answered as all steps would answer it: same bytes, same state."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkastub.coordinator.streams import heartbeat as steps
from kafkastub.coordinator.streams.unchanged_heartbeat import remember
from kafkastub.handlers.context import ConnectionInfo
from kafkastub.server.dispatch import Dispatcher
from kafkawire.codec import Parts, encode
from kafkawire.framing import frame
from kafkawire.header import is_flexible, request_header
from kafkawire.messages.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kafkawire.messages.create_partitions_response import CreatePartitionsResponse
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkawire.messages.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kafkawire.messages.streams_group_heartbeat_request import (
    Endpoint,
    KeyValue,
    StreamsGroupHeartbeatRequest,
    TaskIds,
    TaskOffset,
)
from kafkawire.schema import Message
from tests.handlers.streams_club import StreamsClub, topology

MEMBERS = ("m0", "m1", "m2", "m3")
GROUP_RESOURCE = 32
TOPOLOGY = topology(one="orders -store", two="customers")
OWN = {
    "streams.heartbeat.interval.ms": ["5000", "6000"],
    "streams.session.timeout.ms": ["45000", "50000"],
    "streams.num.standby.replicas": ["0", "1"],
    "streams.rack.aware.assignment.tags": ["zone", "", "", ""],
    "streams.task.offset.interval.ms": ["60000", "61000"],
}


class Broker:
    """A broker that is spoken to in frames; `forgets`: it goes all steps each time."""

    def __init__(self, forgets: bool, interval_ms: int) -> None:
        self.club = StreamsClub({"group.streams.assignment.interval.ms": interval_ms}, orders=3, customers=2)
        self.desk, self.state = self.club.desk, self.club.desk.state
        self.club.beat("first", group="first")  # which brings in the code
        self.forgets = forgets
        self.dispatcher = Dispatcher(self.state)
        self.infos = [ConnectionInfo(n, f"/127.0.0.{n}", f"127.0.0.{n}:1", "PLAINTEXT", 1) for n in (1, 2)]

    @property
    def context(self) -> Any:
        return self.state.coordinator.streams.context

    def say(self, whole: bytes, connection: int = 0) -> bytes:
        """The bytes of the answer to a frame."""
        out: Parts = []
        desk = self.desk
        info = self.infos[connection]
        assert self.dispatcher.serve(whole, 4, len(whole), info, desk.broker_ms, desk.timer_ms, out) is None
        return b"".join(bytes(part) for part in out)

    def grow(self, topic: str) -> None:
        count = len(self.state.cluster.topics[topic].partitions) + 1
        request = CreatePartitionsRequest([CreatePartitionsTopic(topic, count, None)], 1000)
        assert not self.desk.ask(3, request, CreatePartitionsResponse).results[0].error_code

    def configure(self, name: str, value: str) -> None:
        resource = AlterConfigsResource(GROUP_RESOURCE, "g", [AlterableConfig(name, 0, value)])
        answer = self.desk.ask(1, IncrementalAlterConfigsRequest([resource]), IncrementalAlterConfigsResponse)
        assert not answer.responses[0].error_code, answer

    def seen(self) -> Any:
        """All that is known of the group, but for the hash of its topics, whose ids nobody has alike."""
        group = self.state.coordinator.streams.find("g")
        if group is None:
            return None
        volatile = group.volatile
        timers = {
            name: (one.session_timeout_ms, one.session.at, None if one.rebalance is None else one.rebalance.at)
            for name, one in group.timers.items()
        }
        return (
            group.members, group.in_order(), group.static_members, group.target, group.target_epoch, group.state_name,
            replace(group.metadata, metadata_hash=0),
            timers, volatile.task_offsets, volatile.endpoint_epoch, volatile.endpoints, volatile.shutdown_by,
            volatile._refined,
            group.metadata_stale, self.context.rebalances, self.state.next_event(),
        )  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def forgetful_brokers() -> Iterator[set[int]]:
    """The ids of contexts that remember no answer."""
    forgetful: set[int] = set()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Play, "forgetful", forgetful, raising=False)
        patch.setattr(
            steps, "remember", lambda context, *of: None if id(context) in forgetful else remember(context, *of)
        )
        yield forgetful


def asked(request: Message, version: int, client_id: str = "test") -> bytes:
    kind = type(request)
    header = request_header(kind.API_KEY, version, 7, client_id, is_flexible(kind, version))
    return bytes(frame(header, encode(request, version)))


class Play:
    """Both brokers are asked the same, most of it such as members ask."""

    forgetful: set[int]

    def __init__(self, seed: int, interval_ms: int) -> None:
        self.both = Broker(False, interval_ms), Broker(True, interval_ms)
        self.forgetful.clear()
        self.forgetful.add(id(self.both[1].context))
        self.random = random.Random(seed)
        self.epochs = dict.fromkeys(MEMBERS, 0)
        self.known = dict.fromkeys(MEMBERS, -1)

    def step(self) -> None:
        chance, kind = self.random, self.random.random()
        for broker in self.both:
            broker.desk.broker_ms += 7
        if kind < 0.3:
            self._settle()
        elif kind < 0.8:
            self._beat(chance.choice(MEMBERS))
        elif kind < 0.9:
            ms = chance.choice([1, 1000, 1000, 30_000])
            for broker in self.both:
                broker.desk.wait_until(broker.desk.timer_ms + ms)
        elif kind < 0.94:
            topic = chance.choice(["orders", "customers"])
            for broker in self.both:
                broker.grow(topic)
        elif kind < 0.97:
            name = chance.choice(sorted(OWN))
            value = chance.choice(OWN[name])
            for broker in self.both:
                broker.configure(name, value)
        else:
            self.epochs[chance.choice(MEMBERS)] = chance.choice([0, 0, -1])
        assert self.both[0].seen() == self.both[1].seen()

    def _settle(self) -> None:
        """Who is there lets go of what it has to, until all have what they are to have."""
        for broker in self.both:
            broker.desk.wait_until(broker.desk.timer_ms + 1000)
        for number in range(4):
            for member in [one for one in MEMBERS if self.epochs[one] > 0]:
                epoch, plain = self.epochs[member], StreamsGroupHeartbeatRequest("g", member)
                plain.member_epoch, plain.endpoint_information_epoch = epoch, self._endpoint_epoch()
                if number < 3:
                    self._owned(plain, member)
                self._ask(asked(plain, 1))
                self._learn(member)

    def _endpoint_epoch(self) -> int:
        group = self.both[0].state.coordinator.streams.find("g")
        return -1 if group is None else group.volatile.endpoint_epoch

    def _ask(self, whole: bytes, connection: int = 0) -> None:
        answers = [broker.say(whole, connection) for broker in self.both]
        assert answers[0] == answers[1], whole.hex()

    def _beat(self, member: str) -> None:
        chance, epoch = self.random, self.epochs[member]
        instance = f"i-{member}" if member == "m3" else None
        request = StreamsGroupHeartbeatRequest("g", member, epoch, self.known[member])
        if epoch == 0:
            request.topology, request.process_id, request.rebalance_timeout_ms = TOPOLOGY, member, 20_000
            request.instance_id = instance
            request.active_tasks = request.standby_tasks = request.warmup_tasks = ()
            if member == "m2" or chance.random() < 0.2:
                request.user_endpoint = Endpoint("h", 1)
        elif chance.random() < 0.2:
            self._owned(request, member)
        if epoch and chance.random() < 0.3:
            self._more(request, instance)
        client_id = "test" if chance.random() < 0.97 else "other"
        connection = 0 if chance.random() < 0.97 else 1
        version = 1 if chance.random() < 0.95 else 0
        whole = asked(request, version, client_id)
        for _ in range(chance.choice([1, 2, 3])):
            self._ask(whole, connection)
        self._learn(member)

    def _learn(self, member: str) -> None:
        group = self.both[0].state.coordinator.streams.find("g")
        there = None if group is None else group.members.get(member)
        self.epochs[member] = 0 if there is None else there.member_epoch
        if self.random.random() < 0.9:
            self.known[member] = self._endpoint_epoch()

    def _owned(self, request: StreamsGroupHeartbeatRequest, member: str) -> None:
        group = self.both[0].state.coordinator.streams.find("g")
        there = None if group is None else group.members.get(member)
        if there is None:
            return
        kinds = (there.assigned.active, there.assigned.standby, there.assigned.warmup)
        told = [[TaskIds(name, sorted(some)) for name, some in one.items()] for one in kinds]
        request.active_tasks, request.standby_tasks, request.warmup_tasks = told

    def _more(self, request: StreamsGroupHeartbeatRequest, instance: str | None) -> None:
        chance = self.random
        match chance.randrange(10):
            case 0:
                request.member_epoch += chance.choice([-1, 1])
            case 1:
                request.instance_id = instance or chance.choice(["i-m3", "i"])
            case 2:
                request.rack_id = chance.choice(["a", "b"])
            case 3:
                request.rebalance_timeout_ms = chance.choice([20_000, 30_000])
            case 4:
                request.process_id = chance.choice(["p", "q"])
            case 5:
                request.user_endpoint = Endpoint("h", chance.choice([1, 2]))
            case 6:
                request.client_tags = [KeyValue("zone", "a")]
            case 7:
                request.task_offsets = [TaskOffset("one", 0, chance.randrange(100))]
            case 8:
                request.shutdown_application = chance.random() < 0.1
            case _:
                request.instance_id = instance


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 1 << 32), st.sampled_from([0, 1000]))
def test_random_heartbeats(seed: int, interval_ms: int) -> None:
    play = Play(seed, interval_ms)
    for _ in range(60):
        play.step()


@pytest.mark.parametrize("version", [0, 1])
def test_a_member_that_says_nothing_new_is_given_the_same_answer(version: int) -> None:
    play = Play(0, 0)
    broker = play.both[0]
    answer = broker.club.beat(group="g", version=version)
    request = StreamsGroupHeartbeatRequest("g", "m", answer.member_epoch, answer.endpoint_information_epoch)
    first, second = (broker.say(asked(request, version)) for _ in range(2))
    group = broker.state.coordinator.streams.find("g")
    broker.desk.timer_ms += 5
    (route,) = broker.dispatcher.routes()
    given = route.answer
    third = broker.say(asked(request, version))
    assert first == second == third
    assert route.answer is given is group.volatile.last_answers["m"].response
    assert group.timers["m"].session.at == broker.desk.timer_ms + 45_000


@pytest.mark.parametrize("what", ["address", "shutdown", "topic", "own interval", "tags", "version", "host", "name"])
def test_what_changes_is_noticed(what: str) -> None:
    """The heartbeat after it is not answered as the one before, or does what that did not."""
    broker = Play(0, 0).both[0]
    if what == "version":  # only the newer one tells which tags are missing
        broker.configure("streams.rack.aware.assignment.tags", "zone")
    answer = broker.club.beat("a", group="g")
    known = StreamsGroupHeartbeatRequest("g", "a", answer.member_epoch, answer.endpoint_information_epoch)
    version = 0 if what == "version" else 1
    quiet = broker.say(asked(known, version))
    assert broker.say(asked(known, version)) == quiet
    connection, client_id = 0, "test"
    match what:
        case "address":
            broker.club.beat("b", group="g", endpoint=("h", 1))
        case "shutdown":
            broker.club.beat("b", -1, "g", shutdown_application=True)
        case "topic":
            broker.grow("orders")
        case "own interval":
            broker.configure("streams.heartbeat.interval.ms", "6000")
        case "tags":
            broker.configure("streams.rack.aware.assignment.tags", "zone")
        case "version":
            version = 1
        case "host":
            connection = 1
        case _:
            client_id = "other"
    assert broker.say(asked(known, version, client_id), connection) != quiet


def test_who_leaves_is_forgotten() -> None:
    broker = Play(0, 0).both[0]
    answer = broker.club.beat("a", group="g")
    for _ in range(2):
        answer = broker.club.beat("a", answer.member_epoch, "g", endpoint_information_epoch=0)
    group = broker.state.coordinator.streams.find("g")
    assert set(group.volatile.last_answers) == {"a"}
    broker.club.beat("a", -1, "g")
    assert not group.volatile.last_answers
    assert broker.club.beat("a", answer.member_epoch, "g").error_code
