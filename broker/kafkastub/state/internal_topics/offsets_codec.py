"""The group coordinator's records as keys and values of `__consumer_offsets`, and back."""

from __future__ import annotations

from typing import Final, cast

from kafkastub.coordinator import (
    CommittedOffset,
    GroupMetadata,
    GroupTombstone,
    MemberMetadata,
    OffsetCommit,
    OffsetTombstone,
    PartitionCommit,
    Record,
)
from kafkastub.coordinator.records import NO_TIMESTAMP, TypedRecord
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
    offset_key,
    offset_value,
)

EXPIRING_VALUE: Final = 1
"""The only value version that can tell an expire timestamp."""


class OffsetsCodec:
    """A `RecordCodec`. A commit of many partitions is as many records: `offset_record` makes each.

    Args:
        version: of an offset's value, where the commit has no retention of its own.
    """

    __slots__ = ("_version",)

    def __init__(self, version: int) -> None:
        self._version = version

    def owner(self, record: Record) -> str:
        return record.group_id

    def encode(self, record: Record) -> tuple[bytes, bytes | None]:
        if isinstance(record, GroupMetadata):
            return group_key(record.group_id), _generation_value(record)
        if isinstance(record, GroupTombstone):
            return group_key(record.group_id), None
        if isinstance(record, OffsetTombstone):
            return offset_key(record.group_id, record.topic, record.partition), None
        if isinstance(record, TypedRecord):
            from kafkastub.coordinator.modern.codec import codec_of  # most brokers have no such group

            return codec_of(record.group_type).encode(record)
        assert isinstance(record, OffsetCommit)  # one that is pending is written as a commit, in another batch
        ((partition, committed),) = record.each()
        return offset_key(record.group_id, record.topic, partition), self.offset(committed)

    def offset(self, committed: CommittedOffset) -> bytes:
        """The value of one committed offset."""
        version = self._version if committed.expire_timestamp == NO_TIMESTAMP else EXPIRING_VALUE
        return offset_value(version, *committed)

    def decode(self, key: bytes | None, value: bytes | None) -> Record | None:
        return coordinator_record(decode_record(key, value))


def _generation_value(record: GroupMetadata) -> bytes:
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
    return encode_value(value, GROUP_METADATA_VERSION)


def coordinator_record(record: OffsetsRecord) -> Record | None:
    """What a record means to the coordinator."""
    if record.type is RecordType.GROUP_METADATA:
        key = cast(GroupMetadataKey, record.key)
        return _generation(key.group, cast("GroupMetadataValue | None", record.value))
    if record.type not in (RecordType.OFFSET_COMMIT, RecordType.LEGACY_OFFSET_COMMIT):
        from kafkastub.coordinator.modern.codec import codec_of

        return codec_of(record.type.kind.value).decode(record)
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
