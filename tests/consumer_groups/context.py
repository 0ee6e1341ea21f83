"""A group coordinator with topics and members of the consumer protocol; time goes where the test puts it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any, Self

import pytest

from kafkastub.config import BrokerConfig, Profile
from kafkastub.coordinator import GroupCoordinator
from kafkastub.coordinator.consumer.group import ConsumerGroup
from kafkastub.coordinator.consumer.member import ConsumerMember
from kafkastub.coordinator.modern.settings import GroupConfig
from kafkastub.coordinator.records import Record
from kafkastub.coordinator.turn import Turn
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.consumer_group_describe_response import DescribedGroup
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest, TopicPartitions
from kafkawire.messages.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse

START_MS = 1_700_000_000_000
GROUP = "g"
Partitions = Mapping[str, Collection[int]]
"""Topic name to partitions."""


class Topics:
    """A cluster's topics, by hand."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.ids: dict[str, bytes] = {}
        self._made = 0

    def put(self, name: str, partitions: int) -> None:
        """Create a topic, or let it grow."""
        if name not in self.counts:
            self._made += 1
            self.ids[name] = self._made.to_bytes(16)
        self.counts[name] = partitions

    def drop(self, name: str) -> None:
        """Delete a topic."""
        del self.counts[name], self.ids[name]

    def topic_id(self, name: str) -> bytes | None:
        return self.ids.get(name)

    def topic_name(self, topic_id: bytes) -> str | None:
        return next((name for name, one in self.ids.items() if one == topic_id), None)

    def partition_count(self, name: str) -> int:
        return self.counts.get(name, 0)

    def racks(self, name: str, partition: int) -> Collection[str]:
        return ()

    def names(self) -> Collection[str]:
        return self.counts.keys()


