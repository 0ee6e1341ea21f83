"""Streams groups whose members mean no good: what they cost memory and the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.coordinator import GroupCoordinator
from kafkastub.handlers import k88_streams_group_heartbeat as k88
from kafkastub.state import lazy_imports
from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.messages import streams_group_heartbeat_request as h
from kafkawire.messages.streams_group_describe_request import StreamsGroupDescribeRequest
from kafkawire.messages.streams_group_describe_response import StreamsGroupDescribeResponse
from kafkawire.messages.streams_group_heartbeat_response import StreamsGroupHeartbeatResponse
from kafkawire.schema import Message
from tests.hostile.prober import LONGEST_MS
from tests.hostile.test_hostile import linux, memory_mb
from tests.hostile.waits import shortest_wait
from tests.process.serving import Serving
from tests.rawclient import RawClient

BEAT, DESCRIBE = ApiKey.STREAMS_GROUP_HEARTBEAT, ApiKey.STREAMS_GROUP_DESCRIBE
SIZE = 100_000
FLAT_MB = 150
CHAIN = 1_200
AT_ONCE = ("group.streams.assignment.interval.ms=0", "group.streams.initial.rebalance.delay.ms=0")


def joining(*parts: h.Subtopology, group: str = "g", member: str = "m", **more: Any) -> h.StreamsGroupHeartbeatRequest:
    """A member that joins, with a topology of these parts; one that reads `orders` unless there are any."""
    said: dict[str, Any] = {"active_tasks": [], "standby_tasks": [], "warmup_tasks": [], "process_id": "p"}
    topology = h.Topology(0, parts or [h.Subtopology("0", ["orders"])])
    return h.StreamsGroupHeartbeatRequest(
        group, member, rebalance_timeout_ms=60_000, topology=topology, **(said | more)
    )


def reporting(tasks: list[h.TaskIds]) -> h.StreamsGroupHeartbeatRequest:
    """The member of "mine" says what it has."""
    return h.StreamsGroupHeartbeatRequest("mine", "m", 2, active_tasks=tasks, standby_tasks=[], warmup_tasks=[])


def filled(make: Callable[[int], Any], whole: Callable[[list[Any]], Message]) -> Message:
    """As many of `make(index)` as fit into `SIZE` bytes."""
    some = len(encode(whole([make(index) for index in range(10_000, 10_100)]), 1))
    return whole([make(index) for index in range(max(1, 100 * SIZE // some))])


def a_changelog(*topics: h.TopicInfo) -> h.Subtopology:
    return h.Subtopology("0", ["orders"], state_changelog_topics=topics)


def handed_on(index: int) -> h.Subtopology:
    """A part that reads what the one before it writes."""
    return h.Subtopology(
        str(index), repartition_source_topics=[h.TopicInfo(f"r{index}")], repartition_sink_topics=[f"r{index + 1}"]
    )


FIRST = h.Subtopology("first", ["orders"], repartition_sink_topics=["r0"])
REQUESTS: dict[str, Message] = {
    "unknown topics": filled(lambda index: f"x{index}", lambda names: joining(h.Subtopology("0", names))),
    "as many unknown topics as are taken": joining(h.Subtopology("0", [f"x{index}" for index in range(4_900)])),
    "parts": filled(lambda index: h.Subtopology(str(index), ["orders"]), lambda parts: joining(*parts)),
    "as many parts as are taken": joining(*(h.Subtopology(str(index), ["orders"]) for index in range(2_400))),
    "as many parts with a topic each": joining(*(h.Subtopology(str(index), [f"x{index}"]) for index in range(2_400))),
    "as many changelogs": joining(a_changelog(*(h.TopicInfo(f"c{index}") for index in range(4_900)))),
    "configurations": filled(
        lambda index: h.KeyValue(f"k{index}", "v"),
        lambda pairs: joining(a_changelog(h.TopicInfo("c", topic_configs=pairs))),
    ),
    "a chain": joining(FIRST, *map(handed_on, range(CHAIN))),
    "a chain backwards": joining(*map(handed_on, reversed(range(CHAIN))), FIRST),
    "a loop": joining(*map(handed_on, range(CHAIN)), h.Subtopology("last", repartition_sink_topics=["r0"])),
    "copartitions": filled(
        lambda _: h.CopartitionGroup([0, 1]),
        lambda groups: joining(h.Subtopology("0", ["orders", "thousand"], copartition_groups=groups)),
    ),
    "a thousand tasks each": filled(
        lambda index: h.Subtopology(str(index), ["thousand"]), lambda parts: joining(*parts)
    ),
    "too many tasks": joining(*(h.Subtopology(str(index), ["thousand"]) for index in range(1_000))),
    "as many tasks as are taken": joining(*(h.Subtopology(str(index), ["thousand"]) for index in range(20))),
    "tags": filled(lambda index: h.KeyValue(f"k{index}", "v"), lambda tags: joining(client_tags=tags)),
    "offsets": filled(lambda index: h.TaskOffset("0", index, 5), lambda offsets: joining(task_offsets=offsets)),
    "offsets of parts": filled(
        lambda index: h.TaskOffset(str(index), 0, 5), lambda offsets: joining(task_offsets=offsets)
    ),
    "a process": joining(process_id="p" * 30_000, rack_id="r" * 30_000, instance_id="i" * 30_000),
}
REPORTS: dict[str, Message] = {
    "tasks of one part": filled(lambda index: h.TaskIds("0", [index]), reporting),
    "tasks of parts": filled(lambda index: h.TaskIds(str(index), [0]), reporting),
    "the same task": filled(lambda _: h.TaskIds("0", [0] * 50), reporting),
    "tasks in one list": filled(lambda index: index, lambda indexes: reporting([h.TaskIds("0", indexes)])),
}


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    topics = "--topic", "orders:4", "thousand:1000"
    with Serving(*topics, "--config", "auto.create.topics.enable=false", *AT_ONCE) as process:
        yield process


@pytest.fixture
def client(serving: Serving) -> Iterator[RawClient]:
    with RawClient(serving.servers) as made:
        beat(made, joining(group="mine"))
        yield made


def beat(client: RawClient, request: Message) -> StreamsGroupHeartbeatResponse:
    return decode(StreamsGroupHeartbeatResponse, 1, client.exchange(BEAT, 1, encode(request, 1)))


def wait_of(serving: Serving, client: RawClient, request: Message, key: ApiKey = BEAT) -> float:
    """How long another client waits meanwhile, in ms."""
    body = encode(request, 1)

    def attack() -> None:
        client.send(key, 1, body, True)
        assert client.drain() is not None

    return shortest_wait(serving.servers, attack)


@linux
@pytest.mark.behaviour("TH-24")
def test_what_one_heartbeat_can_say(serving: Serving, client: RawClient) -> None:
    before, slow = memory_mb(serving), {}
    for number, (name, request) in enumerate({**REQUESTS, **REPORTS}.items()):
        if isinstance(request, h.StreamsGroupHeartbeatRequest) and request.group_id == "g":
            request.group_id = f"g-{number}"
        if (ms := wait_of(serving, client, request)) > LONGEST_MS:
            slow[name] = round(ms)
        leave = h.StreamsGroupHeartbeatRequest(f"g-{number}", "m", -1)
        beat(client, leave)
    assert slow == {}
    assert memory_mb(serving) - before < FLAT_MB


@linux
@pytest.mark.behaviour("KS-9")
@pytest.mark.parametrize("name", ["as many parts as are taken", "as many tasks as are taken"])
def test_a_large_group_is_described_very_often(serving: Serving, client: RawClient, name: str) -> None:
    group = name.replace(" ", "-")
    request = REQUESTS[name]
    assert isinstance(request, h.StreamsGroupHeartbeatRequest)
    request.group_id = group
    assert beat(client, request).error_code == ErrorCode.NONE
    asked = StreamsGroupDescribeRequest([group] * 200)
    assert wait_of(serving, client, asked, DESCRIBE) < LONGEST_MS
    beat(client, h.StreamsGroupHeartbeatRequest(group, "m", -1))


@linux
@pytest.mark.behaviour("KS-9")
def test_descriptions_of_many_groups_leave_others_their_turn(serving: Serving, client: RawClient) -> None:
    names = [f"no-{number}" for number in range(100_000)]
    asked = StreamsGroupDescribeRequest([*names, "mine"])
    assert wait_of(serving, client, asked, DESCRIBE) < LONGEST_MS
    answer = decode(StreamsGroupDescribeResponse, 1, client.exchange(DESCRIBE, 1, encode(asked, 1)))
    assert [one.group_id for one in answer.groups if not one.error_code] == ["mine"]
    assert len(answer.groups) == len(names) + 1


@linux
def test_members_that_come_and_go_leave_nothing_behind(serving: Serving, client: RawClient) -> None:
    before = memory_mb(serving)
    tags = [h.KeyValue(f"k{index}", "v" * 20) for index in range(500)]

    def come_and_go() -> None:
        for number in range(300):
            beat(client, joining(group="busy", member=f"m-{number}", client_tags=tags))
            beat(client, h.StreamsGroupHeartbeatRequest("busy", f"m-{number}", -1))

    assert shortest_wait(serving.servers, come_and_go) < LONGEST_MS
    assert memory_mb(serving) - before < 60


@linux
@pytest.mark.behaviour("TH-25")
def test_offsets_of_those_who_are_refused_are_not_kept(serving: Serving, client: RawClient) -> None:
    """Who cannot be told addresses does not come in: the topics that there would be tasks for are not there."""
    unknown = h.Subtopology("0", ["nobody-has-it"])
    beat(client, joining(unknown, group="refusing"))
    offsets = [h.TaskOffset("0", index, 5) for index in range(SIZE // 15)]
    before = memory_mb(serving)
    for number in range(200):
        answer = beat(
            client,
            joining(
                unknown,
                group="refusing",
                member=f"m-{number}",
                user_endpoint=h.Endpoint("host", 1),
                task_offsets=offsets,
            ),
        )
        assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    beat(client, h.StreamsGroupHeartbeatRequest("refusing", "m", -1))
    assert memory_mb(serving) - before < 30


@pytest.mark.behaviour("TH-24")
def test_more_than_anybody_has_is_said_and_nothing_is_kept() -> None:
    with KafkaStub(topics={"orders": 4, "thousand": 1_000}) as stub, RawClient(stub.bootstrap_servers) as client:
        for request, why in (
            (REQUESTS["parts"], "subtopologies, topics and configurations; this broker takes 5000."),
            (REQUESTS["too many tasks"], "Topology has 1000000 tasks; this broker takes 20000."),
        ):
            answer = beat(client, request)
            assert answer.error_code == ErrorCode.INVALID_REQUEST
            assert answer.error_message is not None
            assert answer.error_message.endswith(why)
        assert "g" not in stub.groups


@pytest.mark.behaviour("TH-22")
def test_the_first_heartbeat_brings_in_its_code_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    brought: list[str] = []
    with KafkaStub(topics={"orders": 1}) as stub, RawClient(stub.bootstrap_servers) as client:
        with RawClient(stub.bootstrap_servers) as other:

            def slowly(name: str) -> None:
                if not brought:  # comes while the server is busy with that
                    other.send(ApiKey.API_VERSIONS, 0, b"")
                brought.append(name)

            def answered(state: object) -> GroupCoordinator:
                other.socket.setblocking(False)
                assert other.socket.recv(10)
                return coordinator_of(state)  # type: ignore[arg-type]

            monkeypatch.setattr(lazy_imports, "import_module", slowly)
            coordinator_of = lazy_imports.coordinator_of
            monkeypatch.setattr(lazy_imports, "coordinator_of", answered)
            assert beat(client, joining(group="first")).error_code == ErrorCode.NONE
        monkeypatch.setattr(lazy_imports, "coordinator_of", coordinator_of)
        assert brought == k88.HEARTBEATS.modules
        assert beat(client, joining(group="second")).error_code == ErrorCode.NONE
        assert brought == k88.HEARTBEATS.modules
