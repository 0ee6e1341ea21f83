"""Keys and values of `__consumer_offsets` in every schema version that Kafka reads."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkawire.errors import MalformedMessage
from kafkawire.messages.group_metadata_key import GroupMetadataKey
from kafkawire.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from kafkawire.messages.legacy_offset_commit_key import LegacyOffsetCommitKey
from kafkawire.messages.legacy_offset_commit_value import LegacyOffsetCommitValue
from kafkawire.messages.offset_commit_key import OffsetCommitKey
from kafkawire.messages.offset_commit_value import OffsetCommitValue
from kafkawire.offsets_topic import (
    GroupKind,
    RecordType,
    UnknownRecordType,
    decode_key,
    decode_record,
    decode_value,
    encode_key,
    encode_value,
    group_key,
    message_class,
    offset_key,
    offset_value,
)

TOPIC_ID = bytes(range(16))
FIELDS = {
    0: ("offset", "metadata", "commit_timestamp"),
    1: ("offset", "metadata", "commit_timestamp", "expire_timestamp"),
    2: ("offset", "metadata", "commit_timestamp"),
    3: ("offset", "leader_epoch", "metadata", "commit_timestamp"),
    4: ("offset", "leader_epoch", "metadata", "commit_timestamp", "topic_id"),
}
"""What each version of an offset's value holds."""
int64 = st.integers(-(2**63), 2**63 - 1)
text = st.text(max_size=40)


def test_an_offset_as_a_hexdump():
    key = offset_key("group", "topic", 7)
    assert key == b"\x00\x01" + b"\x00\x05group" + b"\x00\x05topic" + b"\x00\x00\x00\x07"
    value = offset_value(4, 258, 3, "m", 1, -1, TOPIC_ID)
    assert (
        value == b"\x00\x04" + struct.pack(">qi", 258, 3) + b"\x02m" + struct.pack(">q", 1) + b"\x01\x00\x10" + TOPIC_ID
    )
    assert offset_value(1, 258, 3, "m", 1, 9, TOPIC_ID) == b"\x00\x01" + struct.pack(">qh1sqq", 258, 1, b"m", 1, 9)
    assert offset_value(4, 0, -1, "", 0, -1, bytes(16))[-1:] == b"\x00", "no id, no tagged field"


@settings(deadline=None)
@given(version=st.integers(0, 4), offset=int64, epoch=st.integers(-1, 2**31 - 1), metadata=text, at=int64, expiry=int64)
def test_a_value_keeps_what_its_version_has(version: int, offset: int, epoch: int, metadata: str, at: int, expiry: int):
    written = OffsetCommitValue(offset, epoch, metadata, at, expiry, TOPIC_ID)
    read_version, read = decode_value(RecordType.OFFSET_COMMIT, encode_value(written, version))
    kept: dict[str, Any] = {field: getattr(written, field) for field in FIELDS[version]}
    assert (read_version, read) == (version, OffsetCommitValue(**kept))


@settings(deadline=None)
@given(
    version=st.integers(0, 4), generation=st.integers(0, 2**31 - 1), protocol=st.none() | text, leader=st.none() | text
)
def test_a_generation_keeps_what_its_version_has(
    version: int, generation: int, protocol: str | None, leader: str | None
):
    member = MemberMetadata("m-1", "instance", "client", "/127.0.0.1", 6, 5, b"subscribed", b"assigned")
    written = GroupMetadataValue("consumer", generation, protocol, leader, 99, [member])
    read_version, read = decode_value(RecordType.GROUP_METADATA, encode_value(written, version))
    assert isinstance(read, GroupMetadataValue)
    if version < 3:
        member.group_instance_id = None
    if version < 2:
        written.current_state_timestamp = -1
    if version < 1:
        member.rebalance_timeout = -1
    assert (read_version, read) == (version, written)


