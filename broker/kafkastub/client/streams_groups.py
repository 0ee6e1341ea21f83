"""Streams groups (KIP-1071), asked of any broker: what `kafkastub streams-groups` needs.

Results are plain data. Errors are BrokerError with the broker's text, or ClientError. Their offsets are those of any
group: `kafkastub.client.groups`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from kafkastub.client import of_groups
from kafkastub.client.routing import Client
from kafkastub.client.topics import TopicPartition
from kafkawire.messages.streams_group_describe_request import StreamsGroupDescribeRequest

STREAMS: Final = "streams"
"""The type of such a group, as ListGroups takes and tells it."""

Listing = of_groups.Listing
delete = of_groups.delete
Tasks = dict[str, list[int]]
"""Partitions by subtopology id."""


@dataclass(frozen=True)
class Assignment:
    """Tasks by what is done with them."""

    active: Tasks
    standby: Tasks
    warmup: Tasks


@dataclass(frozen=True, kw_only=True)
class Member(of_groups.Member):
    """A member of a streams group: a thread of the instance that has the process id."""

    process_id: str
    epoch: int
    is_classic: bool
    assignment: Assignment
    target: Assignment


@dataclass(frozen=True)
class Subtopology:
    """A part of the application; of its topics those that it reads, and that it keeps its state in."""

    id: str
    source_topics: list[str]
    repartition_source_topics: list[str]
    state_changelog_topics: list[str]

    @property
    def inputs(self) -> list[str]:
        """All that it reads."""
        return [*self.source_topics, *self.repartition_source_topics]


@dataclass(frozen=True, kw_only=True)
class Group(of_groups.Group[Member]):
    """A streams group as its coordinator describes it."""

    topology_epoch: int
    subtopologies: list[Subtopology]

    @property
    def source_topics(self) -> set[str]:
        """The topics that the application does not write itself."""
        return {topic for one in self.subtopologies for topic in one.source_topics}

    @property
    def internal_topics(self) -> list[str]:
        """Its own ones, as far as nobody else reads them as a source: in the order in which it was told."""
        own = (
            topic
            for one in self.subtopologies
            for topic in (*one.repartition_source_topics, *one.state_changelog_topics)
        )
        sources = self.source_topics
        return list(dict.fromkeys(topic for topic in own if topic not in sources))

    def reads(self) -> set[TopicPartition]:
        """What its members' active tasks read."""
        inputs = {one.id: one.inputs for one in self.subtopologies}
        return {
            (topic, partition)
            for member in self.members
            for name, partitions in member.assignment.active.items()
            for topic in inputs.get(name, ())
            for partition in partitions
        }


def list_groups(client: Client, states: Iterable[str] = ()) -> list[Listing]:
    """The streams groups of all brokers, in the order of their answers. Raises BrokerError."""
    return of_groups.list_of_type(client, STREAMS, states)


def describe(client: Client, group_id: str) -> Group:
    """A streams group. Raises BrokerError (GROUP_ID_NOT_FOUND where there is none, or one of another type)."""
    coordinator, row = of_groups.described(client, group_id, StreamsGroupDescribeRequest(group_ids=[group_id]))
    topology = row.topology
    return Group(
        **of_groups.of_group(coordinator, row),
        topology_epoch=-1 if topology is None else topology.epoch,
        subtopologies=[] if topology is None else [_subtopology(one) for one in topology.subtopologies or ()],
        members=[_member(one) for one in row.members],
    )


def _subtopology(one: Any) -> Subtopology:
    return Subtopology(
        one.subtopology_id,
        list(one.source_topics),
        [topic.name for topic in one.repartition_source_topics],
        [topic.name for topic in one.state_changelog_topics],
    )


def _member(one: Any) -> Member:
    return Member(
        **of_groups.of_member(one),
        process_id=one.process_id,
        epoch=one.member_epoch,
        is_classic=one.is_classic,
        assignment=_assignment(one.assignment),
        target=_assignment(one.target_assignment),
    )


def _assignment(told: Any) -> Assignment:
    return Assignment(_tasks(told.active_tasks), _tasks(told.standby_tasks), _tasks(told.warmup_tasks))


def _tasks(told: Iterable[Any]) -> Tasks:
    return {one.subtopology_id: list(one.partitions) for one in told}
