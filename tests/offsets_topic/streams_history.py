"""One history of streams groups (KIP-1071) over raw frames: what members are answered, and what the topic holds then.

Members choose their own ids, so that two brokers can write the same. Times and metadata hashes are replaced by what
they are. What Kafka does behind an answer is waited for with the heartbeats of groups that are not compared.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kafkawire.messages.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse
from kafkawire.messages.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kafkawire.messages.create_partitions_response import CreatePartitionsResponse
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkawire.messages.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_commit_response import OffsetCommitResponse
from kafkawire.messages.streams_group_describe_request import StreamsGroupDescribeRequest
from kafkawire.messages.streams_group_describe_response import StreamsGroupDescribeResponse
from kafkawire.messages.streams_group_heartbeat_request import (
    CopartitionGroup,
    Endpoint,
    KeyValue,
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TaskIds,
    TaskOffset,
    TopicInfo,
    Topology,
)
from kafkawire.messages.streams_group_heartbeat_response import StreamsGroupHeartbeatResponse
from kafkawire.offsets_topic import decode_record, encode_key, encode_value
from tests.offsets_topic.consumer_history import Raw
from tests.offsets_topic.history import CONFIG as CLASSIC_CONFIG
from tests.offsets_topic.history import READY_SECONDS, TIMEOUT_MS, Player

CONFIG: dict[str, object] = {
    **CLASSIC_CONFIG,
    "group.streams.assignment.interval.ms": 0,
    "group.streams.initial.rebalance.delay.ms": 0,
    "group.streams.max.size": 5,
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.replication.factor": 1,
}
TOPICS = {"orders": 4, "customers": 3, "audit": 1, "large": 20}
GROUPS = (
    "tasks", "internal", "static", "asking", "standby", "ending", "classic", "late", "wrong", "gone", "empty", "many",
)  # fmt: skip
PROBES = "probe"
LEAVE, LEAVE_STATIC = -1, -2
_GROUP_RESOURCE = 32
_WITH_UUID = re.compile(r"(joiner)-[0-9a-f-]{36}")


def topology(*subtopologies: Subtopology, epoch: int = 0) -> Topology:
    return Topology(epoch, list(subtopologies))


def stateless(name: str, *topics: str) -> Subtopology:
    return Subtopology(name, source_topics=list(topics))


def stateful(name: str, changelog: str, *topics: str) -> Subtopology:
    return Subtopology(
        name,
        source_topics=list(topics),
        state_changelog_topics=[TopicInfo(changelog, 0, 0, [KeyValue("cleanup.policy", "compact")])],
    )


BOTH = topology(stateless("0", "orders"), stateless("1", "customers"))
JOINED = topology(
    Subtopology("0", source_topics=["orders"], repartition_sink_topics=["app-orders-repartition"]),
    Subtopology(
        "1",
        source_topics=["customers"],
        repartition_source_topics=[TopicInfo("app-orders-repartition", 0, 0, [KeyValue("retention.ms", "-1")])],
        state_changelog_topics=[TopicInfo("app-join-changelog", 0, 1, [KeyValue("cleanup.policy", "compact")])],
        copartition_groups=[CopartitionGroup([0], [], [0])],
    ),
)


class Streamer:
    """A member. `told` are its answers, in words; with a `runs` it joins at once."""

    def __init__(
        self, on: Player, told: list[str], group: str, member_id: str, runs: Topology | None = None, **more: Any
    ) -> None:
        self.on = on
        self.told = told
        self.group = group
        self.member_id = member_id
        self.instance: str | None = more.get("instance_id")
        self.epoch = 0
        self.tasks: tuple[Any, ...] = ((), (), ())
        if runs is not None:
            self.join(runs, **more)

    def join(self, runs: Topology, **more: Any) -> StreamsGroupHeartbeatResponse:
        """(Again.)"""
        self.epoch, self.tasks = 0, ((), (), ())
        fields = {"process_id": self.member_id, "rebalance_timeout_ms": 60_000, **more}
        return self.beat(topology=runs, **fields)

    def beat(self, owns: bool = True, **more: Any) -> StreamsGroupHeartbeatResponse:
        """A heartbeat; one that `owns` tells the tasks that it has."""
        if owns:
            active, standby, warmup = self.tasks
            more = {"active_tasks": active, "standby_tasks": standby, "warmup_tasks": warmup, **more}
        more = {"instance_id": self.instance, "member_epoch": self.epoch, **more}
        version = more.pop("version", 1)
        request = StreamsGroupHeartbeatRequest(self.group, self.member_id, **more)
        answer = self.on.ask(request, version, StreamsGroupHeartbeatResponse, self.member_id)
        self.told.append(f"{self.group}/{self.member_id} {in_words(answer)}")
        if not answer.error_code:
            self.epoch = answer.member_epoch
            if answer.active_tasks is not None:
                self.tasks = (answer.active_tasks, answer.standby_tasks, answer.warmup_tasks)
        return answer

    def until(self, reached: Callable[[StreamsGroupHeartbeatResponse], bool]) -> None:
        """Beat until the broker is that far; answers in between are not told, as their number is nobody's."""
        deadline = time.monotonic() + READY_SECONDS
        while True:
            answer = self.beat()
            if reached(answer):
                return
            self.told.pop()
            assert time.monotonic() < deadline, in_words(answer)
            time.sleep(0.02)

    def leave(self, epoch: int = LEAVE, **more: Any) -> None:
        self.beat(owns=False, member_epoch=epoch, **more)


