"""the fast path of OffsetCommit does what the careful one does: same answers, same offsets, same records."""

from __future__ import annotations

import random
from inspect import getclosurevars
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.handlers.outcome import Deferred
from kafkastub.layers.fast_paths.offset_commit import fast_path
from kafkastub.server.dispatch import Dispatcher, Refused
from kafkastub.server.watching.metrics import Metrics
from kafkawire.api import ApiKey
from kafkawire.codec import Parts, decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.framing import frame
from kafkawire.header import request_header
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_commit_response import OffsetCommitResponse
from kafkawire.messages.sync_group_request import SyncGroupRequest
from tests.handlers.desk import START_MS, Desk
from tests.server.careful import CLIENT, CarefulDispatcher

TOPICS = {"orders": 3, "many": 200, "one": 1}
GROUPS = ("g", "a-group", "x" * 126, "x" * 127, "größe", "")
SUBSCRIPTION = b"\0\0\0\0\0\1\0\6orders\xff\xff\xff\xff"


class Broker:
    """A broker with three topics, that is spoken to in frames."""

    def __init__(self, careful: bool = False, **config: object) -> None:
        self.desk = Desk({"group.initial.rebalance.delay.ms": 0, "kafkastub.offsets.history.records": 300, **config})
        self.ids = {name: self.desk.topic(name, count).topic_id for name, count in TOPICS.items()}
        self.dispatcher = (CarefulDispatcher if careful else Dispatcher)(self.desk.state)
        self.info = ConnectionInfo(1, "/127.0.0.1", "127.0.0.1:1")

    def say(self, whole: bytes, start: int = 0) -> tuple[bytes, Any]:
        """The bytes of the answer to a frame that begins there, and what else became of it."""
        out: Parts = []
        size = int.from_bytes(whole[start : start + 4], "big")
        now = self.desk.broker_ms, self.desk.timer_ms
        try:
            left = self.dispatcher.serve(whole, start + 4, start + 4 + size, self.info, *now, out)
        except Refused as refused:
            return b"", str(refused)
        return b"".join(out), None if left is None else left[1]

    def member(self, group: str, instance: str | None = None) -> str:
        """A member of the group's next generation; its only one."""
        protocol = JoinGroupRequestProtocol("range", SUBSCRIPTION)
        join = JoinGroupRequest(
            group_id=group, session_timeout_ms=60_000, rebalance_timeout_ms=60_000, member_id="",
            group_instance_id=instance, protocol_type="consumer", protocols=[protocol],
        )  # fmt: skip
        joined = self.desk.outcome(ApiKey.JOIN_GROUP, 3 if instance is None else 5, join)
        self.desk.wait_until(self.desk.timer_ms + 1)
        assert isinstance(joined, Deferred)
        answer: Any = joined.reply
        sync = SyncGroupRequest(group_id=group, generation_id=answer.generation_id, member_id=answer.member_id)
        self.desk.outcome(ApiKey.SYNC_GROUP, 3, sync)
        return str(answer.member_id)

    def held(self) -> Any:
        """What is committed, when the members' sessions end, and what the log tells of it all."""
        state = self.desk.state
        coordinator = state.coordinator
        offsets = {
            group: {topic: list(columns.items()) for topic, columns in coordinator.offsets.topics(group).items()}
            for group in coordinator.offsets.group_ids()
        }
        groups = {name: (one.state, one.check_at) for name, one in coordinator.groups.items()}
        sessions = sorted((one.name, one.at) for one in coordinator.deadlines)
        logs = [list(log.records()) for log in state.offsets_topic.logs]
        return offsets, groups, sessions, logs, coordinator.meters.offset_commits, coordinator.next_expiry()


def asked(request: OffsetCommitRequest, version: int, number: int = 7) -> bytes:
    header = request_header(ApiKey.OFFSET_COMMIT, version, number, "test", version >= 8)
    return frame(header, encode(request, version))


