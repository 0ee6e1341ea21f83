"""What cases about consumer groups have in common: a member with an epoch, which does as it is told (KIP-848)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import Answer, expect, expect_that
from kafkawire.errors import ErrorCode as E

REBALANCE_MS = 60_000

Owned = dict[bytes, list[int]]
"""Partitions by topic id."""


class Consumer:
    """A member of a consumer group. Its heartbeats go at the version of the run where the case is about them."""

    def __init__(
        self,
        on: Broker,
        group: str,
        *topics: Topic,
        name: str = "m1",
        instance: str | None = None,
        **more: Any,
    ) -> None:
        on.needs("ConsumerGroupHeartbeat", "ConsumerGroupDescribe")
        on.cluster.groups.add(group)
        self.on = on
        self.group = group
        self.topics = [topic.name for topic in topics]
        self.name = name
        self.instance = instance
        self.more = more
        """Further fields of its first heartbeat."""
        self.epoch = 0
        self.owned: Owned = {}
        self._told = True

    def ask(self, epoch: int, **changes: Any) -> Answer:
        """A heartbeat, with nothing but who it is and what is said; nothing is learned from the answer."""
        body = {"group_id": self.group, "member_id": self.name, "member_epoch": epoch, "instance_id": self.instance}
        return self.on.ask("ConsumerGroupHeartbeat", **{**body, **changes})

    def first(self, **changes: Any) -> Answer:
        """The heartbeat that joins."""
        said = {"rebalance_timeout_ms": REBALANCE_MS, "subscribed_topic_names": self.topics, "topic_partitions": []}
        return self.ask(0, **{**said, **self.more, **changes})

    def join(self, **changes: Any) -> Answer:
        """Join, without an error."""
        answer = self.first(**changes)
        expect(answer, error_code=E.NONE)
        self._learn(answer)
        return answer

    def beat(self, **changes: Any) -> Answer:
        """The next heartbeat, without an error: it tells what the member owns where that has changed."""
        if not self._told:
            changes.setdefault("topic_partitions", self.reported())
        answer = self.ask(self.epoch, **changes)
        expect(answer, error_code=E.NONE)
        self._told = self._told or "topic_partitions" in changes
        self._learn(answer)
        return answer

    def leave(self, epoch: int = -1) -> None:
        """Leave, for good or (-2) for a moment."""
        expect(self.ask(epoch), error_code=E.NONE, member_id=self.name, member_epoch=epoch)

    def reported(self) -> list[dict[str, Any]]:
        """What it owns, as a heartbeat says it."""
        return [{"topic_id": topic, "partitions": rows} for topic, rows in self.owned.items()]

    def has(self, topic: Topic) -> list[int]:
        """Its partitions of a topic."""
        return sorted(self.owned.get(topic.id, ()))

    def _learn(self, answer: Answer) -> None:
        self.epoch = int(answer.member_epoch)
        if answer.assignment is not None:
            self.owned = partitions(answer.assignment)
            self._told = False


def partitions(assignment: Any) -> Owned:
    """What an assignment is of."""
    return {bytes(one.topic_id): list(one.partitions) for one in assignment.topic_partitions}


def described(on: Broker, group: str) -> Any:
    """What ConsumerGroupDescribe says of a group."""
    return on.ask("ConsumerGroupDescribe", group_ids=[group]).groups[0]


def settle(*members: Consumer) -> None:
    """Let members do as they are told until the group is stable. Raises Mismatch where it does not become so.

    A broker may keep a new assignment back for a while (`group.consumer.assignment.interval.ms`).
    """
    on, group = members[0].on, members[0].group

    def stable() -> bool:
        for one in members:
            one.beat()
        return bool(described(on, group).group_state == "Stable")

    expect_that("whether the group becomes stable", on.in_time(stable, every=0.03), True)


def shared_out(topic: Topic, members: Iterable[Consumer]) -> list[int]:
    """All partitions of a topic that members have, each as often as somebody has it."""
    return sorted(index for one in members for index in one.has(topic))
