"""A share group at a desk: heartbeats as members send them, through the codec."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from kafkawire.messages.share_group_describe_request import ShareGroupDescribeRequest
from kafkawire.messages.share_group_describe_response import DescribedGroup, ShareGroupDescribeResponse
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.messages.share_group_heartbeat_response import ShareGroupHeartbeatResponse
from tests.handlers.desk import Desk

AT_ONCE: dict[str, object] = {"group.share.assignment.interval.ms": 0}
"""Every change is followed by an assignment: Kafka waits for a second by default."""
Places = dict[str, list[int]]
"""Topic to partitions."""


class ShareClub:
    """A desk and its share groups; `topics` are made, name to partitions."""

    def __init__(self, config: Mapping[str, object] | None = None, nodes: int = 1, **topics: int) -> None:
        self.desk = Desk({**AT_ONCE, **(config or {})}, nodes)
        for name, partitions in topics.items():
            self.desk.topic(name, partitions)

    def beat(
        self, member: str = "m", epoch: int = 0, group: str = "g", topics: Collection[str] | None = None, **more: Any
    ) -> ShareGroupHeartbeatResponse:
        """One heartbeat."""
        names = None if topics is None else list(topics)
        request = ShareGroupHeartbeatRequest(group, member, epoch, subscribed_topic_names=names, **more)
        return self.desk.ask(1, request, ShareGroupHeartbeatResponse)

    def settle(self, *members: str, group: str = "g") -> dict[str, Places | None]:
        """Members that are there go on until nothing changes; what each has then, as a description tells it."""
        for _ in range(4):
            for member in members:
                (epoch,) = (one.member_epoch for one in self.describe(group)[0].members if one.member_id == member)
                self.beat(member, epoch, group)
        found = {one.member_id: one.assignment for one in self.describe(group)[0].members}
        return {member: self.places(found[member]) for member in members}

    def describe(self, *groups: str, operations: bool = False) -> list[DescribedGroup]:
        request = ShareGroupDescribeRequest(groups or ("g",), operations)
        return [*self.desk.ask(1, request, ShareGroupDescribeResponse).groups]

    def places(self, assignment: Any) -> Places | None:
        """What is assigned, by name; None where it is not told."""
        if assignment is None:
            return None
        cluster = self.desk.state.cluster
        found = {}
        for one in assignment.topic_partitions:
            topic = cluster.topic_by_id(one.topic_id)
            found["gone" if topic is None else topic.name] = sorted(one.partitions)
        return found