def commit(
    broker: Broker, first: int = 0, count: int = 1, *, topic: str = "orders", offset: int = 5, metadata: str = "",
    group: str = "g", generation: int = -1, member: str = "", instance: str | None = None,
) -> OffsetCommitRequest:  # fmt: skip
    partitions = [
        OffsetCommitRequestPartition(index, offset + index, offset % 3 - 1, committed_metadata=metadata)
        for index in range(first, first + count)
    ]
    topics = [OffsetCommitRequestTopic(topic, broker.ids.get(topic, b"?" * 16), partitions)]
    return OffsetCommitRequest(
        group_id=group, generation_id_or_member_epoch=generation, member_id=member, group_instance_id=instance,
        topics=topics,
    )  # fmt: skip


class Requests:
    """Random ones, most of them such as consumers send."""

    def __init__(self, broker: Broker, source: random.Random, members: dict[str, str]) -> None:
        self.broker = broker
        self.random = source
        self.members = members

    def frame(self) -> bytes:
        chance, choice = self.random.random, self.random.choice
        group = choice(("g", "g", "a-group", *GROUPS))
        instance = "i" if chance() < 0.05 else None
        member, generation = self.members.get(group, ""), 1 if group in self.members else -1
        if chance() < 0.1:
            member, generation = choice((("", -1), ("nobody", 1), (member, generation + 1)))
        first, count = choice(((0, 1), (0, 1), (0, 3), (1, 2), (2, 1), (2, 2), (0, 126), (0, 127), (-1, 1)))
        request = commit(
            self.broker, first, count, topic=choice(("orders", "orders", "many", "many", "one", "nope")),
            offset=self.random.randrange(1 << 40), metadata=choice(("", "", "", "m")),
            group=group, generation=generation, member=member, instance=instance,
        )  # fmt: skip
        if chance() < 0.05:
            request.topics = [*request.topics, *commit(self.broker, topic="one").topics]
        if chance() < 0.05:
            request.topics[0].partitions = list(request.topics[0].partitions)[::-1]
        whole = bytearray(asked(request, choice((2, 7, 8, 8, 8, 9, 9, 10, 10))))
        if chance() < 0.05:
            whole[self.random.randrange(8, min(len(whole), 120))] ^= 1 << self.random.randrange(8)
        if chance() < 0.05:
            whole += b"\0" * choice((1, 3))
            whole[:4] = (len(whole) - 4).to_bytes(4, "big")
        return bytes(whole)


@settings(max_examples=40)
@given(st.integers(0, 1 << 32))
def test_whatever_is_committed_is_answered_and_kept_alike(seed: int) -> None:
    source = random.Random(seed)
    config = {"offsets.retention.minutes": source.choice((1, 10080))}
    straight, careful = both = Broker(**config), Broker(careful=True, **config)
    members = {}
    for group in source.choice(((), ("g",), ("g", "a-group"))):
        (members[group],) = {broker.member(group) for broker in both}
    requests = Requests(straight, source, members)
    said: list[bytes] = []
    for _ in range(40):
        whole = source.choice(said) if said and source.random() < 0.5 else requests.frame()
        said.append(whole)
        lead = source.choice((b"", b"\1" * 9))
        buffer = lead + whole + lead
        assert straight.say(buffer, len(lead)) == careful.say(buffer, len(lead)), whole.hex()
        step = source.choice((0, 1, 1000, 30_000, 61_000))
        deleted = source.choice(list(TOPICS)) if source.random() < 0.03 else None
        for broker in both:
            broker.desk.broker_ms += step
            broker.desk.wait_until(broker.desk.timer_ms + step)
            if deleted in broker.desk.state.cluster.topics:
                broker.desk.delete(deleted)
            if step == 61_000:
                broker.desk.state.expire_offsets(broker.desk.broker_ms)
    assert straight.held() == careful.held()