def test_a_record_of_before_kafka_0_9():
    key, value = encode_key(LegacyOffsetCommitKey("g", "t", 1)), encode_value(LegacyOffsetCommitValue(5, "m", 9), 0)
    record = decode_record(key, value)
    assert (record.type, record.version) == (RecordType.LEGACY_OFFSET_COMMIT, 0)
    assert record.key == LegacyOffsetCommitKey("g", "t", 1)
    assert record.value == LegacyOffsetCommitValue(5, "m", 9)


@pytest.mark.parametrize(
    "key", [OffsetCommitKey("g", "t", 3), GroupMetadataKey("g"), LegacyOffsetCommitKey("", "", -1)]
)
def test_a_tombstone_has_no_value(key: Any):
    assert decode_record(encode_key(key), None)[1:] == (key, -1, None)


@pytest.mark.parametrize("type_", RecordType)
def test_every_key_that_kafka_knows_is_read(type_: RecordType):
    key = message_class(type_, "Key")()
    assert type_ == key.API_KEY
    assert decode_key(encode_key(key)) == (type_, key)
    value_class = message_class(type_, "Value")
    for version in range(value_class.VERSIONS[0], value_class.VERSIONS[1] + 1):
        assert decode_value(type_, encode_value(value_class(), version)) == (version, value_class())


def test_the_kinds_of_groups():
    kinds = {kind: [t.value for t in RecordType if t.kind is kind] for kind in GroupKind}
    assert kinds == {
        GroupKind.CLASSIC: [0, 1, 2],
        GroupKind.CONSUMER: [3, 4, 5, 6, 7, 8, 16],
        GroupKind.SHARE: [10, 11, 12, 13, 14, 15],
        GroupKind.STREAMS: [17, 19, 20, 21, 22, 23],
    }


@pytest.mark.parametrize("number", [-1, 9, 18, 24, 32767])
def test_an_unknown_type_can_be_told_from_damage(number: int):
    with pytest.raises(UnknownRecordType) as unknown:
        decode_key(struct.pack(">h", number) + b"rest")
    assert unknown.value.type == number


@pytest.mark.parametrize(("type_", "version"), [(0, 1), (1, -1), (1, 5), (2, 5), (2, 32767)])
def test_an_unknown_version_is_malformed(type_: int, version: int):
    with pytest.raises(MalformedMessage, match=f"version {version} is not known"):
        decode_value(RecordType(type_), struct.pack(">h", version) + bytes(60))


@pytest.mark.parametrize("key", [None, b"", b"\x00"])
def test_a_key_without_a_type_is_malformed(key: bytes | None):
    with pytest.raises(MalformedMessage):
        decode_record(key, None)


@pytest.mark.parametrize("version", range(5))
def test_whatever_is_cut_off_is_malformed(version: int):
    value = encode_value(OffsetCommitValue(1, 2, "metadata", 3, 4, TOPIC_ID), version)
    for size in range(len(value)):
        with pytest.raises(MalformedMessage):
            decode_record(offset_key("g", "t", 1), value[:size])
    member = MemberMetadata("m-1", "instance", "client", "/127.0.0.1", 6, 5, b"subscribed", b"assigned")
    generation = encode_value(GroupMetadataValue("consumer", 1, "range", "m-1", 99, [member]), version)
    for size in range(len(generation)):
        with pytest.raises(MalformedMessage):
            decode_record(group_key("g"), generation[:size])
    for key in (offset_key("g", "t", 1), group_key("g")):
        for size in range(len(key)):
            with pytest.raises(MalformedMessage):
                decode_record(key[:size], None)


@settings(deadline=None)
@given(st.binary(max_size=80), st.binary(max_size=80), st.integers(0, 2), st.integers(0, 4))
def test_any_bytes_are_a_record_or_malformed(key: bytes, value: bytes, type_: int, version: int):
    for k, v in ((key, value), (struct.pack(">h", type_) + key, struct.pack(">h", version) + value)):
        try:
            decode_record(k, v)
        except MalformedMessage:
            continue
