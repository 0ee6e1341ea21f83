"""decode(encode(x)) = x for every version, with the lengths and tags at which formats go wrong."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafkawire.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from kafkawire.messages.offset_commit_key import OffsetCommitKey
from kafkawire.offsets_topic import encode_key, encode_value, group_key, offset_key, offset_value
from tests.pipeline.decoding import Record, decode, i16, i32, i64, known, short, tags

pytest.importorskip("pyarrow", reason="the pipeline is not installed: make test-pipeline installs it")

LENGTHS = (0, 126, 127, 200, 32_000)
"""Of metadata in bytes: where a varint of one more takes two bytes, and three."""

names = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
int32 = st.integers(-(2**31), 2**31 - 1)
int64 = st.integers(-(2**63), 2**63 - 1)
metadata = st.one_of(
    names, st.sampled_from(LENGTHS).map(lambda n: "x" * n), st.sampled_from(LENGTHS).map(lambda n: "é" * (n // 2))
)
topic_ids = st.one_of(st.just(bytes(16)), st.binary(min_size=16, max_size=16))


def offset_row(
    version: int, place: tuple[str, str, int], offset: int, epoch: int, text: str, at: int, expires: int, id_: bytes
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "record_type": 1,
        "group_id": place[0],
        "topic": place[1],
        "partition": place[2],
        "tombstone": False,
        "schema_version": version,
        "committed_offset": offset,
        "leader_epoch": epoch if version >= 3 else -1,
        "metadata": text,
        "commit_ms": at,
        "expire_ms": expires if version == 1 else -1,
    }
    return found | ({"topic_id": str(uuid.UUID(bytes=id_))} if version >= 4 and any(id_) else {})


@st.composite
def offsets(draw: st.DrawFn) -> tuple[Record, dict[str, Any]]:
    version = draw(st.integers(0, 4))
    place = draw(names), draw(names), draw(int32)
    fields = draw(int64), draw(int32), draw(metadata), draw(int64), draw(int64), draw(topic_ids)
    return (offset_key(*place), offset_value(version, *fields)), offset_row(version, place, *fields)


@st.composite
def tagged_offsets(draw: st.DrawFn) -> tuple[Record, dict[str, Any]]:
    """Version 4 with tags of the future; written by hand, as the encoder knows none."""
    place = draw(names), draw(names), draw(int32)
    offset, epoch, text, at, _, id_ = draw(int64), draw(int32), draw(metadata), draw(int64), 0, draw(topic_ids)
    unknown = draw(st.dictionaries(st.integers(1, 2**20), st.binary(max_size=300), max_size=3))
    fields = ([(0, id_)] if any(id_) else []) + sorted(unknown.items())
    value = i16(4) + i64(offset) + i32(epoch) + short(text) + i64(at) + tags(*fields)
    return (offset_key(*place), value), offset_row(4, place, offset, epoch, text, at, -1, id_)


@st.composite
def tombstones(draw: st.DrawFn) -> tuple[Record, dict[str, Any]]:
    group, topic, partition = draw(names), draw(names), draw(int32)
    key = encode_key(OffsetCommitKey(group, topic, partition))
    row = {"record_type": 1, "group_id": group, "topic": topic, "partition": partition, "tombstone": True}
    return (key, None), row


@st.composite
def groups(draw: st.DrawFn) -> tuple[Record, dict[str, Any]]:
    version = draw(st.integers(0, 4))
    group, type_, generation = draw(names), draw(names.filter(lambda name: name != "consumer")), draw(int32)
    protocol, leader, since = draw(st.none() | names), draw(st.none() | names), draw(int64)
    members = [
        MemberMetadata(
            draw(names),
            draw(st.none() | names),
            draw(names),
            draw(names),
            draw(int32),
            draw(int32),
            draw(st.binary(max_size=200)),
            draw(st.binary(max_size=200)),
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    value = encode_value(GroupMetadataValue(type_, generation, protocol, leader, since, members), version)
    shown = [
        {
            "member_id": one.member_id,
            "group_instance_id": one.group_instance_id if version >= 3 else None,
            "client_id": one.client_id,
            "client_host": one.client_host,
            "rebalance_timeout_ms": one.rebalance_timeout if version >= 1 else -1,
            "session_timeout_ms": one.session_timeout,
            "topics": None,
        }
        for one in members
    ]
    row = {
        "record_type": 2,
        "group_id": group,
        "tombstone": False,
        "schema_version": version,
        "group": {
            "protocol_type": type_,
            "generation": generation,
            "protocol": protocol,
            "leader": leader,
            "state_ms": since if version >= 2 else -1,
            "members": shown,
        },
    }
    return (group_key(group), value), row


anything = st.one_of(offsets(), offsets(), tagged_offsets(), tombstones(), groups())


@given(st.lists(anything, max_size=12))
def test_what_is_encoded_comes_back(records: list[tuple[Record, dict[str, Any]]]) -> None:
    """All kinds mixed in a batch: a row must not learn from its neighbours."""
    rows = decode([record for record, _ in records])
    assert [known(row) for row in rows] == [row for _, row in records]


@pytest.mark.parametrize("version", range(5))
@pytest.mark.parametrize("length", LENGTHS)
def test_metadata_of_every_length_in_every_version(version: int, length: int) -> None:
    fields = 42, 7, "m" * length, 5, 6, bytes(range(16))
    around = offset_key("g", "t", 0), offset_value(3, 1, 1, "", 1, 1, bytes(16))
    rows = decode([around, (offset_key("g", "t", 1), offset_value(version, *fields)), around])
    assert known(rows[1]) == offset_row(version, ("g", "t", 1), *fields)


@given(st.lists(st.tuples(st.none() | st.binary(max_size=60), st.none() | st.binary(max_size=60)), max_size=12))
@example([(b"\0\1\0\1g\0\1t\0\0\0\0", b"\0\4" + bytes(12) + b"\xff\xff\xff\xff\xff")])
def test_any_bytes_become_a_row_each(records: list[Record]) -> None:
    rows = decode(records)
    assert [row["log_offset"] for row in rows] == list(range(100, 100 + len(records)))
    for row, (key, value) in zip(rows, records, strict=True):
        assert row["error"] is None or (row["key"], row["value"]) == (key, value)


@given(anything, st.data())
def test_a_record_cut_anywhere_is_kept_and_named(record: tuple[Record, dict[str, Any]], data: st.DataObject) -> None:
    """Columns and the wire's own decoder agree about where a record is too short."""
    from kafkastub_pipeline.decode.rows import decoded_row

    key, value = record[0]
    assert key is not None
    if value is not None and data.draw(st.booleans()):
        value = value[: data.draw(st.integers(0, len(value)))]
    else:
        key = key[: data.draw(st.integers(0, len(key)))]
    (row,) = decode([(key, value)])
    expected = {name: found for name, found in decoded_row(key, value).items() if found is not None}
    assert known(row) == expected
