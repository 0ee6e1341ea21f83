"""Bytes that are not quite a message: what is taken, what is refused and how the refusal reads.

Each verdict is what Apache Kafka 4.4.0's generated readers give; test_apache_kafka_bytes.py has thousands more of them.
"""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import pytest

from kafkawire import codec
from kafkawire.errors import MalformedMessage
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.describe_topic_partitions_request import Cursor, DescribeTopicPartitionsRequest
from kafkawire.messages.fetch_request import FetchRequest
from kafkawire.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
)
from kafkawire.messages.fetch_snapshot_response import FetchSnapshotResponse
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.list_groups_request import ListGroupsRequest
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.offset_commit_request import OffsetCommitRequest
from kafkawire.messages.offset_fetch_request import OffsetFetchRequest
from kafkawire.schema import Message
from tests.wire.catalogue import READERS

HEARTBEAT = "0267 00000001 026d 00"
"""Version 4, up to its tag section: group g, generation 1, member m, no instance."""
BEAT = HeartbeatRequest("g", 1, "m", None)
COMMIT_2 = "000167 ffffffff 0000 ffffffffffffffff"
COMMIT_8 = "0267 ffffffff 01 00"
"""Up to the topics."""


def read(cls: type[Message], version: int, data: str) -> tuple[Message, int]:
    """By the compiled decoder and by the reference reader; they have to agree."""
    raw = bytes.fromhex(data)
    results = []
    for title in ("compiled", "reference"):
        try:
            results.append(READERS[title](cls, version)(b"__" + raw, 2, 2 + len(raw)))
        except MalformedMessage as error:
            results.append(error)
    first, second = results
    assert repr(first) == repr(second)
    if isinstance(first, MalformedMessage):
        raise first
    return first[0], first[1] - 2


@pytest.mark.parametrize(
    "tags",
    [
        "00",
        pytest.param("01 05 02 6162", id="unknown"),
        pytest.param("02 05 00 05 00", id="twice"),
        pytest.param("02 09 00 05 00", id="out of order"),
        pytest.param("01 ffffffff0f 00", id="number beyond 31 bits"),
        pytest.param("8080808000", id="a count with more bytes than needed"),
    ],
)
def test_tags_that_nobody_knows_are_skipped(tags: str):
    data = f"{HEARTBEAT} {tags}"
    assert read(HeartbeatRequest, 4, data) == (BEAT, len(bytes.fromhex(data)))


@pytest.mark.parametrize(
    ("tags", "where", "offset", "why"),
    [
        ("", "tagged fields", 9, "varint behind the end"),
        ("01", "tagged fields", 10, "varint behind the end"),
        ("01 05", "tagged fields", 11, "varint behind the end"),
        ("01 05 03 6162", "tagged fields", 12, "3 bytes wanted, 2 left"),
        ("01 05 ffffffff0f 61", "tagged fields", 16, "-1 bytes wanted, 1 left"),
        ("ffffffff07", "tagged fields", 9, "2147483647 of them, 10000 are the most"),
        ("ffffffff0f", "tagged fields", 9, "-1 of them, 10000 are the most"),
        ("914e" + 10001 * "0500", "tagged fields", 9, "10001 of them, 10000 are the most"),
        ("808080808000", "tagged fields", 9, "varint is longer than 5 bytes"),
    ],
)
def test_tag_sections_that_are_none(tags: str, where: str, offset: int, why: str):
    with pytest.raises(MalformedMessage) as caught:
        read(HeartbeatRequest, 4, f"{HEARTBEAT} {tags}")
    error = caught.value
    assert (error.what, error.where, error.offset, error.why) == ("HeartbeatRequest v4", where, offset, why)
    assert str(error) == f"HeartbeatRequest v4: {where} at byte {offset}: {why}"


FETCH_12 = "ffffffff 00000000 00000000 00000000 00 00000000 00000000 01 01 01"
"""FetchRequest up to its tag section."""