@pytest.mark.parametrize("version", [8, 9, 10])
@pytest.mark.parametrize("count", [1, 3, 126])
@pytest.mark.parametrize(("member", "instance"), [(False, None), (True, None), (True, "i")])
def test_what_consumers_commit_goes_straight(version: int, count: int, member: bool, instance: str | None) -> None:
    broker = Broker()
    topic = "orders" if count <= 3 else "many"
    who = {"member": broker.member("g", instance), "generation": 1, "instance": instance} if member else {}
    broker.say(asked(commit(broker), 8))  # a group that is new is made with care, and so is its topic
    way = fast_path(broker.desk.state, version)
    assert way is not None
    for offset in (5, 5, 6, 1 << 60, -1):
        body = encode(commit(broker, 0, count, topic=topic, offset=offset, **who), version)  # type: ignore[arg-type]
        answer = way(CLIENT, body, 0, len(body), START_MS, 0)
        assert answer is not None
        committed = decode(OffsetCommitResponse, version, answer).topics[0].partitions
        assert [(one.partition_index, one.error_code) for one in committed] == [(i, 0) for i in range(count)]
        columns = broker.desk.state.coordinator.offsets.topic("g", topic)
        assert columns is not None
        assert [value.offset for _, value in columns.items()] == [offset + index for index in range(count)]


@pytest.mark.parametrize("version", range(2, 8))
def test_older_versions_have_no_straight_way(version: int) -> None:
    assert fast_path(Desk().state, version) is None


def test_what_has_metadata_goes_by_the_handler_and_what_follows_goes_straight() -> None:
    broker = Broker()
    broker.say(asked(commit(broker), 8))
    way = fast_path(broker.desk.state, 8)
    assert way is not None
    found = []
    for metadata in ("", "m", ""):
        body = encode(commit(broker, metadata=metadata), 8)
        found.append(way(CLIENT, body, 0, len(body), START_MS, 0) is not None)
    assert found == [True, False, True]


def test_a_commit_keeps_the_session_alive() -> None:
    broker = Broker()
    member = broker.member("g")
    request = commit(broker, member=member, generation=1)
    for number in range(5):
        broker.desk.wait_until(broker.desk.timer_ms + 50_000)
        answer, _ = broker.say(asked(request, 8, number))
        (partition,) = decode(OffsetCommitResponse, 8, answer[9:]).topics[0].partitions
        assert ErrorCode(partition.error_code) is ErrorCode.NONE


def test_the_beginnings_that_are_remembered_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafkastub.layers.fast_paths.offset_commit._MOST_PLANS", 3)
    straight, careful = both = Broker(), Broker(careful=True)
    most = 0
    for number in [*range(10), *range(10)]:
        request = commit(straight, group=f"g-{number}", offset=number)
        request.topics[0].topic_id = b""
        assert straight.say(asked(request, 8)) == careful.say(asked(request, 8))
        (route,) = straight.dispatcher.routes()
        assert route.fast_path is not None
        most = max(most, len(getclosurevars(getclosurevars(route.fast_path).nonlocals["find"]).nonlocals["plans"]))
    assert most == 3
    assert len({len(broker.desk.state.coordinator.groups) for broker in both}) == 1
    assert straight.held() == careful.held()


def test_who_waits_for_the_offsets_topic_is_told() -> None:
    broker = Broker()
    broker.say(asked(commit(broker), 8))
    told: list[int] = []
    broker.desk.state.group_watchers.append(lambda: told.append(1))
    broker.say(asked(commit(broker), 8))
    assert told == [1]


def test_every_partition_that_is_committed_is_counted_by_the_metrics() -> None:
    broker = Broker()
    broker.say(asked(commit(broker), 8))
    (route,) = broker.dispatcher.routes()
    assert route.fast_path is not None
    metrics = Metrics()
    way = metrics.counted_fast_path(route, route.fast_path)
    for count in (1, 1, 3, 3, 1, 2):
        body = encode(commit(broker, 0, count), 8)
        assert way(CLIENT, body, 0, len(body), START_MS, 0) is not None
    assert metrics.meter(route).requests == 6
    assert metrics.meter(route).errors == {0: 11}
