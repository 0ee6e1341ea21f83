"""One history of share groups (KIP-932) over raw frames, and what the topic and a description hold behind it.

Members choose their own ids, so that two brokers can write the same. Topic ids, times and metadata hashes are replaced
by what they are. Where members subscribe to the same, what each of them gets follows from the topics' ids: here they
subscribe to different topics, unless there is one partition to be had.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kafkawire.messages.alter_share_group_offsets_request import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from kafkawire.messages.alter_share_group_offsets_response import AlterShareGroupOffsetsResponse
from kafkawire.messages.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kafkawire.messages.create_partitions_response import CreatePartitionsResponse
from kafkawire.messages.delete_share_group_offsets_request import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
)
from kafkawire.messages.delete_share_group_offsets_response import DeleteShareGroupOffsetsResponse
from kafkawire.messages.share_group_describe_request import ShareGroupDescribeRequest
from kafkawire.messages.share_group_describe_response import ShareGroupDescribeResponse
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.messages.share_group_heartbeat_response import ShareGroupHeartbeatResponse
from kafkawire.offsets_topic import RecordType, decode_record, encode_key, encode_value
from tests.offsets_topic.consumer_history import Raw, raw
from tests.offsets_topic.history import CONFIG as CLASSIC_CONFIG
from tests.offsets_topic.history import READY_SECONDS, TIMEOUT_MS, Player

CONFIG: dict[str, object] = {
    **CLASSIC_CONFIG,
    "group.share.assignment.interval.ms": 0,
    "share.coordinator.state.topic.num.partitions": 2,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,
}
TOPICS = {"orders": 3, "audit": 1, "many": 20, "other": 2}
GROUPS = ("sg", "large", "topics", "gone", "empty", "offsets")
LEAVE = -1


class Sharer:
    """A member; with `topics` it joins at once."""

    def __init__(self, on: Player, group: str, member_id: str, topics: Sequence[str], rack: str | None = None) -> None:
        self.on = on
        self.group = group
        self.member_id = member_id
        self.epoch = 0
        self.beat(topics=topics, rack=rack)

    def beat(self, topics: Sequence[str] | None = None, rack: str | None = None) -> None:
        """A heartbeat; comes back when the group's state partitions are as they will be."""
        request = ShareGroupHeartbeatRequest(self.group, self.member_id, self.epoch, rack, topics)
        answer = self.on.ask(request, 1, ShareGroupHeartbeatResponse, self.member_id)
        assert answer.error_code == 0, (self.member_id, answer)
        self.epoch = answer.member_epoch
        initialized(self.on, self.group)

    def leave(self) -> None:
        request = ShareGroupHeartbeatRequest(self.group, self.member_id, LEAVE)
        answer = self.on.ask(request, 1, ShareGroupHeartbeatResponse, self.member_id)
        assert answer.error_code == 0, answer


def settle(*members: Sharer) -> None:
    """Everybody knows of everything."""
    for _ in range(3):
        for member in members:
            member.beat()


def play(servers: str) -> Player:
    """The whole history. The caller closes the player."""
    on = Player(servers)
    on.create(**TOPICS)
    on.await_coordinator(*GROUPS)
    together(on)
    large(on)
    topics(on)
    ended(on)
    offsets(on)
    return on


def together(on: Player) -> None:
    """Members come, one changes its mind, one goes."""
    one = Sharer(on, "sg", "one", ["orders"])
    settle(one)
    two = Sharer(on, "sg", "two", ["orders", "audit"], rack="r1")
    settle(one, two)
    one.beat(topics=["audit"])
    settle(one, two)
    three = Sharer(on, "sg", "three", ["audit"])
    settle(three, one)
    two.leave()
    settle(one, three)


def large(on: Player) -> None:
    """Sets of so many partitions that their order is not the numbers', and a topic that grows."""
    one = Sharer(on, "large", "one", ["many"])
    settle(one)
    two = Sharer(on, "large", "two", ["many", "audit"])
    settle(one, two)
    wanted = CreatePartitionsRequest([CreatePartitionsTopic("many", 45, None)], TIMEOUT_MS)
    assert on.ask(wanted, 3, CreatePartitionsResponse).results[0].error_code == 0
    until(lambda: known(on, "large") == 46, one.beat)
    settle(one, two)
    one.leave()
    two.beat()


def topics(on: Player) -> None:
    """A topic is deleted."""
    one = Sharer(on, "topics", "one", ["other", "audit"])
    settle(one)
    on.delete_topic("other")
    until(lambda: known(on, "topics") == 1)
    settle(one)


