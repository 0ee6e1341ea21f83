"""What requests about groups say: members, assignments, positions."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any, Final

from kafkastub.guarantees.events import (
    Acquired,
    Assigned,
    At,
    Beat,
    Client,
    Commit,
    Committed,
    Event,
    Expelled,
    Joined,
    Left,
    Listed,
    NamedGroups,
    Partition,
    PositionsRead,
    ShareAcknowledged,
    ShareEnded,
    ShareGiven,
    ShareReset,
    ShareUnanswered,
    Spoke,
    TopicsDeleted,
)
from kafkawire.api import ApiKey
from kafkawire.codec import decode_from
from kafkawire.errors import ErrorCode, MalformedMessage
from kafkawire.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from kafkawire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafkawire.schema import Message

NameOf = Callable[[Any], str | None]
_version: Final = struct.Struct(">h").unpack_from
_NOBODY: Final = frozenset((ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID, ErrorCode.FENCED_MEMBER_EPOCH))
_CONSUMERS: Final = "consumer"
_GROUP: Final = 0
_LAST_OF_A_SESSION: Final = -1


def _embedded(cls: type[Message], data: bytes) -> Any:
    """A message of the consumer protocol; None where it is none."""
    if len(data) < 2:
        return None
    version = min(_version(data)[0], cls.VERSIONS[1])
    for attempt in (max(version, 0), 0):
        try:
            return decode_from(cls, attempt, bytes(data), 2)[0]
        except (MalformedMessage, ValueError):
            continue
    return None


def _joined(at: At, client: Client, request: Any, answer: Any, name_of: NameOf) -> Iterator[Event]:
    if request.protocol_type != _CONSUMERS:
        return
    owned: set[Partition] = set()
    for protocol in request.protocols:
        said = _embedded(ConsumerProtocolSubscription, protocol.metadata)
        for topic in () if said is None else said.owned_partitions:
            owned.update((topic.topic, index) for index in topic.partitions)
    error = None if answer is None else answer.error_code
    member = request.member_id or ("" if answer is None else answer.member_id)
    yield Joined(at, client, request.group_id, request.member_id, member, frozenset(owned), error)
    if error in _NOBODY and request.member_id:
        yield Expelled(at, client, request.group_id, request.member_id)


def _synced(at: At, client: Client, request: Any, answer: Any, name_of: NameOf) -> Iterator[Event]:
    if answer is None:
        return
    if answer.error_code in _NOBODY:
        yield Expelled(at, client, request.group_id, request.member_id)
    if answer.error_code or request.protocol_type not in (None, _CONSUMERS):
        return
    said = _embedded(ConsumerProtocolAssignment, answer.assignment)
    if said is None and answer.assignment:
        return
    found = () if said is None else said.assigned_partitions
    partitions = frozenset((topic.topic, index) for topic in found for index in topic.partitions)
    yield Assigned(at, client, request.group_id, request.member_id, partitions)


def _heartbeat(at: At, client: Client, request: Any, answer: Any, name_of: NameOf) -> Iterator[Event]:
    yield Spoke(at, client, request.group_id, request.member_id)
    if answer is not None and answer.error_code in _NOBODY:
        yield Expelled(at, client, request.group_id, request.member_id)


def _left(at: At, client: Client, request: Any, answer: Any, name_of: NameOf) -> Iterator[Event]:
    members = tuple(one.member_id for one in request.members) or (request.member_id,)
    yield Left(at, client, request.group_id, members)


def _topics(found: Any, name_of: NameOf) -> frozenset[Partition] | None:
    if found is None:
        return None
    named = ((name_of(topic), topic.partitions) for topic in found)
    return frozenset((name, index) for name, indexes in named if name is not None for index in indexes)


def _beat(at: At, client: Client, request: Any, answer: Any, name_of: NameOf) -> Iterator[Event]:
    if request.member_epoch < 0:
        yield Left(at, client, request.group_id, (request.member_id,))
        return
    assigned = None
    if answer is not None and answer.assignment is not None and not answer.error_code:
        assigned = _topics(answer.assignment.topic_partitions, name_of)
    member = request.member_id or ("" if answer is None else answer.member_id or "")
    owned = _topics(request.topic_partitions, name_of)
    error = None if answer is None else answer.error_code
    yield Beat(at, client, request.group_id, member, request.member_epoch, owned, assigned, error)
    if answer is not None and answer.error_code in _NOBODY:
        yield Expelled(at, client, request.group_id, member)


def _committed(at: At, client: Client, request: Any, answer: Any, name_of: NameOf) -> Iterator[Event]:
    said: dict[tuple[str | None, int], int] = {}
    for topic in () if answer is None else answer.topics:
        for each in topic.partitions:
            said[name_of(topic), each.partition_index] = each.error_code
    commits = []
    for topic in request.topics:
        name = name_of(topic)
        for each in topic.partitions:
            if name is not None:
                error = said.get((name, each.partition_index))
                commits.append(Commit((name, each.partition_index), each.committed_offset, error))
    transactional = hasattr(request, "transactional_id")
    producer = (request.producer_id, request.producer_epoch) if transactional else None
    epoch = request.generation_id_or_member_epoch
    name = request.transactional_id if transactional else ""
    yield Committed(at, client, request.group_id, request.member_id, epoch, tuple(commits), producer, name)
    if request.member_id and any(one.error in _NOBODY for one in commits):
        yield Expelled(at, client, request.group_id, request.member_id)


def _positions(at: At, client: Client, request: Any, answer: Any, name_of: NameOf) -> Iterator[Event]:
    if answer is None:
        return
    groups = answer.groups or ()
    if not groups and not request.groups and not answer.error_code:
        yield PositionsRead(at, client, request.group_id, tuple(_offsets(answer.topics, name_of)))
    for group in groups:
        if not group.error_code:
            yield PositionsRead(at, client, group.group_id, tuple(_offsets(group.topics, name_of)))


def _offsets(topics: Any, name_of: NameOf) -> Iterator[tuple[Partition, int]]:
    for topic in topics or ():
        name = name_of(topic)
        for each in topic.partitions:
            if name is not None and not each.error_code:
                yield (name, each.partition_index), each.committed_offset


def _listed(at: At, client: Client, request: Any, answer: Any, name_of: NameOf) -> Iterator[Event]:
    asked = {(t.name, each.partition_index): each.timestamp for t in request.topics for each in t.partitions}
    for topic in () if answer is None else answer.topics:
        for each in topic.partitions:
            partition = topic.name, each.partition_index
            if not each.error_code and partition in asked:
                yield Listed(at, client, partition, asked[partition], each.offset)


def _coordinators(at: At, client: Client, request: Any, answer: Any, name_of: NameOf) -> Iterator[Event]:
    if request.key_type == _GROUP:
        keys = (*request.coordinator_keys, *([request.key] if request.key else ()))
        yield NamedGroups(at, client, keys)


def _deleted(at: At, client: Client, request: Any, answer: Any, name_of: NameOf) -> Iterator[Event]:
    names = (name_of(topic) for topic in (() if answer is None else answer.responses) if not topic.error_code)
    yield TopicsDeleted(at, client, tuple(name for name in names if name is not None))


def _shared(at: At, client: Client, request: Any, answer: Any, name_of: NameOf) -> Iterator[Event]:
    """ShareFetch and ShareAcknowledge."""
    group, member = request.group_id or "", request.member_id or ""
    said = {}
    for topic in () if answer is None else answer.responses:
        name = name_of(topic)
        for each in topic.partitions:
            if name is not None:
                said[name, each.partition_index] = each
    for topic in request.topics:
        name = name_of(topic)
        for each in topic.partitions:
            batches = tuple(
                (one.first_offset, one.last_offset + 1, tuple(one.acknowledge_types))
                for one in each.acknowledgement_batches
            )
            if name is None or not batches:
                continue
            partition = name, each.partition_index
            error = _share_error(answer, said.get(partition))
            yield ShareAcknowledged(at, client, group, member, partition, batches, error)
    if request.share_session_epoch == _LAST_OF_A_SESSION:
        yield ShareEnded(at, client, group, member)
    elif answer is None and hasattr(request, "max_records"):
        yield ShareUnanswered(at, client, group)
    lock_ms = getattr(answer, "acquisition_lock_timeout_ms", 0)
    for partition, one in said.items():
        acquired = getattr(one, "acquired_records", ())
        if acquired:
            found = tuple(Acquired(each.first_offset, each.last_offset + 1, each.delivery_count) for each in acquired)
            yield ShareGiven(at, client, group, member, partition, found, lock_ms)


def _share_reset(at: At, client: Client, request: Any, answer: Any, name_of: NameOf) -> Iterator[Event]:
    yield ShareReset(at, client, request.group_id)


def _share_error(answer: Any, said: Any) -> int | None:
    if answer is None:
        return None
    if answer.error_code:
        return int(answer.error_code)
    if said is None:
        return 0
    return int(said.acknowledge_error_code if hasattr(said, "acknowledge_error_code") else said.error_code)


GROUPS: Final = {
    ApiKey.JOIN_GROUP: _joined,
    ApiKey.SYNC_GROUP: _synced,
    ApiKey.HEARTBEAT: _heartbeat,
    ApiKey.LEAVE_GROUP: _left,
    ApiKey.CONSUMER_GROUP_HEARTBEAT: _beat,
    ApiKey.STREAMS_GROUP_HEARTBEAT: _heartbeat,
    ApiKey.OFFSET_COMMIT: _committed,
    ApiKey.TXN_OFFSET_COMMIT: _committed,
    ApiKey.OFFSET_FETCH: _positions,
    ApiKey.LIST_OFFSETS: _listed,
    ApiKey.FIND_COORDINATOR: _coordinators,
    ApiKey.DELETE_TOPICS: _deleted,
    ApiKey.SHARE_FETCH: _shared,
    ApiKey.SHARE_ACKNOWLEDGE: _shared,
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: _share_reset,
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: _share_reset,
}
