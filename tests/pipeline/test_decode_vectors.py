"""Golden vectors: every schema version, written by hand after Kafka's schemas, and what is damaged or unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.pipeline.decoding import Record, blob, decode, i16, i32, i64, known, short, tags, text, varint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("pyarrow", reason="the pipeline is not installed: make test-pipeline installs it")

OFFSET_KEY = i16(1) + text("shipping") + text("orders") + i32(4)
LEGACY_KEY = i16(0) + text("shipping") + text("orders") + i32(4)
GROUP_KEY = i16(2) + text("shipping")
PLACE: dict[str, Any] = {"group_id": "shipping", "topic": "orders", "partition": 4}
TOPIC_ID = bytes(range(16))
TOPIC_ID_TEXT = "00010203-0405-0607-0809-0a0b0c0d0e0f"

OFFSET_VALUES = {
    0: i16(0) + i64(42) + text("by é") + i64(1_700_000_000_000),
    1: i16(1) + i64(42) + text("by é") + i64(1_700_000_000_000) + i64(1_700_000_600_000),
    2: i16(2) + i64(42) + text("by é") + i64(1_700_000_000_000),
    3: i16(3) + i64(42) + i32(7) + text("by é") + i64(1_700_000_000_000),
    4: i16(4) + i64(42) + i32(7) + short("by é") + i64(1_700_000_000_000) + tags((0, TOPIC_ID)),
}


def offset(version: int, legacy: bool = False) -> dict[str, Any]:
    found = {
        **PLACE,
        "record_type": 0 if legacy else 1,
        "tombstone": False,
        "schema_version": version,
        "committed_offset": 42,
        "leader_epoch": 7 if version >= 3 else -1,
        "metadata": "by é",
        "commit_ms": 1_700_000_000_000,
        "expire_ms": 1_700_000_600_000 if version == 1 else -1,
    }
    return found | ({"topic_id": TOPIC_ID_TEXT} if version >= 4 else {})


@pytest.mark.parametrize("version", OFFSET_VALUES)
def test_an_offset_of_every_version(version: int) -> None:
    (row,) = decode([(OFFSET_KEY, OFFSET_VALUES[version])])
    assert known(row) == offset(version)
    assert (row["log_partition"], row["log_offset"], row["log_ms"]) == (3, 100, 0)


def test_offsets_of_all_versions_side_by_side() -> None:
    rows = decode([(OFFSET_KEY, value) for value in OFFSET_VALUES.values()])
    assert [known(row) for row in rows] == [offset(version) for version in OFFSET_VALUES]


def test_an_offset_from_before_kafka_0_9() -> None:
    (row,) = decode([(LEGACY_KEY, OFFSET_VALUES[0])])
    assert known(row) == offset(0, legacy=True)


@pytest.mark.parametrize(("key", "type_"), [(LEGACY_KEY, 0), (OFFSET_KEY, 1)])
def test_an_offset_s_tombstone(key: bytes, type_: int) -> None:
    (row,) = decode([(key, None)])
    assert known(row) == {**PLACE, "record_type": type_, "tombstone": True}


@pytest.mark.parametrize(
    ("end", "topic_id"),
    [
        pytest.param(tags(), None, id="no-tags"),
        pytest.param(tags((0, bytes(16))), None, id="the-zero-id"),
        pytest.param(tags((9, b"of the future")), None, id="an-unknown-tag"),
        pytest.param(tags((0, TOPIC_ID), (9, b"")), TOPIC_ID_TEXT, id="both"),
        pytest.param(tags((0, TOPIC_ID)) + b"more", TOPIC_ID_TEXT, id="bytes-behind"),
    ],
)
def test_the_tags_of_version_4(end: bytes, topic_id: str | None) -> None:
    value = i16(4) + i64(42) + i32(7) + short("") + i64(5) + end
    rows = decode([(OFFSET_KEY, value), (OFFSET_KEY, OFFSET_VALUES[3])])
    assert (rows[0]["topic_id"], rows[0]["commit_ms"], rows[0]["error"]) == (topic_id, 5, None)
    assert known(rows[1]) == offset(3)


@pytest.mark.parametrize("version", range(4))
def test_bytes_behind_a_value_are_ignored(version: int) -> None:
    (row,) = decode([(OFFSET_KEY + b"??", OFFSET_VALUES[version] + b"more")])
    assert known(row) == offset(version)


SUBSCRIPTION = i16(1) + i32(2) + text("b") + text("a") + i32(-1) + i32(0)


def group_value(version: int) -> bytes:
    string = short if version >= 4 else text
    end = tags() if version >= 4 else b""

    def data(value: bytes) -> bytes:
        return varint(len(value) + 1) + value if version >= 4 else blob(value)

    member = string("m-1") + (string("static-1") if version >= 3 else b"") + string("client") + string("/10.0.0.1")
    member += (i32(300_000) if version >= 1 else b"") + i32(45_000) + data(SUBSCRIPTION) + data(b"assigned") + end
    state = i64(1_700_000_000_000) if version >= 2 else b""
    count = varint(2) if version >= 4 else i32(1)
    return i16(version) + string("consumer") + i32(7) + string("range") + string("m-1") + state + count + member + end


@pytest.mark.parametrize("version", range(5))
def test_a_group_s_generation_of_every_version(version: int) -> None:
    (row,) = decode([(GROUP_KEY, group_value(version))])
    assert known(row) == {
        "group_id": "shipping",
        "record_type": 2,
        "tombstone": False,
        "schema_version": version,
        "group": {
            "protocol_type": "consumer",
            "generation": 7,
            "protocol": "range",
            "leader": "m-1",
            "state_ms": 1_700_000_000_000 if version >= 2 else -1,
            "members": [
                {
                    "member_id": "m-1",
                    "group_instance_id": "static-1" if version >= 3 else None,
                    "client_id": "client",
                    "client_host": "/10.0.0.1",
                    "rebalance_timeout_ms": 300_000 if version >= 1 else -1,
                    "session_timeout_ms": 45_000,
                    "topics": ["a", "b"],
                }
            ],
        },
    }


def test_an_empty_group_and_its_end() -> None:
    empty = i16(3) + text("") + i32(0) + text(None) + text(None) + i64(5) + i32(0)
    alive, dead = decode([(GROUP_KEY, empty), (GROUP_KEY, None)])
    assert alive["group"] == {
        "protocol_type": "",
        "generation": 0,
        "protocol": None,
        "leader": None,
        "state_ms": 5,
        "members": [],
    }
    assert known(dead) == {"group_id": "shipping", "record_type": 2, "tombstone": True}


def test_a_subscription_that_cannot_be_parsed_is_not_known() -> None:
    value = group_value(3).replace(SUBSCRIPTION, b"\xff" * len(SUBSCRIPTION))
    (row,) = decode([(GROUP_KEY, value)])
    assert row["error"] is None
    assert row["group"]["members"][0]["topics"] is None


GROUP_TYPES = (3, 4, 6, 11, 12, 15, 17, 20, 23)
MEMBER_TYPES = (5, 7, 8, 10, 13, 14, 16, 19, 21, 22)


@pytest.mark.parametrize("type_", GROUP_TYPES)
def test_keys_about_a_group_of_a_newer_kind_are_recognised(type_: int) -> None:
    (row,) = decode([(i16(type_) + text("shipping"), None)])
    assert known(row) == {"group_id": "shipping", "record_type": type_, "tombstone": True}


@pytest.mark.parametrize("type_", MEMBER_TYPES)
def test_keys_about_a_member_of_a_newer_group_are_recognised(type_: int) -> None:
    (row,) = decode([(i16(type_) + text("shipping") + text("m-1"), None)])
    assert known(row) == {"group_id": "shipping", "record_type": type_, "member_id": "m-1", "tombstone": True}


def test_what_a_member_of_a_newer_group_subscribes_to() -> None:
    value = i16(0) + short(None) + short(None) + short("client") + short("/10.0.0.1")
    value += varint(3) + short("a") + short("b") + short(None) + i32(300_000) + short("uniform") + tags() + tags()
    (row,) = decode([(i16(5) + text("shipping") + text("m-1"), value)])
    assert row["error"] is None
    assert (row["schema_version"], row["topics"]) == (0, ["a", "b"])


DAMAGED: dict[str, tuple[Record, str]] = {
    "no-key": ((None, OFFSET_VALUES[3]), "not two bytes of a key"),
    "an-empty-key": ((b"", None), "not two bytes of a key"),
    "one-byte-of-a-key": ((b"\0", OFFSET_VALUES[3]), "not two bytes of a key"),
    "an-unknown-type": ((i16(999) + text("shipping"), b"whatever"), "999 is no known record type"),
    "a-negative-type": ((i16(-1) + text("shipping"), None), "-1 is no known record type"),
    "a-key-cut-short": ((OFFSET_KEY[:-1], OFFSET_VALUES[3]), "OffsetCommitKey"),
    "a-key-that-lies": ((i16(1) + i16(3000) + b"shipping", OFFSET_VALUES[3]), "OffsetCommitKey"),
    "no-value": ((OFFSET_KEY, b""), "not two bytes of a value"),
    "one-byte-of-a-value": ((OFFSET_KEY, b"\0"), "not two bytes of a value"),
    "an-unknown-version": ((OFFSET_KEY, i16(5) + bytes(40)), "version 5 is not known, only 0-4"),
    "a-negative-version": ((OFFSET_KEY, i16(-2) + bytes(40)), "version -2 is not known"),
    "a-value-cut-short": ((OFFSET_KEY, OFFSET_VALUES[3][:-1]), "OffsetCommitValue"),
    "v1-without-expiry": ((OFFSET_KEY, OFFSET_VALUES[1][:-8]), "OffsetCommitValue"),
    "v4-without-tags": ((OFFSET_KEY, OFFSET_VALUES[4][: -len(tags((0, TOPIC_ID)))]), "OffsetCommitValue"),
    "a-topic-id-cut-short": ((OFFSET_KEY, OFFSET_VALUES[4][:-1]), "OffsetCommitValue"),
    "null-metadata": ((OFFSET_KEY, i16(3) + i64(1) + i32(1) + text(None) + i64(1)), "OffsetCommitValue"),
    "metadata-that-lies": ((OFFSET_KEY, i16(3) + i64(1) + i32(1) + i16(999) + i64(1)), "OffsetCommitValue"),
    "a-legacy-offset-of-another-version": ((LEGACY_KEY, i16(7) + bytes(40)), "version 7 is not known"),
    "a-group-cut-short": ((GROUP_KEY, group_value(3)[:-3]), "GroupMetadataValue"),
    "a-group-of-an-unknown-version": ((GROUP_KEY, i16(5) + bytes(40)), "version 5 is not known, only 0-4"),
    "absurd-members": (
        (GROUP_KEY, i16(3) + text("") + i32(0) + text(None) + text(None) + i64(5) + i32(2**31 - 1)),
        "GroupMetadataValue",
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_record_keeps_its_bytes_and_its_reason(name: str) -> None:
    (key, value), reason = DAMAGED[name]
    before, row, after = decode([(OFFSET_KEY, OFFSET_VALUES[3]), (key, value), (OFFSET_KEY, OFFSET_VALUES[4])])
    assert reason in row["error"]
    assert (row["key"], row["value"], row["tombstone"]) == (key, value, value is None)
    assert row["log_offset"] == 101
    assert (known(before), known(after)) == (offset(3), offset(4))


def test_metadata_that_is_no_text_is_read_as_kafka_reads_it() -> None:
    """Java puts U+FFFD in the place of bytes that are no UTF-8; neighbours are not touched."""
    value = i16(3) + i64(1) + i32(1) + i16(3) + b"a\xff\xfe" + i64(1)
    row, after = decode([(OFFSET_KEY, value), (OFFSET_KEY, OFFSET_VALUES[4])])
    assert (row["metadata"], row["error"]) == ("a\ufffd\ufffd", None)
    assert known(after) == offset(4)


def test_a_key_that_could_be_read_names_its_group() -> None:
    (row,) = decode([(OFFSET_KEY, b"")])
    assert {name: row[name] for name in PLACE} == PLACE


def test_nothing_to_decode() -> None:
    assert decode([]) == []


def test_damaged_records_in_spark_go_to_the_table_of_errors(spark: SparkSession) -> None:
    """Through the session: the same rows, none dropped, and the table has bytes and reasons."""
    from kafkastub_pipeline.decode import decoded
    from kafkastub_pipeline.session import local_table
    from kafkastub_pipeline.tables.events import decode_errors, offset_events

    records = [record for record, _ in DAMAGED.values()] + [(OFFSET_KEY, value) for value in OFFSET_VALUES.values()]
    raw = local_table(
        spark,
        [(key, value, 3, at, None) for at, (key, value) in enumerate(records)],
        "key binary, value binary, `partition` int, `offset` bigint, timestamp timestamp",
    )
    frame = decoded(raw).persist()
    try:
        assert frame.count() == len(records)
        errors = {row.log_offset: row for row in decode_errors(frame).collect()}
        good = sorted(offset_events(frame).collect(), key=lambda row: row.log_offset)
    finally:
        frame.unpersist()
    assert [row.schema_version for row in good] == list(OFFSET_VALUES)
    assert len(errors) == len(DAMAGED)
    for at, ((key, value), reason) in enumerate(DAMAGED.values()):
        assert reason in errors[at].reason
        assert (errors[at].key, errors[at].value) == (key, value)
