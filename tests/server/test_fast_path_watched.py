"""Who watches a broker sees the same whether requests go the fast path or the careful one: journal, metrics, faults.

And the way stays open beside fault rules that can match nothing that goes it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkastub.faults import Armed, FaultRule, Plan
from kafkastub.handlers.release import served_apis
from kafkastub.journal import Entry, Ring
from kafkastub.journal.export import row
from kafkastub.server import connection
from kafkastub.server.clock import Clock
from kafkastub.server.connection import Connection
from kafkastub.server.watching.metrics import Metrics
from kafkastub.server.watching.observer import Observer
from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.framing import frame
from kafkawire.header import request_header
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from tests.handlers.desk import START_MS, Desk, batch, produce_request
from tests.server import test_fast_path_commit as commits
from tests.server import test_fast_path_produce as produces
from tests.server.careful import CLIENT

MEASURED = {"wall_time", "duration_us"}
"""What two brokers cannot have alike."""
RULES: tuple[dict[str, Any], ...] = (
    {"group": "nobody's", "api": "OffsetCommit", "error": "NOT_COORDINATOR"},
    {"group": "g", "api": ["OffsetCommit", "Heartbeat"], "error": "NOT_COORDINATOR", "every": 3},
    {"group": "a-group", "api": "OffsetCommit", "throttle_time_ms": 9, "after": 2, "times": 2},
    {"topic": "many", "api": "OffsetCommit", "error": "UNKNOWN_TOPIC_OR_PARTITION", "versions": "8-9"},
    {"topic": "many", "api": "Produce", "error": "NOT_LEADER_OR_FOLLOWER", "share": 0.5},
    {"partition": 1, "error": "UNKNOWN_SERVER_ERROR", "client_id": "te*", "api": ["OffsetCommit", "Produce"]},
    {"client_id": "other", "drop": "after"},
    {"topic": "orders", "drop": "after", "connection": 2},
    {"topic": "keyed", "api": "Produce", "throttle_time_ms": 5, "until": 40},
    {"api": "OffsetCommit", "cut": 12, "every": 9},
)


@pytest.fixture(autouse=True, scope="module")
def turns_of_any_length() -> Iterator[None]:
    """A machine that stands still ends a turn, which the journal shows: of two brokers only one may see it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "_TURN_NS", 1 << 62)
        yield


def plan_for(desk: Desk) -> Plan:
    """An empty plan."""
    cluster = desk.state.cluster
    apis = served_apis(desk.state.config["kafkastub.as.version"])

    def topic_name(topic_id: bytes) -> str | None:
        topic = cluster.topic_by_id(topic_id)
        return None if topic is None else topic.name

    served = {key: (api.first, api.last) for key, api in apis.items()}
    return Plan(served, topic_name, lambda context, request: (), lambda: None)


