"""Share groups (KIP-932) and their offsets, asked of any broker: what `kafkastub share-groups` needs.

Results are plain data. Errors are BrokerError with the broker's text, or ClientError. What is asked of which API
follows Kafka's `KafkaAdminClient`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from kafkastub.client import of_groups
from kafkastub.client.errors import BrokerError
from kafkastub.client.routing import Client
from kafkastub.client.topics import TopicPartition
from kafkawire.messages.alter_share_group_offsets_request import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from kafkawire.messages.delete_share_group_offsets_request import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
)
from kafkawire.messages.describe_share_group_offsets_request import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from kafkawire.messages.share_group_describe_request import ShareGroupDescribeRequest

SHARE: Final = "share"
"""The type of such a group, as ListGroups takes and tells it."""

Listing = of_groups.Listing
delete = of_groups.delete


@dataclass(frozen=True, kw_only=True)
class Member(of_groups.Member):
    """A member of a share group; the partitions that it is assigned may be another member's too."""

    epoch: int
    rack_id: str | None
    subscribed: list[str]
    assignment: list[TopicPartition]


Group = of_groups.Group[Member]


@dataclass(frozen=True)
class ShareOffset:
    """Where a share partition starts: all records before that are done with.

    Attributes:
        start: the offset; -1 where nothing of the partition was delivered yet.
        leader_epoch: None where there is none.
        lag: how many records are not done with; None where the broker does not tell.
    """

    start: int
    leader_epoch: int | None
    lag: int | None


def list_groups(client: Client, states: Iterable[str] = ()) -> list[Listing]:
    """The share groups of all brokers, in the order of their answers. Raises BrokerError."""
    return of_groups.list_of_type(client, SHARE, states)


def describe(client: Client, group_id: str) -> Group:
    """A share group. Raises BrokerError (GROUP_ID_NOT_FOUND where there is none, or one of another type)."""
    coordinator, row = of_groups.described(client, group_id, ShareGroupDescribeRequest(group_ids=[group_id]))
    members = [
        Member(
            **of_groups.of_member(m),
            epoch=m.member_epoch,
            rack_id=m.rack_id,
            subscribed=list(m.subscribed_topic_names),
            assignment=of_groups.partitions(m.assignment.topic_partitions),
        )
        for m in row.members
    ]
    return Group(**of_groups.of_group(coordinator, row), members=members)


def offsets(client: Client, group_id: str) -> dict[TopicPartition, ShareOffset]:
    """The start offset of every share partition of a group. Raises BrokerError."""
    asked = DescribeShareGroupOffsetsRequestGroup(group_id=group_id, topics=None)
    (told,) = client.ask_coordinator(group_id, DescribeShareGroupOffsetsRequest(groups=[asked])).groups
    of_groups.check(told)
    found = {}
    for topic in told.topics:
        for row in topic.partitions:
            of_groups.check(row)
            epoch, lag = row.leader_epoch, row.lag
            found[topic.topic_name, row.partition_index] = ShareOffset(
                row.start_offset, epoch if epoch >= 0 else None, lag if lag >= 0 else None
            )
    return found


def alter_offsets(
    client: Client, group_id: str, offsets: Mapping[TopicPartition, int]
) -> dict[TopicPartition, BrokerError]:
    """Let share partitions of a group without members start elsewhere; what was refused, and why.

    Raises BrokerError where the broker refuses it all.
    """
    by_topic: dict[str, list[AlterShareGroupOffsetsRequestPartition]] = {}
    for (name, index), offset in offsets.items():
        by_topic.setdefault(name, []).append(AlterShareGroupOffsetsRequestPartition(index, offset))
    request = AlterShareGroupOffsetsRequest(
        group_id=group_id, topics=[AlterShareGroupOffsetsRequestTopic(name, rows) for name, rows in by_topic.items()]
    )
    answer = client.ask_coordinator(group_id, request)
    of_groups.check(answer)
    return {
        (topic.topic_name, row.partition_index): BrokerError(row.error_code, row.error_message)
        for topic in answer.responses
        for row in topic.partitions
        if row.error_code
    }


def delete_offsets(client: Client, group_id: str, names: Iterable[str]) -> dict[str, BrokerError | None]:
    """Forget topics in a group without members; each topic's refusal, None where it is forgotten.

    Raises BrokerError where the broker refuses it all.
    """
    topics = [DeleteShareGroupOffsetsRequestTopic(name) for name in names]
    answer = client.ask_coordinator(group_id, DeleteShareGroupOffsetsRequest(group_id=group_id, topics=topics))
    of_groups.check(answer)
    return {
        topic.topic_name: BrokerError(topic.error_code, topic.error_message) if topic.error_code else None
        for topic in answer.responses
    }
