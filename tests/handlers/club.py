"""A consumer group at a desk: heartbeats as members send them, through the codec."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from kafkawire.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from kafkawire.messages.consumer_group_describe_response import ConsumerGroupDescribeResponse, DescribedGroup
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest, TopicPartitions
from kafkawire.messages.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_commit_response import OffsetCommitResponse
from tests.handlers.desk import Desk

AT_ONCE: dict[str, object] = {"group.consumer.assignment.interval.ms": 0}
"""Every change is followed by an assignment: Kafka waits for a second by default."""
Places = dict[str, list[int]]
"""Topic to partitions."""


class Club:
    """A desk and its consumer groups; `topics` are made, name to partitions."""

    def __init__(self, config: Mapping[str, object] | None = None, nodes: int = 1, **topics: int) -> None:
        self.desk = Desk({**AT_ONCE, **(config or {})}, nodes)
        for name, partitions in topics.items():
            self.desk.topic(name, partitions)

    def beat(
        self,
        member: str = "m",
        epoch: int = 0,
        group: str = "g",
        owned: Mapping[str, Collection[int]] | None = None,
        topics: Collection[str] | None = None,
        version: int = 1,
        **more: Any,
    ) -> ConsumerGroupHeartbeatResponse:
        """One heartbeat; of one that joins what it has to say too."""
        if epoch == 0:
            more = {"rebalance_timeout_ms": 60_000, **more}
            owned, topics = {} if owned is None else owned, () if topics is None else topics
        request = ConsumerGroupHeartbeatRequest(group, member, epoch, subscribed_topic_names=topics, **more)
        if owned is not None:
            cluster = self.desk.state.cluster
            found = [TopicPartitions(cluster.topics[name].topic_id, [*indexes]) for name, indexes in owned.items()]
            request.topic_partitions = found
        return self.desk.ask(version, request, ConsumerGroupHeartbeatResponse)

    def describe(self, *groups: str, version: int = 1, operations: bool = False) -> list[DescribedGroup]:
        request = ConsumerGroupDescribeRequest(groups or ("g",), operations)
        return [*self.desk.ask(version, request, ConsumerGroupDescribeResponse).groups]

    def places(self, answer: ConsumerGroupHeartbeatResponse) -> Places | None:
        """What is assigned, as the answer says; None where it does not."""
        if answer.assignment is None:
            return None
        cluster = self.desk.state.cluster
        found = {}
        for one in answer.assignment.topic_partitions:
            topic = cluster.topic_by_id(one.topic_id)
            found["gone" if topic is None else topic.name] = sorted(one.partitions)
        return found

    def commit(
        self, group: str, member: str = "", epoch: int = -1, partitions: tuple[int, ...] = (0,), version: int = 9
    ) -> list[int]:
        """Commit offset 5 of partitions of topic t; their codes."""
        asked = [OffsetCommitRequestPartition(index, 5) for index in partitions]
        request = OffsetCommitRequest(group, epoch, member, topics=[OffsetCommitRequestTopic("t", partitions=asked)])
        (topic,) = self.desk.ask(version, request, OffsetCommitResponse).topics
        return [one.error_code for one in topic.partitions]