@pytest.mark.parametrize(
    ("tags", "cluster"),
    [
        pytest.param("01 00 03 036162", "ab", id="as it should be"),
        pytest.param("01 00 09 036162", "ab", id="too large a size"),
        pytest.param("01 00 00 036162", "ab", id="too small a size"),
        pytest.param("02 00 03 036162 00 02 0263", "c", id="twice, the last counts"),
        pytest.param("02 07 01 00 00 03 036162", "ab", id="behind one with a higher number"),
        pytest.param("01 00 01 00", None, id="null, which is the default"),
    ],
)
def test_the_size_of_a_known_tag_is_not_looked_at(tags: str, cluster: str | None):
    data = f"{FETCH_12} {tags}"
    message, end = read(FetchRequest, 12, data)
    assert isinstance(message, FetchRequest)
    assert (message.cluster_id, end) == (cluster, len(bytes.fromhex(data)))


def test_a_tag_of_another_version_is_refused():
    """Tag 1 of FetchRequest came with version 15."""
    with pytest.raises(MalformedMessage, match="tagged fields at byte 29: tag 1 does not exist in this version"):
        read(FetchRequest, 12, f"{FETCH_12} 01 01 0d 00000001 0000000000000002 00")


def test_a_tagged_structure_inside_a_tag_is_read_to_its_end():
    leader = LeaderIdAndEpoch(leader_id=1, leader_epoch=2)
    response = FetchResponse(
        responses=[FetchableTopicResponse(topic="t", partitions=[PartitionData(current_leader=leader)])]
    )
    written = codec.encode(response, 12)
    message, _ = read(FetchResponse, 12, written.hex())
    assert isinstance(message, FetchResponse)
    assert message.responses[0].partitions[0].current_leader == leader
    for end in range(len(written)):
        with pytest.raises(MalformedMessage):
            read(FetchResponse, 12, written[:end].hex())


@pytest.mark.parametrize("length", ["ffff", "fffe", "8000"])
def test_any_negative_length_is_null(length: str):
    assert read(HeartbeatRequest, 3, f"000167 00000001 00016d {length}")[0] == BEAT
    with pytest.raises(MalformedMessage, match="HeartbeatRequest v3: group_id at byte 0: null string"):
        read(HeartbeatRequest, 3, f"{length} 00000001 00016d ffff")


@pytest.mark.parametrize("length", ["00", "8000", "ffffffff0f", "8180808008"])
def test_any_negative_compact_length_is_null(length: str):
    assert read(HeartbeatRequest, 4, f"0267 00000001 026d {length} 00")[0] == BEAT
    with pytest.raises(MalformedMessage, match="HeartbeatRequest v4: member_id at byte 6: null string"):
        read(HeartbeatRequest, 4, f"0267 00000001 {length} 00 00")


def test_the_least_length_wraps_around_as_in_java():
    with pytest.raises(MalformedMessage, match="group_instance_id at byte 8: length 2147483647"):
        read(HeartbeatRequest, 4, "0267 00000001 026d 8080808008 00")


@pytest.mark.parametrize("count", ["ffffffff", "fffffffe", "80000000"])
def test_a_negative_count_is_null_where_null_is_allowed(count: str):
    assert read(MetadataRequest, 1, count)[0] == MetadataRequest(topics=None)
    with pytest.raises(MalformedMessage, match="OffsetFetchRequest v1: topics at byte 3: null array"):
        read(OffsetFetchRequest, 1, f"000167 {count}")


