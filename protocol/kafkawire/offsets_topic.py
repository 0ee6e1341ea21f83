"""Keys and values of `__consumer_offsets`, in every schema version that Kafka reads.

A key is a 16-bit record type and that type's key message (version 0); a value is a 16-bit schema version and the
type's value message. A record without a value is a tombstone.

    type  what                            values
    ----  ------------------------------  ------------------------------------------
    0     an offset, before Kafka 0.9     0
    1     an offset                       0-4; 1 alone has an expire timestamp
    2     a classic group's generation    0-4
    3-8, 16            consumer groups    (KIP-848), as their schemas say
    10-15              share groups       (KIP-932)
    17, 19-23          streams groups     (KIP-1071)

Kafka: GroupCoordinatorRecordSerde, CoordinatorRecordType. As there, bytes behind a message are ignored.
"""

from __future__ import annotations

import importlib
import struct
from enum import Enum, IntEnum
from functools import cache
from typing import Final, NamedTuple

from kafkawire.codec import decode_from, encoder
from kafkawire.errors import MalformedMessage
from kafkawire.messages.group_metadata_key import GroupMetadataKey
from kafkawire.messages.offset_commit_key import OffsetCommitKey
from kafkawire.messages.offset_commit_value import OffsetCommitValue
from kafkawire.schema import Message

GROUP_METADATA_VERSION: Final = 3
"""The version that Kafka writes a classic group's generation with."""


class GroupKind(Enum):
    """What a record is about."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"


class RecordType(IntEnum):
    """The number in front of a key. An offset belongs to a group of any kind and counts as classic here."""

    LEGACY_OFFSET_COMMIT = 0
    OFFSET_COMMIT = 1
    GROUP_METADATA = 2
    CONSUMER_GROUP_METADATA = 3
    CONSUMER_GROUP_PARTITION_METADATA = 4
    CONSUMER_GROUP_MEMBER_METADATA = 5
    CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA = 6
    CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER = 7
    CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT = 8
    SHARE_GROUP_MEMBER_METADATA = 10
    SHARE_GROUP_METADATA = 11
    SHARE_GROUP_TARGET_ASSIGNMENT_METADATA = 12
    SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER = 13
    SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT = 14
    SHARE_GROUP_STATE_PARTITION_METADATA = 15
    CONSUMER_GROUP_REGULAR_EXPRESSION = 16
    STREAMS_GROUP_METADATA = 17
    STREAMS_GROUP_MEMBER_METADATA = 19
    STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA = 20
    STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER = 21
    STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT = 22
    STREAMS_GROUP_TOPOLOGY = 23

    @property
    def kind(self) -> GroupKind:
        """The kind of group that has such records."""
        first, _, _ = self.name.partition("_")
        return GroupKind[first] if first in GroupKind.__members__ else GroupKind.CLASSIC


class UnknownRecordType(MalformedMessage):
    """A key of a type that is not known here; a loader skips such a record, as Kafka does.

    Attributes:
        type: the number.
    """

    def __init__(self, number: int) -> None:
        super().__init__("key of __consumer_offsets", "record type", 0, f"{number} is no known record type")
        self.type = number


class OffsetsRecord(NamedTuple):
    """One record of the topic, decoded.

    Attributes:
        key, value: the generated messages; a tombstone has no value.
        version: of the value's schema, -1 for a tombstone.
    """

    type: RecordType
    key: Message
    version: int
    value: Message | None


_int16 = struct.Struct(">h")


@cache
def message_class(type_: RecordType, part: str) -> type[Message]:
    """The generated class of a type's "Key" or "Value"."""
    words = type_.name.lower()
    module = importlib.import_module(f"kafkawire.messages.{words}_{part.lower()}")
    name = "".join(word.capitalize() for word in words.split("_"))
    found: type[Message] = getattr(module, f"{name}{part}")
    return found


def encode_key(key: Message) -> bytes:
    """The bytes of a key message, its record type in front."""
    return b"".join((_int16.pack(key.API_KEY), *encoder(type(key), 0)(key)))


def encode_value(value: Message, version: int) -> bytes:
    """The bytes of a value message at a schema version, that version in front. ValueError for one that is not."""
    return b"".join((_int16.pack(version), *encoder(type(value), version)(value)))


def offset_key(group: str, topic: str, partition: int) -> bytes:
    """The key of an offset, as it is written today."""
    return encode_key(OffsetCommitKey(group, topic, partition))


def offset_value(
    version: int,
    offset: int,
    leader_epoch: int,
    metadata: str,
    commit_timestamp: int,
    expire_timestamp: int,
    topic_id: bytes,
) -> bytes:
    """The value of an offset; what the version has no field for is left out."""
    value = OffsetCommitValue(offset, leader_epoch, metadata, commit_timestamp, expire_timestamp, topic_id)
    return encode_value(value, version)


def group_key(group: str) -> bytes:
    """The key of a classic group's generation."""
    return encode_key(GroupMetadataKey(group))


def record_type(key: bytes | None) -> RecordType:
    """What a record is about, by its key. UnknownRecordType; MalformedMessage where there is no such number."""
    if key is None or len(key) < 2:
        raise MalformedMessage("key of __consumer_offsets", "record type", 0, "there are not two bytes of a key")
    (number,) = _int16.unpack_from(key)
    try:
        return RecordType(number)
    except ValueError:
        raise UnknownRecordType(number) from None


def decode_key(key: bytes | None) -> tuple[RecordType, Message]:
    """A key's type and message. UnknownRecordType, MalformedMessage."""
    type_ = record_type(key)
    assert key is not None
    return type_, decode_from(message_class(type_, "Key"), 0, key, 2)[0]


def decode_value(type_: RecordType, value: bytes) -> tuple[int, Message]:
    """The schema version and the message of a type's value. MalformedMessage, for an unknown version too."""
    cls = message_class(type_, "Value")
    if len(value) < 2:
        raise MalformedMessage(cls.__name__, "version", 0, "there are not two bytes of a value")
    (version,) = _int16.unpack_from(value)
    if not cls.VERSIONS[0] <= version <= cls.VERSIONS[1]:
        known = "-".join(map(str, dict.fromkeys(cls.VERSIONS)))
        raise MalformedMessage(cls.__name__, "version", 0, f"version {version} is not known, only {known}")
    return version, decode_from(cls, version, value, 2)[0]


def decode_record(key: bytes | None, value: bytes | None) -> OffsetsRecord:
    """One record. UnknownRecordType, MalformedMessage."""
    type_, key_message = decode_key(key)
    if value is None:
        return OffsetsRecord(type_, key_message, -1, None)
    return OffsetsRecord(type_, key_message, *decode_value(type_, value))
