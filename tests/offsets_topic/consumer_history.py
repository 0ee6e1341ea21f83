"""One history of consumer groups (KIP-848) over raw frames, and what the topic and a description hold behind it.

Members choose their own ids, as clients do from ConsumerGroupHeartbeat 1 on, so that two brokers can write the same.
Topic ids, times, metadata hashes and what a regular expression's version counts are replaced by what they are.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from kafkawire.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from kafkawire.messages.consumer_group_describe_response import ConsumerGroupDescribeResponse
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest, TopicPartitions
from kafkawire.messages.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse
from kafkawire.offsets_topic import decode_record, encode_key, encode_value
from kafkawire.records import read_batch
from tests.offsets_topic.history import CONFIG as CLASSIC_CONFIG
from tests.offsets_topic.history import PARTITIONS, READY_SECONDS, Player

CONFIG: dict[str, object] = {
    **CLASSIC_CONFIG,
    "group.consumer.assignment.interval.ms": 0,
    "group.consumer.regex.refresh.interval.ms": 3_600_000,
}
TOPICS = {"orders": 3, "audit": 1, "other": 2}
GROUPS = ("cg", "static", "regex", "gone", "empty")
_HEARTBEATS = 50
LEAVE, LEAVE_STATIC = -1, -2


class Consumer:
    """A member that does what it is told; with what `join` says it joins at once."""

    def __init__(self, on: Player, group: str, member_id: str, **join: Any) -> None:
        self.on = on
        self.group = group
        self.member_id = member_id
        self.epoch = 0
        self.owned: dict[bytes, Sequence[int]] = {}
        self.instance = join.pop("instance_id", None)
        if join:
            self.beat(rebalance_timeout_ms=60_000, topic_partitions=[], **join)

    def beat(self, **fields: Any) -> bool:
        """A heartbeat; whether the answer has an assignment."""
        request = ConsumerGroupHeartbeatRequest(
            self.group, self.member_id, self.epoch, instance_id=self.instance, **fields
        )
        answer = self.on.ask(request, 1, ConsumerGroupHeartbeatResponse, self.member_id)
        assert answer.error_code == 0, (self.member_id, answer)
        self.epoch = answer.member_epoch
        if answer.assignment is None:
            return False
        self.owned = {bytes(one.topic_id): list(one.partitions) for one in answer.assignment.topic_partitions}
        return True

    def told(self, **fields: Any) -> bool:
        """A heartbeat that tells what it owns."""
        return self.beat(
            topic_partitions=[TopicPartitions(topic_id, some) for topic_id, some in self.owned.items()], **fields
        )

    def leave(self, epoch: int = LEAVE) -> None:
        request = ConsumerGroupHeartbeatRequest(self.group, self.member_id, epoch, instance_id=self.instance)
        answer = self.on.ask(request, 1, ConsumerGroupHeartbeatResponse, self.member_id)
        assert answer.error_code == 0, answer


def settle(*members: Consumer) -> None:
    """Let members do what they are told, one after the other, until none is told anything and all have one epoch."""
    for _ in range(_HEARTBEATS):
        told = [member.told() for member in members]
        if not any(told) and len({member.epoch for member in members}) == 1:
            return
    raise AssertionError([(member.member_id, member.epoch, member.owned) for member in members])


def play(servers: str, topic_ids: Mapping[bytes, str] | None = None) -> Player:
    """The whole history. The caller closes the player. `topic_ids`: the topics are there already."""
    on = Player(servers)
    if topic_ids is None:
        on.create(**TOPICS)
    else:
        on.topic_ids.update(topic_ids)
    on.await_coordinator(*GROUPS)
    cooperative(on)
    static(on)
    expressions(on)
    ended(on)
    return on


def cooperative(on: Player) -> None:
    """Members come, change their minds, commit, and one goes."""
    one = Consumer(on, "cg", "one", subscribed_topic_names=["orders"], server_assignor="range")
    settle(one)
    two = Consumer(on, "cg", "two", subscribed_topic_names=["orders"], server_assignor="range", rack_id="r1")
    settle(one, two)
    one.told(subscribed_topic_names=["orders", "audit"])
    settle(one, two)
    on.commit("cg", {"orders": {0: 5}}, member=("one", one.epoch))
    three = Consumer(on, "cg", "three", subscribed_topic_names=["audit", "orders"], server_assignor="range")
    one.told()  # what it is to give up stays with it: the history ends in the middle of a rebalance
    two.leave()
    three.told()


def static(on: Player) -> None:
    """A static member goes and comes back under another id; another goes for a while."""
    first = Consumer(on, "static", "first", instance_id="i1", subscribed_topic_names=["orders"])
    other = Consumer(on, "static", "other", instance_id="i2", subscribed_topic_names=["orders"])
    settle(first, other)
    first.leave(LEAVE_STATIC)
    again = Consumer(on, "static", "again", instance_id="i1", subscribed_topic_names=["orders"])
    settle(again, other)
    other.leave(LEAVE_STATIC)


def expressions(on: Player) -> None:
    """One by a regular expression, which is resolved behind its back; then another by another."""
    one = Consumer(on, "regex", "one", subscribed_topic_regex="or.*", subscribed_topic_names=[])
    _until_assigned(one)
    settle(one)
    one.told(subscribed_topic_regex="o.*r|nothing")
    _until_assigned(one, topics=1)
    settle(one)


def _until_assigned(member: Consumer, topics: int = 1) -> None:
    """Regular expressions are resolved in another thread."""
    deadline = time.monotonic() + READY_SECONDS
    while len(member.owned) != topics or not member.told():
        member.told()
        assert time.monotonic() < deadline, (member.epoch, member.owned)
        if len(member.owned) == topics:
            return
        time.sleep(0.02)


def ended(on: Player) -> None:
    """A group that is deleted, and one whose members have gone."""
    for group in ("gone", "empty"):
        one = Consumer(on, group, "one", subscribed_topic_names=["audit"])
        settle(one)
        on.commit(group, {"audit": {0: 5}}, member=("one", one.epoch))
        one.leave()
    assert on.delete_groups("gone") == [0]


def described(on: Player, groups: Sequence[str] = GROUPS) -> list[str]:
    """Each group as ConsumerGroupDescribe 1 tells it, with names for topic ids and everything in order."""
    answer = on.ask(ConsumerGroupDescribeRequest(list(groups)), 1, ConsumerGroupDescribeResponse)
    lines = []
    for group in answer.groups:
        about = (group.error_code, group.group_state, group.group_epoch, group.assignment_epoch, group.assignor_name)
        lines.append(f"{group.group_id} {about}")
        lines += sorted(
            f"  {m.member_id} {m.instance_id} {m.rack_id} {m.member_epoch} {m.client_id} {m.client_host}"
            f" {sorted(m.subscribed_topic_names)} {m.subscribed_topic_regex!r} {m.member_type}"
            f" has {_assigned(m.assignment.topic_partitions)} target {_assigned(m.target_assignment.topic_partitions)}"
            for m in group.members
        )
    return lines


def _assigned(topics: Any) -> str:
    return str(sorted((one.topic_name, sorted(one.partitions)) for one in topics))


Raw = list[list[list[tuple[str, str | None, int]]]]
"""For each partition batches, each with records: key and value in hexadecimal digits, timestamp."""


def raw(on: Player) -> Raw:
    """What the topic holds."""
    return [
        [[(r.key.hex(), None if r.value is None else r.value.hex(), r.timestamp) for r in read_batch(batch) if r.key]
         for batch in on.batches(partition)]
        for partition in range(PARTITIONS)
    ]  # fmt: skip


def normalised(topic_ids: Mapping[bytes, str], partitions: Raw) -> list[list[list[str]]]:
    """The same in words, without what differs from one run to the next."""
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
    for name in ("timestamp", "assignment_timestamp", "commit_timestamp"):
        at = getattr(message, name, 0)
        if at > 0:
            assert 0 <= written - at <= 60_000
            setattr(message, name, 1)
    for name in ("metadata_hash", "version"):
        if getattr(message, name, 0):
            setattr(message, name, 1)
    if hasattr(message, "topic_id"):
        message.topic_id = topic_ids[bytes(message.topic_id)].encode()
    for name in ("topic_partitions", "assigned_partitions", "partitions_pending_revocation"):
        if hasattr(message, name):
            setattr(message, name, _named(topic_ids, getattr(message, name)))
    return f"{decoded.key!r} v{decoded.version} {message!r}"


def _named(names: Mapping[bytes, str], topics: Any) -> list[Any]:
    """With names for ids, in the order of the names; in Kafka it is that of a hash map."""
    for one in topics:
        one.topic_id = names[bytes(one.topic_id)].encode()
    return sorted(topics, key=lambda one: str(one.topic_id))