@pytest.mark.parametrize(
    ("version", "data", "where", "offset", "why"),
    [
        (2, f"{COMMIT_2} 7fffffff", "topics", 17, "array of 2147483647 elements in 0 bytes"),
        (2, f"{COMMIT_2} 00000002 000174 00000000", "topics", 17, "array of 2 elements in 7 bytes"),
        (2, f"{COMMIT_2} 00000001 000174 7fffffff 0000", "topics[0].partitions", 24, "array of 2147483647 elements"),
        (2, f"{COMMIT_2} 00000001 ffff 00000000", "topics[0].name", 21, "null string"),
        (2, f"{COMMIT_2} 00000001 000174 ffffffff", "topics[0].partitions", 24, "null array"),
        (8, f"{COMMIT_8} ffffffff07", "topics", 8, "array of 2147483646 elements in 0 bytes"),
        (8, f"{COMMIT_8} 8080808008", "topics", 8, "length 2147483647"),
        (8, f"{COMMIT_8} 02 0274 ffffffff07", "topics[0].partitions", 11, "array of 2147483646 elements in 0 bytes"),
        (8, f"{COMMIT_8} 02 00 01 00 00", "topics[0].name", 9, "null string"),
        (8, f"{COMMIT_8} 02 0274 00 00 00", "topics[0].partitions", 11, "null array"),
        (8, f"{COMMIT_8} 02 8080808080", "topics[0].name", 9, "varint is longer than 5 bytes"),
        (8, f"{COMMIT_8} 02 0674", "topics", 8, "array of 1 elements in 2 bytes"),
        (8, f"{COMMIT_8} 02 067400", "topics[0].name", 10, "5 bytes wanted, 2 left"),
        (8, f"{COMMIT_8} 02 0274 02 00000001 0000000000000005 00000001 0961 00 0000", None, 29, "8 bytes wanted"),
    ],
)
def test_counts_and_lengths_are_held_against_the_bytes_that_are_left(
    version: int, data: str, where: str | None, offset: int, why: str
):
    with pytest.raises(MalformedMessage) as caught:
        read(OffsetCommitRequest, version, data)
    error = caught.value
    expected = (f"OffsetCommitRequest v{version}", where or "topics[0].partitions[0].committed_metadata", offset)
    assert (error.what, error.where, error.offset) == expected
    assert error.why.startswith(why)


def test_an_array_has_at_most_a_million_elements():
    """From Kafka 4.4 on, and all of them may be there."""
    for count, taken in ((1_000_000, True), (1_000_001, False)):
        raw = count.to_bytes(4, "big") + bytes(2 * count)
        if taken:
            assert len(codec.decode(DeleteGroupsRequest, 0, raw).groups_names) == count
        else:
            with pytest.raises(MalformedMessage, match="array of 1000001 elements, 1000000 are the most"):
                codec.decode(DeleteGroupsRequest, 0, raw)


def test_a_struct_has_at_most_ten_thousand_tagged_fields():
    for tags, taken in (("904e" + 10000 * "0500", True), ("914e" + 10001 * "0500", False), ("ffffffff0f", False)):
        raw = bytes.fromhex(FETCH_12 + tags)
        if taken:
            codec.decode(FetchRequest, 12, raw)
        else:
            with pytest.raises(MalformedMessage, match="10000 are the most"):
                codec.decode(FetchRequest, 12, raw)


def test_huge_counts_cost_nothing():
    for version, head, count in ((2, COMMIT_2, "7fffffff"), (8, COMMIT_8, "ffffffff07")):
        raw = bytes.fromhex(head + count) + bytes(1000)
        with pytest.raises(MalformedMessage):
            codec.decode(OffsetCommitRequest, version, raw)
        tracemalloc.start()
        try:
            with pytest.raises(MalformedMessage):
                codec.decode(OffsetCommitRequest, version, raw)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 1_000_000


def test_a_structure_may_be_null_by_any_negative_byte():
    head, tail = "01 00000005", "00"
    for mark, cursor in (("ff", None), ("80", None), ("00 0274 00000001 00", Cursor("t", 1))):
        message, _ = read(DescribeTopicPartitionsRequest, 0, f"{head} {mark} {tail}")
        assert message == DescribeTopicPartitionsRequest((), 5, cursor)
    with pytest.raises(MalformedMessage, match=r"cursor\.topic_name at byte 6: null string"):
        read(DescribeTopicPartitionsRequest, 0, f"{head} 01 00 00000001 00 {tail}")


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("ff", "\ufffd"),
        ("61c3", "a\ufffd"),
        ("c080", "\ufffd\ufffd"),
        ("eda080", "\ufffd"),
        ("eda0", "\ufffd"),
        ("eda08041edb080", "\ufffdA\ufffd"),
        ("f4908080", "\ufffd\ufffd\ufffd\ufffd"),
        ("e6bca2f09f9880", "漢😀"),
    ],
)
def test_text_that_is_not_utf_8_is_replaced_as_java_replaces_it(raw: str, text: str):
    size = len(raw) // 2
    for data, version in (
        (f"{size:04x}{raw} 00000001 00016d ffff", 3),
        (f"{size + 1:02x}{raw} 00000001 026d 00 00", 4),
    ):
        message, _ = read(HeartbeatRequest, version, data)
        assert message == HeartbeatRequest(text, 1, "m", None)


