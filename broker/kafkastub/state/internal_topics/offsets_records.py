"""The coordinator's records in the words of `__consumer_offsets`: one group's record out, any record in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import cast

from kafkastub.coordinator import (
    GroupMetadata,
    GroupTombstone,
    MemberMetadata,
    OffsetCommit,
    OffsetTombstone,
    PartitionCommit,
    Record,
)
from kafkawire.errors import MalformedMessage
from kafkawire.messages.group_metadata_key import GroupMetadataKey
from kafkawire.messages.group_metadata_value import GroupMetadataValue
from kafkawire.messages.group_metadata_value import MemberMetadata as MemberValue
from kafkawire.messages.legacy_offset_commit_value import LegacyOffsetCommitValue
from kafkawire.messages.offset_commit_key import OffsetCommitKey
from kafkawire.messages.offset_commit_value import OffsetCommitValue
from kafkawire.offsets_topic import (
    GROUP_METADATA_VERSION,
    OffsetsRecord,
    RecordType,
    decode_record,
    encode_value,
    group_key,
)
from kafkawire.records import NewRecord
from kafkawire.records import Record as LogRecord


def group_record(record: GroupMetadata | GroupTombstone, timestamp: int) -> NewRecord:
    """What is written of a generation, or of a group that is gone."""
    key = group_key(record.group_id)
    if isinstance(record, GroupTombstone):
        return NewRecord(key, None, timestamp)
    members = [
        MemberValue(
            member_id=m.member_id,
            group_instance_id=m.group_instance_id,
            client_id=m.client_id,
            client_host=m.client_host,
            rebalance_timeout=m.rebalance_timeout,
            session_timeout=m.session_timeout,
            subscription=m.subscription,
            assignment=m.assignment,
        )
        for m in record.members
    ]
    value = GroupMetadataValue(
        protocol_type=record.protocol_type,
        generation=record.generation,
        protocol=record.protocol,
        leader=record.leader,
        current_state_timestamp=record.current_state_timestamp,
        members=members,
    )
    return NewRecord(key, encode_value(value, GROUP_METADATA_VERSION), timestamp)


def from_log(
    records: Iterable[LogRecord], skipped: Callable[[LogRecord, MalformedMessage], None]
) -> Iterator[tuple[int, int, Record]]:
    """(log offset, timestamp, record) of all that are a classic coordinator's.

    `skipped` is told of records that are none at all: of an unknown type, which Kafka skips as well, or damaged, where
    Kafka gives the partition up. Only an admin client can have written such.
    """
    for record in records:
        try:
            decoded = decode_record(record.key, record.value)
        except MalformedMessage as error:
            skipped(record, error)
            continue
        found = coordinator_record(decoded)
        if found is not None:
            yield record.offset, record.timestamp, found


def coordinator_record(record: OffsetsRecord) -> Record | None:
    """What a record means to the coordinator; None for records of other kinds of groups."""
    if record.type is RecordType.GROUP_METADATA:
        key = cast(GroupMetadataKey, record.key)
        return _generation(key.group, cast("GroupMetadataValue | None", record.value))
    if record.type not in (RecordType.OFFSET_COMMIT, RecordType.LEGACY_OFFSET_COMMIT):
        return None
    name = cast(OffsetCommitKey, record.key)
    if record.value is None:
        return OffsetTombstone(name.group, name.topic, name.partition)
    if isinstance(record.value, LegacyOffsetCommitValue):
        old = record.value
        commits = [PartitionCommit(name.partition, old.offset, -1, old.metadata)]
        return OffsetCommit(name.group, name.topic, commits, old.commit_timestamp, version=0)
    value = cast(OffsetCommitValue, record.value)
    return OffsetCommit(
        name.group,
        name.topic,
        [PartitionCommit(name.partition, value.offset, value.leader_epoch, value.metadata)],
        value.commit_timestamp,
        value.expire_timestamp,
        value.topic_id,
        record.version,
    )


def _generation(group_id: str, value: GroupMetadataValue | None) -> GroupMetadata | GroupTombstone:
    if value is None:
        return GroupTombstone(group_id)
    members = tuple(
        MemberMetadata(
            m.member_id,
            m.group_instance_id,
            m.client_id,
            m.client_host,
            m.rebalance_timeout,
            m.session_timeout,
            bytes(m.subscription),
            bytes(m.assignment),
        )
        for m in value.members
    )
    return GroupMetadata(
        group_id,
        value.protocol_type,
        value.generation,
        value.protocol,
        value.leader,
        value.current_state_timestamp,
        members,
    )