def in_words(message: Any) -> str:
    """An answer, without what is as it is by default."""
    if isinstance(message, list | tuple):
        return f"[{', '.join(map(in_words, message))}]"
    if not hasattr(message, "FIELDS"):
        return repr(message)
    plain = type(message)()
    told = {name: in_words(getattr(message, name)) for name in message.__slots__}
    said = [f"{name}={value}" for name, value in told.items() if value != in_words(getattr(plain, name))]
    return f"{type(message).__name__}({', '.join(said)})"


def settle(*members: Streamer) -> None:
    """Everybody does what it is told."""
    for _ in range(4):
        for member in members:
            member.beat()


def play(servers: str) -> tuple[Player, list[str]]:
    """The whole history, and what members were answered. The caller closes the player."""
    on, told = Player(servers), list[str]()
    on.create(**TOPICS)
    on.await_coordinator(*GROUPS, PROBES)
    seen(on, *TOPICS)
    for part in (tasks, internal, static, asking, standby, ending, converted, late, wrong, ended, many):
        part(on, told)
    return on, told


def seen(on: Player, *topics: str) -> None:
    """The coordinators know of these topics."""
    deadline = time.monotonic() + READY_SECONDS
    while True:
        answer = Streamer(on, [], PROBES, "probe").join(topology(*(stateless(name, name) for name in topics)))
        Streamer(on, [], PROBES, "probe").leave()
        if not answer.status and not answer.error_code:
            assert on.delete_groups(PROBES) == [0]
            return
        on.delete_groups(PROBES)
        assert time.monotonic() < deadline, in_words(answer)
        time.sleep(0.02)


def tasks(on: Player, told: list[str]) -> None:
    """Members come, let go of tasks for each other, say wrong things, and go."""
    one = Streamer(on, told, "tasks", "one", BOTH)
    settle(one)
    two = Streamer(on, told, "tasks", "two", BOTH, client_tags=[KeyValue("zone", "a"), KeyValue("cluster", "b")])
    one.beat()
    one.beat(owns=False)
    one.beat()
    two.beat()
    three = Streamer(on, told, "tasks", "three", BOTH, process_id="one", rack_id="r1")
    settle(one, two, three)
    two.beat(member_epoch=two.epoch - 1)
    two.beat(member_epoch=two.epoch + 1)
    two.beat(member_epoch=two.epoch - 1, active_tasks=[TaskIds("0", [0, 1, 2, 3])])
    two.beat(active_tasks=[TaskIds("7", [0])])
    two.beat(active_tasks=[TaskIds("0", [4])])
    two.beat(active_tasks=[TaskIds("0", [-1])])
    three.leave()
    three.beat()
    settle(one, two)
    one.join(BOTH)
    settle(one, two)