class Watched:
    """A broker with everything on, spoken to over one connection after the other."""

    def __init__(self, broker: commits.Broker | produces.Broker) -> None:
        self.broker = broker
        self.desk = broker.desk
        self.ring = Ring(1000, 1 << 20)
        self.metrics = Metrics()
        self.plan = plan_for(broker.desk)
        self.rules: list[Armed] = []
        self.observer = Observer(broker.dispatcher, Clock(), cast(Any, None), lambda: None)
        self.observer.set_journal(self.ring)
        self.observer.set_metrics(self.metrics)
        self.connection = self._connect()

    def _connect(self) -> Connection:
        woken = [False]

        def wake() -> None:
            woken[0] = True

        self._woken = woken
        return Connection(self.broker.dispatcher, self.broker.info, 1 << 20, self._now, wake)

    def _now(self) -> tuple[int, int]:
        return self.desk.broker_ms, self.desk.timer_ms

    def add(self, fields: dict[str, Any]) -> None:
        self.rules.append(self.plan.add(FaultRule.from_dict(fields), self.desk.broker_ms))
        self.observer.set_plan(self.plan)

    def remove(self, number: int) -> None:
        self.plan.remove(self.rules[number])
        self.observer.set_plan(self.plan if len(self.plan) else None)

    def say(self, data: bytes) -> tuple[bytes, bool, str | None]:
        """What is sent, whether the connection is closed then, and why; the next one speaks over a new one."""
        connection = self.connection
        connection.receive(data)
        while self._woken[0] and not connection.closing:
            self._woken[0] = False
            connection.resume()
        sent = b"".join(connection.out)
        connection.out.clear()
        if connection.closing:
            connection.lost()
            self.broker.info.id += 1
            self.connection = self._connect()
        return sent, connection.closing, connection.reason

    def seen(self) -> Any:
        """All that a user can see of it, but how long things took."""
        names = {name: topic.topic_id for name, topic in self.desk.state.cluster.topics.items()}
        by_id = {topic_id: name for name, topic_id in names.items()}
        entries = [row(Entry(sequence, raw, 0, by_id.get), frames=True) for sequence, raw in self.ring.numbered()]
        journal = [{name: value for name, value in each.items() if name not in MEASURED} for each in entries]
        answered = [each["duration_us"] is not None for each in entries]
        counts = [
            (each.api, each.version, each.requests, each.errors, each.unanswered, sum(each.buckets), each.seconds > 0)
            for each in self.metrics.apis()
        ]
        metrics = self.metrics
        totals = metrics.refused, metrics.bytes_in, metrics.bytes_out, self.observer.faults.fired
        return journal, answered, counts, totals, [(each.matched, each.hits) for each in self.rules]


def committing(source: random.Random) -> tuple[Watched, Watched, Callable[[], bytes]]:
    """Two brokers, and what is said to them: commits, most of them ordinary, with heartbeats between."""
    straight, careful = both = commits.Broker(), commits.Broker(careful=True)
    members = {}
    for group in source.choice(((), ("g",), ("g", "a-group"))):
        (members[group],) = {broker.member(group) for broker in both}
    requests = commits.Requests(straight, source, members)

    def say() -> bytes:
        if source.random() < 0.1:
            group = source.choice(("g", "a-group"))
            request = HeartbeatRequest(group_id=group, generation_id=1, member_id=members.get(group, "nobody"))
            return frame(request_header(ApiKey.HEARTBEAT, 4, 7, "test", True), encode(request, 4))
        return requests.frame()

    return Watched(straight), Watched(careful), say


def producing(source: random.Random) -> tuple[Watched, Watched, Callable[[], bytes]]:
    straight, careful = produces.Broker(careful=False), produces.Broker(careful=True)
    return Watched(straight), Watched(careful), produces.Requests(straight, source).frame


def chunks(source: random.Random, say: Callable[[], bytes], count: int) -> Iterator[bytes]:
    """What the socket gives: a frame alone, several of them, pieces."""
    said: list[bytes] = []
    for _ in range(count):
        many = source.choice((1, 1, 2, 5, 30))
        for _ in range(many):
            said.append(source.choice(said) if said and source.random() < 0.6 else say())
        data = b"".join(said[-many:])
        at = source.randrange(len(data)) if source.random() < 0.1 else len(data)
        yield from filter(None, (data[:at], data[at:]))


@pytest.mark.parametrize("what", [committing, producing])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1 << 32))
def test_who_watches_sees_the_same_on_both_ways(what: Any, seed: int) -> None:
    source = random.Random(seed)
    straight, careful, say = what(source)
    both = straight, careful
    for number, data in enumerate(chunks(source, say, 15)):
        if source.random() < 0.2:
            fields = source.choice(RULES)
            for each in both:
                each.add(fields)
        elif straight.rules and source.random() < 0.05:
            gone = source.randrange(len(straight.rules))
            for each in both:
                each.remove(gone)
        assert straight.say(data) == careful.say(data), (number, data.hex())
        step = source.choice((0, 1, 1000))
        for each in both:
            each.desk.broker_ms += step
            each.desk.wait_until(each.desk.timer_ms + step)
    assert straight.seen() == careful.seen()
    assert straight.broker.held() == careful.broker.held()


