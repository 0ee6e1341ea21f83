"""A streams group at a desk: heartbeats as members send them, through the codec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafkawire.messages.streams_group_describe_request import StreamsGroupDescribeRequest
from kafkawire.messages.streams_group_describe_response import DescribedGroup, StreamsGroupDescribeResponse
from kafkawire.messages.streams_group_heartbeat_request import (
    CopartitionGroup,
    Endpoint,
    KeyValue,
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TaskIds,
    TopicInfo,
    Topology,
)
from kafkawire.messages.streams_group_heartbeat_response import StreamsGroupHeartbeatResponse
from tests.handlers.desk import Desk

AT_ONCE: dict[str, object] = {
    "group.streams.assignment.interval.ms": 0,
    "group.streams.initial.rebalance.delay.ms": 0,
}
"""Every change is followed by an assignment: Kafka waits for others, and for a second, by default."""
Tasks = dict[str, list[int]]
"""Subtopology to partitions."""


def topology(epoch: int = 0, **sources: str) -> Topology:
    """Subtopologies by name, each with its source topics, `-` before those of its state: `one="orders -store"`."""
    return Topology(epoch, [subtopology(name, *names.split()) for name, names in sources.items()])


def subtopology(name: str, *topics: str) -> Subtopology:
    return Subtopology(
        name,
        source_topics=[topic for topic in topics if not topic.startswith("-")],
        state_changelog_topics=[TopicInfo(topic[1:]) for topic in topics if topic.startswith("-")],
    )


def repartitioned(epoch: int = 0) -> Topology:
    """Orders are written to a topic of the application's own, which is read together with customers."""
    first = Subtopology("0", source_topics=["orders"], repartition_sink_topics=["app-by-customer-repartition"])
    second = Subtopology(
        "1",
        source_topics=["customers"],
        repartition_source_topics=[TopicInfo("app-by-customer-repartition", 0, 0, [KeyValue("retention.ms", "-1")])],
        state_changelog_topics=[TopicInfo("app-join-changelog", 0, 0, [KeyValue("cleanup.policy", "compact")])],
        copartition_groups=[CopartitionGroup([0], [], [0])],
    )
    return Topology(epoch, [first, second])


ORDERS = topology(one="orders")


class StreamsClub:
    """A desk and its streams groups; `topics` are made, name to partitions."""

    def __init__(self, config: Mapping[str, object] | None = None, nodes: int = 1, **topics: int) -> None:
        self.desk = Desk({**AT_ONCE, **(config or {})}, nodes)
        for name, partitions in topics.items():
            self.desk.topic(name, partitions)

    def beat(
        self,
        member: str = "m",
        epoch: int = 0,
        group: str = "g",
        tasks: Tasks | None = None,
        endpoint: tuple[str, int] | None = None,
        tags: Sequence[tuple[str, str]] | None = None,
        version: int = 1,
        **more: Any,
    ) -> StreamsGroupHeartbeatResponse:
        """One heartbeat; one that joins brings `ORDERS` along, unless it is told otherwise. `tasks` are active ones."""
        if epoch == 0:
            more = {"topology": ORDERS, "rebalance_timeout_ms": 60_000, "process_id": member, **more}
            tasks = tasks or {}
        if tasks is not None:
            some = [TaskIds(name, partitions) for name, partitions in tasks.items()]
            more = {"active_tasks": some, "standby_tasks": [], "warmup_tasks": [], **more}
        request = StreamsGroupHeartbeatRequest(
            group,
            member,
            epoch,
            user_endpoint=None if endpoint is None else Endpoint(*endpoint),
            client_tags=None if tags is None else [KeyValue(*pair) for pair in tags],
            **more,
        )
        return self.desk.ask(version, request, StreamsGroupHeartbeatResponse)

    def settle(self, *members: str, group: str = "g") -> dict[str, Tasks]:
        """Members that are there go on, and let go of what they have to, until nothing changes; what each has then."""
        for _ in range(4):
            for member in members:
                one = self.member(member, group)
                self.beat(member, one.member_epoch, group, tasks=self.tasks(one.target_assignment.active_tasks))
        return {member: self.tasks(self.member(member, group).assignment.active_tasks) for member in members}

    def member(self, member: str, group: str = "g") -> Any:
        """One member, as a description tells it."""
        (one,) = (one for one in self.describe(group)[0].members if one.member_id == member)
        return one

    def describe(self, *groups: str, version: int = 1, **more: bool) -> list[DescribedGroup]:
        request = StreamsGroupDescribeRequest(groups or ("g",), **more)
        return [*self.desk.ask(version, request, StreamsGroupDescribeResponse).groups]

    def state(self, group: str = "g") -> str:
        return self.describe(group)[0].group_state

    @staticmethod
    def tasks(told: Any) -> Tasks | None:
        """What is told, by subtopology; None where nothing is."""
        return None if told is None else {one.subtopology_id: [*one.partitions] for one in told}


def statuses(answer: StreamsGroupHeartbeatResponse) -> list[tuple[int, str]]:
    """The statuses of an answer."""
    return [(one.status_code, one.status_detail) for one in answer.status or ()]
