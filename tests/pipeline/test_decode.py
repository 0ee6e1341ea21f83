"""Columns say what the wire's own decoder says, record by record: every version, every size, every damage."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafkawire.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from kafkawire.messages.offset_commit_value import OffsetCommitValue
from kafkawire.offsets_topic import (
    RecordType,
    decode_record,
    encode_key,
    encode_value,
    group_key,
    message_class,
    offset_key,
)
from kafkawire.schema import ZERO_UUID
from tests.offsets_topic.history import subscription

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: make test-pipeline installs it")

Pair = tuple[bytes | None, bytes | None]
SIZES = (0, 126, 127, 128, 200, 16382, 16383, 32000)
TOPIC_ID = bytes(range(16))


def decoded(pairs: list[Pair]) -> list[dict[str, Any]]:
    from kafkastub_pipeline.decode import decode_batch

    count = len(pairs)
    batch = pa.RecordBatch.from_arrays(
        [
            pa.array([key for key, _ in pairs], pa.binary()),
            pa.array([value for _, value in pairs], pa.binary()),
            pa.array([0] * count, pa.int32()),
            pa.array(range(count), pa.int64()),
            pa.array(range(count), pa.int64()),
        ],
        ["key", "value", "log_partition", "log_offset", "log_ms"],
    )
    found = [row for one in decode_batch(batch) for row in one.to_pylist()]
    assert [row["log_offset"] for row in found] == list(range(count))
    return found


int64 = st.integers(-(2**63), 2**63 - 1)
texts = st.text(max_size=20) | st.sampled_from(SIZES).map("m".__mul__)
offset_values = st.builds(
    OffsetCommitValue,
    offset=int64,
    leader_epoch=st.integers(-(2**31), 2**31 - 1),
    metadata=texts,
    commit_timestamp=int64,
    expire_timestamp=int64,
    topic_id=st.sampled_from([ZERO_UUID, TOPIC_ID]),
)
offsets = st.builds(
    lambda group, topic, partition, value, version: (offset_key(group, topic, partition), value, version),
    st.text(max_size=12),
    st.text(max_size=12),
    st.integers(0, 2**31 - 1),
    offset_values,
    st.integers(*OffsetCommitValue.VERSIONS),
)


@given(st.lists(offsets, min_size=1, max_size=12))
def test_offsets_of_every_version_come_back(written: list[tuple[bytes, OffsetCommitValue, int]]) -> None:
    rows = decoded([(key, encode_value(value, version)) for key, value, version in written])
    for row, (key, value, version) in zip(rows, written, strict=True):
        read: Any = decode_record(key, encode_value(value, version)).value
        assert row["error"] is None
        assert (row["schema_version"], row["committed_offset"], row["metadata"]) == (
            version,
            value.offset,
            value.metadata,
        )
        assert (row["leader_epoch"], row["commit_ms"], row["expire_ms"]) == (
            read.leader_epoch,
            value.commit_timestamp,
            read.expire_timestamp,
        )
        has_id = version >= 4 and value.topic_id != ZERO_UUID
        assert row["topic_id"] == ("00010203-0405-0607-0809-0a0b0c0d0e0f" if has_id else None)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("version", range(5))
def test_metadata_of_any_size(version: int, size: int) -> None:
    value = OffsetCommitValue(7, 2, "é" * (size // 2) + "x" * (size % 2), 1, 2)
    (row,) = decoded([(offset_key("g", "t", 0), encode_value(value, version))])
    assert row["metadata"] == value.metadata
    assert row["commit_ms"] == 1


def test_tags_of_the_future_are_passed_over() -> None:
    plain = encode_value(OffsetCommitValue(7, 2, "m", 1), 4)
    assert plain.endswith(b"\0")
    tagged = plain[:-1] + b"\2" + b"\0\x10" + TOPIC_ID + b"\x07\3abc"
    alone = plain[:-1] + b"\1" + b"\x07\3abc"
    rows = decoded([(offset_key("g", "t", 0), value) for value in (plain, tagged, alone)])
    assert [row["error"] for row in rows] == [None] * 3
    assert [row["committed_offset"] for row in rows] == [7] * 3
    assert [row["topic_id"] for row in rows] == [None, "00010203-0405-0607-0809-0a0b0c0d0e0f", None]


members = st.builds(
    MemberMetadata,
    st.text(max_size=5),
    st.none() | st.text(max_size=5),
    st.text(max_size=5),
    st.text(max_size=5),
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-(2**31), 2**31 - 1),
    st.binary(max_size=8) | st.sampled_from([subscription("b", "a"), subscription("é")]),
    st.binary(max_size=8),
)
generations = st.builds(
    GroupMetadataValue,
    st.sampled_from(["consumer", "", "connect"]) | st.text(max_size=5),
    st.integers(-(2**31), 2**31 - 1),
    st.none() | st.text(max_size=5),
    st.none() | st.text(max_size=5),
    int64,
    st.lists(members, max_size=4),
)
groups = st.tuples(
    st.text(max_size=5).map(group_key),
    st.tuples(generations, st.integers(*GroupMetadataValue.VERSIONS)).map(lambda one: encode_value(*one)),
)
whole = offsets.map(lambda one: (one[0], encode_value(one[1], one[2]))) | groups
damaged = st.one_of(
    whole,
    whole.map(lambda pair: (pair[0], None)),
    whole.flatmap(lambda pair: st.integers(0, len(pair[1])).map(lambda n: (pair[0], pair[1][:n]))),
    whole.flatmap(lambda pair: st.integers(0, len(pair[0])).map(lambda n: (pair[0][:n], pair[1]))),
    whole.map(lambda pair: (pair[0], pair[1] + b"more")),
    st.tuples(st.none() | st.binary(max_size=30), st.none() | st.binary(max_size=30)),
    st.tuples(st.just(offset_key("g", "t", 1)), st.binary(max_size=40)),
    st.tuples(st.just(group_key("g")), st.binary(max_size=40)),
    st.tuples(st.just(group_key("g")), st.binary(max_size=40).map(lambda b: b"\0\3\0\1c" + b)),
    st.tuples(st.binary(max_size=12).map(lambda b: b"\0\1" + b), st.none()),
)


@given(st.lists(damaged, min_size=1, max_size=20))
@example([(b"\0\1\0\1\xff\0\1t\0\0\0\0", None)])
def test_columns_and_rows_agree_on_anything(pairs: list[Pair]) -> None:
    from kafkastub_pipeline.decode.rows import decoded_row

    for row, (key, value) in zip(decoded(pairs), pairs, strict=True):
        wanted = decoded_row(key, value)
        if wanted.get("error"):
            assert row["error"] == wanted["error"]
            assert (row["key"], row["value"]) == (key, value)
            continue
        assert {name: row[name] for name in wanted} == wanted


@pytest.mark.parametrize("version", range(5))
def test_groups_of_every_version(version: int) -> None:
    members = [
        MemberMetadata("m1", "i1", "client", "/host", 10, 20, subscription("b", "a"), b"share"),
        MemberMetadata("m2", None, "client", "/host", 10, 20, b"\0", b""),
    ]
    value = GroupMetadataValue("consumer", 3, "range", "m1", 55, members)
    (row,) = decoded([(group_key("g"), encode_value(value, version))])
    group = row["group"]
    assert (group["protocol_type"], group["generation"], group["protocol"], group["leader"]) == (
        "consumer",
        3,
        "range",
        "m1",
    )
    assert group["state_ms"] == (55 if version >= 2 else -1)
    assert [m["topics"] for m in group["members"]] == [["a", "b"], None]
    assert group["members"][0]["group_instance_id"] == ("i1" if version >= 3 else None)


@pytest.mark.parametrize("type_", list(RecordType))
def test_keys_of_every_type_are_known(type_: RecordType) -> None:
    key = message_class(type_, "Key")()
    name = "group" if hasattr(key, "group") else "group_id"
    setattr(key, name, "g: a,b")
    (row,) = decoded([(encode_key(key), None)])
    assert row["error"] is None
    assert (row["record_type"], row["group_id"], row["tombstone"]) == (int(type_), "g: a,b", True)