COMMIT_RULES: tuple[tuple[dict[str, Any], bool], ...] = (
    ({"group": "nobody's"}, True),
    ({"topic": "many"}, True),
    ({"partition": 2}, True),
    ({"group": "g", "topic": "many"}, True),
    ({"group": "nobody's", "client_id": "test"}, True),
    ({"versions": "2-7"}, True),
    ({"group": "g"}, False),
    ({"topic": "orders"}, False),
    ({"partition": 1}, False),
    ({"group": "g", "topic": "orders", "partition": 0}, False),
    ({"group": "g", "until": 1}, False),
    ({}, False),
)


def goes_straight(watched: Watched, key: ApiKey, body: bytes) -> bool:
    """Whether a request of the API's only version in use does."""
    (route,) = (each for each in watched.broker.dispatcher.routes() if each.key == key)
    assert route.fast_path is not None
    found = route.fast_path(CLIENT, body, 0, len(body), START_MS, 0)
    return route.handler is route.bypassed and found is not None


@pytest.mark.parametrize("version", [8, 9, 10])
@pytest.mark.parametrize(("fields", "straight"), COMMIT_RULES)
def test_a_commit_goes_straight_beside_rules_that_cannot_match_it(
    fields: dict[str, Any], straight: bool, version: int
) -> None:
    broker = commits.Broker()
    watched, request = Watched(broker), commits.commit(broker, 0, 2)
    body = encode(request, version)
    watched.say(commits.asked(request, version))  # a group that is new is made with care
    assert goes_straight(watched, ApiKey.OFFSET_COMMIT, body)
    watched.add({"api": "OffsetCommit", "error": "NOT_COORDINATOR", **fields})
    assert goes_straight(watched, ApiKey.OFFSET_COMMIT, body) is straight
    watched.say(commits.asked(request, version))
    assert watched.rules[0].hits == (not straight)
    watched.remove(0)
    assert goes_straight(watched, ApiKey.OFFSET_COMMIT, body)


@pytest.mark.parametrize("version", [3, 9, 13])
@pytest.mark.parametrize(
    ("fields", "straight"),
    [({"topic": "many"}, True), ({"partition": 1}, True), ({"topic": "orders"}, False), ({"partition": 0}, False)],
)
def test_records_go_straight_beside_rules_that_cannot_match_them(
    fields: dict[str, Any], straight: bool, version: int
) -> None:
    broker = produces.Broker(careful=False)
    watched = Watched(broker)
    request = produce_request(batch(b"v"), topic_id=broker.topics["orders"].topic_id)
    watched.say(produces.asked(request, version))
    watched.add({"api": "Produce", "error": "NOT_LEADER_OR_FOLLOWER", **fields})
    assert goes_straight(watched, ApiKey.PRODUCE, encode(request, version)) is straight
    watched.say(produces.asked(request, version))
    assert watched.rules[0].hits == (not straight)


def test_a_topic_id_that_nobody_has_yet_may_be_the_one_that_a_rule_is_about() -> None:
    broker = commits.Broker()
    watched, request = Watched(broker), commits.commit(broker, topic="nope")
    watched.say(commits.asked(request, 10))
    watched.add({"api": "OffsetCommit", "topic": "tomorrow", "error": "NOT_COORDINATOR"})
    (route,) = broker.dispatcher.routes()
    assert not watched.plan.never_matches(route, request)
    request.topics[0].topic_id = broker.ids["orders"]
    assert watched.plan.never_matches(route, request)


def test_groups_that_take_turns_are_counted_without_decoding_each_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = commits.Broker()
    watched = Watched(broker)
    both = b"".join(
        commits.asked(commits.commit(broker, 0, count, group=group), 8) for group, count in (("g", 1), ("h", 3))
    )
    watched.say(both)
    watched.say(both)
    monkeypatch.setattr("kafkastub.server.watching.metrics.decode_from", None)
    for _ in range(10):
        _, closed, _ = watched.say(both)
        assert not closed
    (counted,) = watched.metrics.apis()
    assert (counted.requests, counted.errors) == (24, {0: 48})