def internal(on: Player, told: list[str]) -> None:
    """Topics are made for the group, and a source that grows no longer fits."""
    one = Streamer(on, told, "internal", "one", JOINED)
    one.until(lambda answer: not answer.status)
    settle(one)
    two = Streamer(on, told, "internal", "two", JOINED)
    settle(one, two)
    wanted = CreatePartitionsRequest([CreatePartitionsTopic("customers", 5, None)], TIMEOUT_MS)
    assert on.ask(wanted, 3, CreatePartitionsResponse).results[0].error_code == 0
    one.until(lambda answer: bool(answer.status))
    settle(one, two)


def static(on: Player, told: list[str]) -> None:
    """Static members go and come back, under other ids; others want their places."""
    only = topology(stateless("0", "orders"))
    first = Streamer(on, told, "static", "first", only, instance_id="i1")
    other = Streamer(on, told, "static", "other", only, instance_id="i2")
    settle(first, other)
    Streamer(on, told, "static", "thief", only, instance_id="i1")
    stranger = Streamer(on, told, "static", "stranger", instance_id="i1")
    stranger.epoch = first.epoch
    stranger.beat()
    stranger.leave()
    stranger.instance = "i9"
    stranger.beat()
    first.leave(LEAVE_STATIC)
    again = Streamer(on, told, "static", "again", only, instance_id="i1", process_id="first")
    settle(again, other)
    other.leave(LEAVE_STATIC)
    back = Streamer(on, told, "static", "back", only, instance_id="i2", rack_id="r2")
    settle(again, back)
    first.beat()
    back.leave()
    settle(again)
    again.leave(LEAVE_STATIC)


def asking(on: Player, told: list[str]) -> None:
    """Members with endpoints are told where what is."""
    only = topology(stateless("0", "orders"))
    one = Streamer(on, told, "asking", "one", only, user_endpoint=Endpoint("one", 1), endpoint_information_epoch=-1)
    one.beat(endpoint_information_epoch=-1)
    two = Streamer(on, told, "asking", "two", only, user_endpoint=Endpoint("two", 2))
    settle(one, two)
    one.beat(endpoint_information_epoch=5)
    two.beat(user_endpoint=Endpoint("two", 65535))
    one.beat(endpoint_information_epoch=6)
    two.leave()
    settle(one)
    one.beat(task_offsets=[TaskOffset("0", 1, 7), TaskOffset("0", 0, 9)], task_end_offsets=[TaskOffset("0", 1, 70)])
    one.beat(task_offsets=[TaskOffset("0", 1, 8), TaskOffset("0", 1, 8)])
    one.beat(task_offsets=[TaskOffset("9", 1, 8)])


def standby(on: Player, told: list[str]) -> None:
    """The group is told to have standby replicas, and then tags that members do not have."""
    kept = topology(stateful("0", "kept-changelog", "orders"))
    one = Streamer(on, told, "standby", "one", kept)
    one.until(lambda answer: not answer.status)
    two = Streamer(on, told, "standby", "two", kept)
    settle(one, two)
    alter(on, "standby", "streams.num.standby.replicas", "1")
    settle(one, two, one, two)
    three = Streamer(on, told, "standby", "three", kept)
    settle(one, two, three)
    alter(on, "standby", "streams.rack.aware.assignment.tags", "zone,cluster")
    settle(one, two, three)
    one.beat(version=0)
    one.beat(client_tags=[KeyValue("cluster", "c")])


def alter(on: Player, group: str, name: str, value: str) -> None:
    """Configure a group; comes back when the coordinator goes by it."""
    resource = AlterConfigsResource(_GROUP_RESOURCE, group, [AlterableConfig(name, 0, value)])
    answer = on.ask(IncrementalAlterConfigsRequest([resource]), 1, IncrementalAlterConfigsResponse)
    assert answer.responses[0].error_code == 0, answer
    time.sleep(0.5)


