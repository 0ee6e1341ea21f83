"""Consumer groups and their offsets, asked of any broker: what `kafkastub groups` needs.

Results are plain data. Errors are BrokerError with the broker's text, or ClientError. What is asked of which API, and
what is done where a broker is too old, follows Kafka's `KafkaAdminClient`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from kafkastub.client import of_groups, topics
from kafkastub.client.errors import BrokerError, Unsupported
from kafkastub.client.routing import Client, Node
from kafkastub.client.topics import TopicPartition
from kafkawire.api import ApiKey
from kafkawire.assigned import assigned_partitions
from kafkawire.errors import ErrorCode
from kafkawire.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafkawire.messages.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestGroup

CLASSIC: Final = "Classic"
CONSUMER: Final = "Consumer"
PROTOCOL_TYPES: Final = ("", "consumer")
"""Of consumer groups and of those that only have offsets."""

delete = of_groups.delete

_NAMED_BY_ID: Final = 10
"""From this version on OffsetFetch and OffsetCommit name topics by id: the version before is asked."""
_UPGRADED: Final = {0: False, 1: True}


@dataclass(frozen=True)
class Listing:
    """A group as ListGroups shows it; state and type are "Unknown" where the broker is too old to tell."""

    group_id: str
    protocol_type: str
    state: str
    type: str


@dataclass(frozen=True, kw_only=True)
class Member(of_groups.Member):
    """A member of a consumer group; epochs and target are those of KIP-848, None or empty in a classic group."""

    assignment: list[TopicPartition]
    target: list[TopicPartition] = field(default_factory=list)
    epoch: int | None = None
    upgraded: bool | None = None


Group = of_groups.Group[Member]


@dataclass(frozen=True)
class Offset:
    """A committed offset; no leader epoch is None."""

    offset: int
    leader_epoch: int | None
    metadata: str


def list_groups(client: Client, states: Iterable[str] = (), types: Iterable[str] = ()) -> list[Listing]:
    """The consumer groups of all brokers, in the order of their answers; no filter lets all pass."""
    wanted_states, wanted_types = {s.lower() for s in states}, {t.lower() for t in types}
    found: dict[str, Listing] = {}
    for node in client.nodes():
        version = client.connection(node).common_version(ApiKey.LIST_GROUPS)
        # types are asked for by those who have them: an older broker refuses the field, and has classic groups only
        for row in of_groups.listed(client, node, states, types):
            state = row.group_state or "Unknown"
            kind = (row.group_type or "unknown").capitalize() if version >= 5 else CLASSIC
            fits = row.protocol_type in PROTOCOL_TYPES and kind in (CLASSIC, CONSUMER, "Unknown")
            fits = fits and (not wanted_states or state.lower() in wanted_states)
            if fits and (not wanted_types or kind.lower() in wanted_types):
                found[row.group_id] = Listing(row.group_id, row.protocol_type, state, kind)
    return list(found.values())


def describe(client: Client, group_id: str) -> Group:
    """A consumer group of either protocol. Raises BrokerError (GROUP_ID_NOT_FOUND from DescribeGroups v6 on)."""
    coordinator = client.coordinator(group_id)
    try:
        answer = client.ask_coordinator(group_id, ConsumerGroupDescribeRequest(group_ids=[group_id]))
    except Unsupported:
        return _classic(client, group_id, coordinator)
    (row,) = answer.groups
    if row.error_code in (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION):
        try:
            return _classic(client, group_id, coordinator)
        except BrokerError as error:
            if error.code == row.error_code == ErrorCode.GROUP_ID_NOT_FOUND:  # it is of neither type: told as first
                raise BrokerError(row.error_code, row.error_message) from None
            raise
    of_groups.check(row)
    members = [
        Member(
            **of_groups.of_member(m),
            assignment=of_groups.partitions(m.assignment.topic_partitions),
            target=of_groups.partitions(m.target_assignment.topic_partitions),
            epoch=m.member_epoch,
            upgraded=_UPGRADED.get(m.member_type),
        )
        for m in row.members
    ]
    return Group(**of_groups.of_group(coordinator, row), members=members)


def _classic(client: Client, group_id: str, coordinator: Node) -> Group:
    (row,) = client.ask_coordinator(group_id, DescribeGroupsRequest(groups=[group_id])).groups
    of_groups.check(row)
    if row.protocol_type not in PROTOCOL_TYPES:
        reason = f"GroupId {group_id} is not a consumer group ({row.protocol_type})."
        raise BrokerError(ErrorCode.INVALID_GROUP_ID, reason)
    members = [
        Member(**of_groups.of_member(m), assignment=assigned_partitions(m.member_assignment)) for m in row.members
    ]
    return Group(
        id=group_id, coordinator=coordinator, state=row.group_state, assignor=row.protocol_data, members=members
    )


def offsets(client: Client, group_id: str) -> dict[TopicPartition, Offset]:
    """Every committed offset of a group. Raises BrokerError."""
    version = min(_common(client, ApiKey.OFFSET_FETCH), _NAMED_BY_ID - 1)
    asked = OffsetFetchRequestGroup(group_id=group_id, topics=None)
    request = OffsetFetchRequest(group_id=group_id, topics=None, groups=[asked])
    answer = client.ask_coordinator(group_id, request, version=version)
    told = answer.groups[0] if version >= 8 else answer
    if told.error_code:
        raise BrokerError(told.error_code)
    found = {}
    for topic in told.topics:
        for row in topic.partitions:
            if row.error_code:
                raise BrokerError(row.error_code)
            if row.committed_offset >= 0:
                epoch = row.committed_leader_epoch
                found[topic.name, row.partition_index] = Offset(
                    row.committed_offset, epoch if epoch >= 0 else None, row.metadata or ""
                )
    return found


def behind(client: Client, group_id: str, topic: str | None = None) -> dict[TopicPartition, int]:
    """How many records a group is behind, by partition: of one topic, or of all that it has committed anything of.

    Partitions count that have records, whether anything of them is committed or not. Raises BrokerError.
    """
    committed = offsets(client, group_id)
    wanted = {name for name, _ in committed} if topic is None else {topic}
    places = [
        (name, one.index) for name, told in topics.describe(client, sorted(wanted)).items() for one in told.partitions
    ]
    ends = topics.list_offsets(client, dict.fromkeys(places, topics.LATEST))
    starts = topics.list_offsets(client, dict.fromkeys(places, topics.EARLIEST))
    begun = {place: committed[place].offset if place in committed else starts[place] for place in places}
    return {place: max(0, ends[place] - begun[place]) for place in places if place in committed or ends[place]}


def commit(client: Client, group_id: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Commit offsets in the name of no member. Raises BrokerError with the first partition's code."""
    if not offsets:
        return
    by_topic: dict[str, list[OffsetCommitRequestPartition]] = {}
    for (name, index), offset in offsets.items():
        row = OffsetCommitRequestPartition(index, offset, -1, "")
        by_topic.setdefault(name, []).append(row)
    request = OffsetCommitRequest(
        group_id=group_id,
        generation_id_or_member_epoch=-1,
        topics=[OffsetCommitRequestTopic(name=name, partitions=rows) for name, rows in by_topic.items()],
    )
    version = min(_common(client, ApiKey.OFFSET_COMMIT), _NAMED_BY_ID - 1)
    answer = client.ask_coordinator(group_id, request, version=version)
    for topic in answer.topics:
        for row in topic.partitions:
            if row.error_code:
                raise BrokerError(row.error_code)


def delete_offsets(client: Client, group_id: str, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
    """Delete offsets (KIP-496): each partition's error code, 0 where it is gone. Raises BrokerError."""
    by_topic: dict[str, list[OffsetDeleteRequestPartition]] = {}
    for name, index in partitions:
        by_topic.setdefault(name, []).append(OffsetDeleteRequestPartition(index))
    request = OffsetDeleteRequest(
        group_id=group_id, topics=[OffsetDeleteRequestTopic(name, rows) for name, rows in by_topic.items()]
    )
    answer = client.ask_coordinator(group_id, request)
    if answer.error_code:
        raise BrokerError(answer.error_code)
    return {(topic.name, row.partition_index): row.error_code for topic in answer.topics for row in topic.partitions}


def _common(client: Client, key: ApiKey) -> int:
    return client.connection().common_version(key)