def test_a_string_has_at_most_32767_bytes_in_any_version():
    long, longer = "61" * 32767, "61" * 32768
    assert read(HeartbeatRequest, 4, f"808002 {long} 00000001 026d 00 00")[0] == HeartbeatRequest("a" * 32767, 1, "m")
    with pytest.raises(MalformedMessage, match="group_id at byte 0: string of 32768 bytes, 32767 is the most"):
        read(HeartbeatRequest, 4, f"818002 {longer} 00000001 026d 00 00")
    assert codec.encode(HeartbeatRequest("a" * 32767), 4)
    for version in (3, 4):
        with pytest.raises(ValueError, match=r"32767|format requires"):
            codec.encode(HeartbeatRequest("a" * 32768), version)


def test_records_are_null_where_null_is_allowed():
    assert read(FetchResponse, 4, f"00000000 00000001 000174 00000001 00000000 0000 {'00' * 16} ffffffff ffffffff")
    head = "00000000 0000 02 0274 02 00000000 0000 0000000000000001 00000002 00 0000000000000000 0000000000000000"
    assert read(FetchSnapshotResponse, 0, f"{head} 01 00 00 00")
    with pytest.raises(MalformedMessage, match=r"partitions\[0\]\.unaligned_records at byte 45: null records"):
        read(FetchSnapshotResponse, 0, f"{head} 00 00 00 00")


def test_what_follows_a_request_is_ignored():
    assert read(ListGroupsRequest, 0, "0102")[1] == 0
    assert read(HeartbeatRequest, 4, f"{HEARTBEAT} 00 ffff") == (BEAT, 10)


@pytest.mark.parametrize("version", [-1, 99])
def test_a_version_that_does_not_exist_is_the_callers_mistake(version: int):
    with pytest.raises(ValueError, match=f"HeartbeatRequest has versions 0-4, not {version}"):
        codec.decode(HeartbeatRequest, version, b"")
    with pytest.raises(ValueError, match=f"HeartbeatRequest has versions 0-4, not {version}"):
        codec.encode(BEAT, version)


def test_what_a_field_cannot_hold_is_the_callers_mistake():
    for wrong in (HeartbeatRequest(None), HeartbeatRequest("g", 2**31), HeartbeatRequest("\ud800")):  # type: ignore[arg-type]
        with pytest.raises(ValueError):
            codec.encode(wrong, 3)


NATIVE = """
import sys
from kafkawire.codec import decode
from kafkawire.errors import MalformedMessage
from kafkawire.messages.list_offsets_request import ListOffsetsRequest

flat = bytes.fromhex("ffffffff 00000001 000174")
compact = bytes.fromhex("ffffffff 00 02 0274")
partition = bytes(12)
for version, head, counts in (
    (1, flat, ["7fffffff", "00000100", "00ffffff"]),
    (6, compact, ["ffffffff07", "8180808008", "808001", "ffffffff7f"]),
):
    for count in counts:
        for rows in (0, 8, 100):
            try:
                decode(ListOffsetsRequest, version, head + bytes.fromhex(count) + partition * rows)
            except MalformedMessage:
                print("refused")
"""


def test_no_count_ends_the_process():
    """kio allocates what a count asks for: it must never see one that has not been checked."""
    done = subprocess.run([sys.executable, "-c", NATIVE], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["refused"] * 21