def ending(on: Player, told: list[str]) -> None:
    """A member wants the application to end."""
    only = topology(stateless("0", "audit"))
    one = Streamer(on, told, "ending", "one", only, shutdown_application=True)
    two = Streamer(on, told, "ending", "two", only)
    two.beat(shutdown_application=True)
    one.beat(shutdown_application=True)
    one.leave()
    two.beat()
    two.leave()
    two.join(only)


def converted(on: Player, told: list[str]) -> None:
    """A group that has offsets becomes one of each type, as long as it is empty."""
    on.commit("classic", {"orders": {0: 5}})
    one = Streamer(on, told, "classic", "one", BOTH)
    settle(one)
    commits(on, told, one)
    old = ConsumerGroupHeartbeatRequest("classic", "other", 0, subscribed_topic_names=["orders"], topic_partitions=[])
    old.rebalance_timeout_ms = 1_000
    told.append(in_words(on.ask(old, 1, ConsumerGroupHeartbeatResponse)))
    one.leave()
    on.start_join("classic", "joiner", "orders")
    joined = on.joined("joiner")
    on.sync("classic", "joiner", joined, joined)
    one.join(BOTH)
    on.leave("classic", "joiner", joined.member_id)
    one.join(BOTH)


def commits(on: Player, told: list[str], one: Streamer) -> None:
    """Offsets of members, in this epoch and others."""
    for member_id, epoch, topic, version in (
        ("one", one.epoch, "orders", 9),
        ("one", one.epoch, "orders", 8),
        ("one", one.epoch - 1, "orders", 9),
        ("one", one.epoch + 1, "orders", 9),
        ("one", one.epoch - 1, "audit", 9),
        ("nobody", one.epoch, "orders", 9),
        ("", -1, "orders", 9),
        ("one", one.epoch, "audit", 9),
    ):
        partition = OffsetCommitRequestPartition(0, 7, -1, "")
        request = OffsetCommitRequest(
            one.group, epoch, member_id, None, topics=[OffsetCommitRequestTopic(topic, partitions=[partition])]
        )
        answer = on.ask(request, version, OffsetCommitResponse, member_id or "main")
        told.append(f"commit {member_id} {topic} v{version} {in_words(answer)}")


def late(on: Player, told: list[str]) -> None:
    """The source comes after the member; then a member with an older and one with another topology."""
    runs = topology(stateless("0", "late", "orders"), stateless("1", "later", "lost", "gone"), epoch=3)
    one = Streamer(on, told, "late", "one", runs)
    one.beat()
    Streamer(on, told, "late", "asked", runs, user_endpoint=Endpoint("asked", 1))
    one.beat()  # else Kafka remembers what it had in mind when it failed at that
    on.create(late=2, later=1, lost=1, gone=3)
    one.until(lambda answer: not answer.status)
    settle(one)
    Streamer(on, told, "late", "old", topology(stateless("0", "orders"), epoch=2))
    Streamer(on, told, "late", "new", topology(stateless("0", "orders"), epoch=4))
    Streamer(on, told, "late", "same", topology(stateless("0", "orders"), epoch=3))
    swapped = topology(*reversed(runs.subtopologies), epoch=3)
    Streamer(on, told, "late", "swapped", swapped)
    settle(one)
    on.delete_topic("gone")
    one.until(lambda answer: bool(answer.status))


