"""Records one by one, with the wire's own decoder: KIP-848, share and streams groups, and whatever columns found odd.

Offsets and classic groups are nearly all of the topic and never come here, unless they are damaged or carry tags of the
future. A record costs some 8 us here and as much again on its way into Arrow.
"""

from __future__ import annotations

import uuid
from typing import Any

from kafkastub_pipeline.decode.modern import take_modern
from kafkastub_pipeline.decode.streams import take_streams
from kafkawire.errors import MalformedMessage
from kafkawire.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from kafkawire.messages.offset_commit_value import OffsetCommitValue
from kafkawire.offsets_topic import RecordType, decode_key, decode_value
from kafkawire.schema import ZERO_UUID
from kafkawire.subscription import subscribed_topics

OFFSET_TYPES = (RecordType.LEGACY_OFFSET_COMMIT, RecordType.OFFSET_COMMIT)


def decoded_row(key: bytes | None, value: bytes | None) -> dict[str, Any]:
    """The columns of a record that are not of its place on the log; those that are missing are null.

    A record that cannot be decoded has `error`, `key` and `value` beside what could be learnt of it.
    """
    found: dict[str, Any] = {"tombstone": value is None}
    try:
        type_, key_message = decode_key(key)
        found["record_type"] = int(type_)
        _take_key(found, type_, key_message)
        if value is not None:
            version, message = decode_value(type_, value)
            found["schema_version"] = version
            _take_value(found, message)
    except MalformedMessage as error:
        found.update(error=str(error), key=key, value=value)
    return found


def value_error(type_: int, value: bytes) -> str:
    """Why a value of a known type, which is too short or of no known version, cannot be decoded."""
    try:
        decode_value(RecordType(type_), value)
    except MalformedMessage as error:
        return str(error)
    return "shorter than any value of its version"


def _take_key(found: dict[str, Any], type_: RecordType, message: Any) -> None:
    found["group_id"] = message.group if hasattr(message, "group") else message.group_id
    found["member_id"] = getattr(message, "member_id", getattr(message, "regular_expression", None))
    if type_ in OFFSET_TYPES:
        found.update(topic=message.topic, partition=message.partition)


def _take_value(found: dict[str, Any], message: Any) -> None:
    if isinstance(message, OffsetCommitValue):
        found.update(
            committed_offset=message.offset,
            leader_epoch=message.leader_epoch,
            metadata=message.metadata,
            commit_ms=message.commit_timestamp,
            expire_ms=message.expire_timestamp,
            topic_id=None if message.topic_id == ZERO_UUID else str(uuid.UUID(bytes=bytes(message.topic_id))),
        )
    elif hasattr(message, "commit_timestamp"):  # before Kafka 0.9
        found.update(
            committed_offset=message.offset,
            leader_epoch=getattr(message, "leader_epoch", -1),
            metadata=message.metadata,
            commit_ms=message.commit_timestamp,
            expire_ms=getattr(message, "expire_timestamp", -1),
        )
    elif isinstance(message, GroupMetadataValue):
        found["group"] = {
            "protocol_type": message.protocol_type,
            "generation": message.generation,
            "protocol": message.protocol,
            "leader": message.leader,
            "state_ms": message.current_state_timestamp,
            "members": [_member(message, member) for member in message.members],
        }
    else:
        take_modern(found, message)
        take_streams(found, message)


def _member(group: GroupMetadataValue, member: MemberMetadata) -> dict[str, Any]:
    known = group.protocol_type == "consumer" and group.protocol is not None
    topics = subscribed_topics(bytes(member.subscription)) if known else None
    return {
        "member_id": member.member_id,
        "group_instance_id": member.group_instance_id,
        "client_id": member.client_id,
        "client_host": member.client_host,
        "rebalance_timeout_ms": member.rebalance_timeout,
        "session_timeout_ms": member.session_timeout,
        "topics": None if topics is None else sorted(topics),
    }