def ended(on: Player) -> None:
    """A group that is deleted, and one whose members have gone."""
    for group in ("gone", "empty"):
        one = Sharer(on, group, "one", ["audit"])
        settle(one)
        one.leave()
    assert on.delete_groups("gone") == [0]


def offsets(on: Player) -> None:
    """Offsets are altered, which makes the group, and deleted."""
    partitions = [AlterShareGroupOffsetsRequestPartition(0, 5), AlterShareGroupOffsetsRequestPartition(2, 0)]
    asked = AlterShareGroupOffsetsRequest("offsets", [AlterShareGroupOffsetsRequestTopic("orders", partitions)])
    assert on.ask(asked, 0, AlterShareGroupOffsetsResponse).error_code == 0
    initialized(on, "offsets")
    delete = DeleteShareGroupOffsetsRequest("offsets", [DeleteShareGroupOffsetsRequestTopic("orders")])
    assert on.ask(delete, 0, DeleteShareGroupOffsetsResponse).error_code == 0


# -- waiting ---------------------------------------------------------------------------------------------------------


def until(reached: Callable[[], bool], meanwhile: Callable[[], None] = lambda: None) -> None:
    """What Kafka does behind an answer is done."""
    deadline = time.monotonic() + READY_SECONDS
    while not reached():
        assert time.monotonic() < deadline
        meanwhile()
        time.sleep(0.02)


def initialized(on: Player, group: str) -> None:
    """The share coordinator has made what it was asked for."""
    until(lambda: (last := _last(on, group)) is None or not last.initializing_topics)


def known(on: Player, group: str) -> int:
    """The partitions whose state is there."""
    last = _last(on, group)
    return 0 if last is None else sum(len(topic.partitions) for topic in last.initialized_topics)


def _last(on: Player, group: str) -> Any:
    last: Any = None
    for partition in raw(on):
        for batch in partition:
            for key, value, _ in batch:
                record = decode_record(bytes.fromhex(key), None if value is None else bytes.fromhex(value))
                about: Any = record.key
                if record.type is RecordType.SHARE_GROUP_STATE_PARTITION_METADATA and about.group_id == group:
                    last = record.value
    return last


# -- what is left ----------------------------------------------------------------------------------------------------


def described(on: Player) -> list[str]:
    """Each group as ShareGroupDescribe tells it, with names for topic ids and everything in order."""
    answer = on.ask(ShareGroupDescribeRequest(list(GROUPS)), 1, ShareGroupDescribeResponse)
    lines = []
    for group in answer.groups:
        about = (group.error_code, group.group_state, group.group_epoch, group.assignment_epoch, group.assignor_name)
        lines.append(f"{group.group_id} {about}")
        lines += sorted(
            f"  {m.member_id} {m.rack_id} {m.member_epoch} {m.client_id} {m.client_host}"
            f" {sorted(m.subscribed_topic_names)}"
            f" has {sorted((one.topic_name, list(one.partitions)) for one in m.assignment.topic_partitions)}"
            for m in group.members
        )
    return lines


def normalised(topic_ids: Mapping[bytes, str], partitions: Raw) -> list[list[list[str]]]:
    """What the topic holds in words, without what differs from one run to the next."""
    return [
        [[_record(topic_ids, bytes.fromhex(key), None if value is None else bytes.fromhex(value), written)
          for key, value, written in batch] for batch in batches]
        for batches in partitions
    ]  # fmt: skip


def _record(topic_ids: Mapping[bytes, str], key: bytes, value: bytes | None, written: int) -> str:
    decoded = decode_record(key, value)
    assert encode_key(decoded.key) == key
    if decoded.value is None:
        return f"{decoded.key!r} tombstone"
    message: Any = decoded.value
    assert encode_value(message, decoded.version) == value
    at = getattr(message, "assignment_timestamp", 0)
    if at > 0:
        assert 0 <= written - at <= 60_000
        message.assignment_timestamp = 1
    if getattr(message, "metadata_hash", 0):
        message.metadata_hash = 1
    parts = ("topic_partitions", "assigned_partitions", "initializing_topics", "initialized_topics", "deleting_topics")
    for name in parts:
        if hasattr(message, name):
            setattr(message, name, _named(topic_ids, getattr(message, name)))
    return f"{decoded.key!r} v{decoded.version} {message!r}"


def _named(names: Mapping[bytes, str], topics: Any) -> list[Any]:
    """With names for ids, in the order of the names; in Kafka it is that of a hash map."""
    for one in topics:
        one.topic_id = names[bytes(one.topic_id)].encode()
    return sorted(topics, key=lambda one: str(one.topic_id))