def wrong(on: Player, told: list[str]) -> None:
    """What nobody may say."""
    said: Sequence[Mapping[str, Any]] = (
        {"member_id": ""}, {"group_id": " "}, {"instance_id": ""}, {"rack_id": ""}, {"rebalance_timeout_ms": -1},
        {"active_tasks": [TaskIds("0", [0])]}, {"standby_tasks": [TaskIds("0", [0])]},
        {"warmup_tasks": [TaskIds("0", [0])]}, {"topology": None}, {"member_epoch": -3},
        {"member_epoch": -2, "topology": None}, {"active_tasks": None}, {"member_epoch": 1},
        {"member_epoch": 1, "topology": None}, {"member_epoch": -1, "topology": None},
        {"topology": topology(stateless("0", "__consumer_offsets", "orders", "__transaction_state"))},
        {"topology": topology(stateless("0", "not a name", ".", "orders"))},
        {"topology": topology(Subtopology("0", source_topic_regex=["o.*"]))},
        {"topology": topology(Subtopology("0", source_topics=["orders"], state_changelog_topics=[TopicInfo("c", 3)]))},
        {"topology": topology(stateless("0", "orders"), stateless("0", "customers"))},
        {"topology": topology(stateless("0", "orders"), epoch=-1)},
        {"client_tags": [KeyValue("a", "b"), KeyValue("a", "c")]},
    )  # fmt: skip
    for fields in said:
        request = StreamsGroupHeartbeatRequest(
            "wrong", "one", 0, rebalance_timeout_ms=1, process_id="p", topology=BOTH,
            active_tasks=[], standby_tasks=[], warmup_tasks=[],
        )  # fmt: skip
        for name, value in fields.items():
            setattr(request, name, value)
        told.append(f"{sorted(fields)} {in_words(on.ask(request, 1, StreamsGroupHeartbeatResponse))}")
    Streamer(on, told, "wrong", "one").leave()
    Streamer(on, told, "wrong", "one").leave(LEAVE_STATIC, instance_id="i1")


def ended(on: Player, told: list[str]) -> None:
    """A group that is deleted, and one whose members have gone."""
    for group in ("gone", "empty"):
        one = Streamer(on, told, group, "one", topology(stateless("0", "audit")))
        settle(one)
        told.append(str(on.delete_groups(group)))
        one.leave()
    assert on.delete_groups("gone") == [0]


def many(on: Player, told: list[str]) -> None:
    """More members than the group takes, and subtopologies whose order is no number's."""
    names = [f"s{number}" for number in range(12)]
    runs = topology(*(stateless(name, "large") for name in names))
    members = [Streamer(on, told, "many", f"member-{number}", runs) for number in range(6)]
    settle(*members[:-1])
    members[0].leave()
    settle(*members[1:-1])


# -- what is left ----------------------------------------------------------------------------------------------------


def described(on: Player) -> list[str]:
    """Each group as StreamsGroupDescribe tells it."""
    lines = []
    for version in (0, 1):
        request = StreamsGroupDescribeRequest([*GROUPS, "", "nobody", "static"])
        request.include_authorized_operations = version == 0
        request.include_topology_description = version == 1
        answer = on.ask(request, version, StreamsGroupDescribeResponse)
        lines += [in_words(group) for group in answer.groups]
    return lines


def normalised(partitions: Raw) -> list[list[list[str]]]:
    """What the topic holds in words, without the groups that only waited and what differs from one run to the next."""
    found = []
    for batches in partitions:
        words = [
            [word for key, value, written in batch if (word := _record(key, value, written)) is not None]
            for batch in batches
        ]
        found.append([batch for batch in words if batch])
    return found


def _record(key: str, value: str | None, written: int) -> str | None:
    decoded = decode_record(bytes.fromhex(key), None if value is None else bytes.fromhex(value))
    assert encode_key(decoded.key).hex() == key
    about: Any = decoded.key
    if getattr(about, "group_id", "") == PROBES:
        return None
    if decoded.value is None:
        return f"{in_words(about)} tombstone"
    message: Any = decoded.value
    assert encode_value(message, decoded.version).hex() == value
    for name in ("assignment_timestamp", "commit_timestamp", "current_state_timestamp"):
        at = getattr(message, name, 0)
        if at > 0:
            assert 0 <= written - at <= 60_000
            setattr(message, name, 1)
    if getattr(message, "metadata_hash", 0):
        message.metadata_hash = 1
    if hasattr(message, "topic_id"):
        message.topic_id = bytes(16)
    return _WITH_UUID.sub(r"\1-uuid", f"{in_words(about)} v{decoded.version} {in_words(message)}")