class Context:
    """Heartbeats, and a look at what came of them.

    Attributes:
        timer_ms, broker_ms: now.
        records: everything that was written, in order.
        rounds: how often something was due.
    """

    def __init__(self, **configs: Any) -> None:
        self._given = configs
        given = {"group.consumer.assignment.interval.ms": "0"}
        given.update({name.replace("_", "."): str(value) for name, value in configs.items()})
        config = BrokerConfig(given, Profile.named("kafka"))
        self.coordinator = GroupCoordinator(config, config.profile, Random(1))
        self.topics = self.coordinator.image = Topics()
        self.configs: dict[str, GroupConfig] = {}
        self.coordinator.own_configs = lambda group_type, group_id, kind: self.configs.get(group_id)
        self.timer_ms = 1_000
        self.broker_ms = START_MS
        self.records: list[Record] = []
        self.rounds = 0

    # -- topics and time -----------------------------------------------------------------------------------------

    def topic(self, name: str, partitions: int) -> None:
        """Create a topic, or let it grow."""
        self.topics.put(name, partitions)
        self.coordinator.metadata_changed([name])

    def drop(self, name: str) -> None:
        """Delete a topic."""
        self.topics.drop(name)
        self.coordinator.metadata_changed([name])

    def pass_time(self, ms: int) -> None:
        """Both clocks move; what is due happens at its time."""
        end = self.timer_ms + ms
        while (at := self.coordinator.next_deadline()) is not None and at <= end:
            self._move(max(at, self.timer_ms))
            self.rounds += 1
            self.took(self.coordinator.expire(self.broker_ms, self.timer_ms))
        self._move(end)

    def _move(self, timer_ms: int) -> None:
        self.broker_ms += timer_ms - self.timer_ms
        self.timer_ms = timer_ms

    def took(self, turn: Turn) -> Turn:
        """Keep a turn's records."""
        self.records += turn.records
        return turn

    # -- requests ------------------------------------------------------------------------------------------------

    def heartbeat(
        self,
        member: str,
        epoch: int,
        *,
        topics: Sequence[str] | None = None,
        regex: str | None = None,
        owned: Partitions | None = None,
        instance: str | None = None,
        rebalance_ms: int = -1,
        assignor: str | None = None,
        rack: str | None = None,
        group: str = GROUP,
        version: int = 1,
        client: str = "client",
        **rest: Any,
    ) -> ConsumerGroupHeartbeatResponse:
        """One heartbeat, and what is due at once after it."""
        told = None if owned is None else [TopicPartitions(self.id_of(n), list(some)) for n, some in owned.items()]
        request = ConsumerGroupHeartbeatRequest(
            group,
            member,
            epoch,
            instance,
            rack,
            rebalance_ms,
            topics,
            regex,
            assignor,
            told,
        )
        consumer = self.coordinator.consumer
        consumer.check_heartbeat(request, version)
        now = self.broker_ms, self.timer_ms
        turn = self.took(consumer.heartbeat(request, version, client, "/127.0.0.1", *now, **rest))
        self.pass_time(0)
        reply: ConsumerGroupHeartbeatResponse = turn.reply.response
        return reply

    def join(self, member: str, *topics: str, **rest: Any) -> ConsumerGroupHeartbeatResponse:
        """A member's first heartbeat."""
        rest.setdefault("rebalance_ms", 60_000)
        return self.heartbeat(member, 0, topics=rest.pop("topics", topics), owned={}, **rest)

    def leave(self, member: str, epoch: int = -1, **rest: Any) -> ConsumerGroupHeartbeatResponse:
        """A member's last heartbeat."""
        return self.heartbeat(member, epoch, **rest)

    def follow(self, *members: str, group: str = GROUP) -> None:
        """Members that do as they are told, until nothing changes any more."""
        for _ in range(20):
            before = len(self.records)
            for member in members:
                known = self.group(group).members[member]
                has = self.partitions(known.assigned)
                self.heartbeat(member, known.member_epoch, owned=has, group=group)
            if len(self.records) == before:
                return
        raise AssertionError(f"the group does not settle: {self.shown(group)}")

    def restart(self) -> Self:
        """Another coordinator, which knows what was written."""
        other = type(self)(**self._given)
        other.topics = other.coordinator.image = self.topics
        other.timer_ms, other.broker_ms = 5, self.broker_ms
        for record in self.records:
            other.coordinator.apply(record)
        other.took(other.coordinator.loaded(other.broker_ms, other.timer_ms))
        other.records = list(self.records)
        return other

    # -- what it looks like --------------------------------------------------------------------------------------

    def id_of(self, name: str) -> bytes:
        """The id of a topic; of one that is gone, that of no topic."""
        return self.topics.ids.get(name, b"?" * 16)

    def group(self, group: str = GROUP) -> ConsumerGroup:
        """The group, which is there."""
        found = self.coordinator.consumer.find(group)
        assert found is not None, f"there is no consumer group {group}"
        return found

    def member(self, member: str, group: str = GROUP) -> ConsumerMember:
        """A member of it."""
        return self.group(group).members[member]

    def partitions(self, by_id: Mapping[bytes, Iterable[int]]) -> dict[str, set[int]]:
        """Partitions by topic name."""
        return {self.topics.topic_name(topic_id) or "?": set(some) for topic_id, some in by_id.items()}

    def has(self, member: str, group: str = GROUP) -> dict[str, set[int]]:
        """What the member has."""
        return self.partitions(self.member(member, group).assigned)

    def told(self, reply: ConsumerGroupHeartbeatResponse) -> dict[str, set[int]] | None:
        """What an answer says that the member has; None where it says nothing."""
        if reply.assignment is None:
            return None
        return self.partitions({topic.topic_id: topic.partitions for topic in reply.assignment.topic_partitions})

    def state(self, group: str = GROUP) -> tuple[str, int, int]:
        """State, epoch, and the epoch of the target."""
        found = self.group(group)
        return found.state_name, found.epoch, found.target_epoch

    def described(self, group: str = GROUP) -> DescribedGroup:
        """As ConsumerGroupDescribe tells it."""
        found = self.coordinator.consumer.describe(self.group(group))
        assert found is not None
        return found

    def shown(self, group: str = GROUP) -> dict[str, Any]:
        """Everything of a group that a client can find out, for comparisons."""
        found = self.group(group)
        members = {
            one.member_id: (one.member_epoch, one.state.name, self.partitions(one.assigned), one.instance_id)
            for one in found.members.values()
        }
        return {"state": self.state(group), "members": members, "topics": sorted(found.subscriptions.now.names)}


@contextmanager
def refused(code: ErrorCode, message: str = "") -> Iterator[None]:
    """That a request is refused with a code, and a text that begins so."""
    with pytest.raises(KafkaError) as caught:
        yield
    assert caught.value.code is code, str(caught.value)
    assert (caught.value.message or "").startswith(message), str(caught.value)
