"""Where each field lies: every message at every version, cut into its fields and put together again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkawire import codec
from kafkawire.codec.layout import FieldLayout, StructLayout
from kafkawire.codec.spans import MOST_ELEMENTS_NOTED, FieldSpan, spans_of
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.records import NewRecord, build_batch
from kafkawire.records.spans import batch_spans
from kafkawire.schema import Struct
from tests.wire.arbitrary import arbitrary, at_version, encodable, few
from tests.wire.catalogue import MessageClass, layout, messages, versions

MOST = 10_000


def check_struct(span: FieldSpan, struct: Struct, of: StructLayout) -> None:
    """The fields' values are the struct's, and no byte is between two of them."""
    assert span.fields is not None
    at = span.start
    by_name = {one.name: one for one in span.fields}
    for one in span.fields:
        assert one.start == at
        at = one.end
    assert span.left_out or at == span.end
    for field in of.fields:
        check_value(by_name[field.name], getattr(struct, field.name), field)
    if of.flexible:
        tags = by_name["tagged fields"]
        named = {one.name: one for one in tags.fields or ()}
        for field in of.tagged:
            if field.name in named:
                check_value(named[field.name], getattr(struct, field.name), field)


def check_value(span: FieldSpan, value: Any, field: FieldLayout) -> None:
    if value is None:
        assert (span.value, span.fields) == (None, None)
    elif field.array:
        assert span.fields is not None
        assert len(span.fields) + span.left_out == len(value)
        assert len(span.fields) <= MOST_ELEMENTS_NOTED
        for one, item in zip(span.fields, value, strict=False):
            check_item(one, item, field)
    else:
        check_item(span, value, field)


def check_item(span: FieldSpan, value: Any, field: FieldLayout) -> None:
    if field.struct is not None:
        check_struct(span, value, field.struct)
    else:
        assert span.value == value


@pytest.mark.parametrize("cls", messages(), ids=lambda cls: cls.__name__)
@few
@given(data=st.data())
def test_the_fields_are_those_of_the_message(cls: MessageClass, data: st.DataObject) -> None:
    message = data.draw(arbitrary(cls, lambda struct, field: None))
    of_all = versions(cls)
    flexible = [] if cls.FLEXIBLE is None else [version for version in of_all if version >= cls.FLEXIBLE[0]][:1]
    for version in sorted({of_all[0], of_all[-1], *flexible}):
        of = layout(cls, version)
        sent = encodable(message, of)
        encoded = b"before" + codec.encode(sent, version)  # type: ignore[arg-type]
        span, error = spans_of(cls, version, encoded + b"behind", 6, len(encoded), MOST)
        assert error is None
        assert (span.start, span.end) == (6, len(encoded))
        check_struct(span, at_version(sent, of), of)


def test_so_many_fields_are_noted_and_no_more() -> None:
    encoded = codec.encode(DeleteGroupsRequest([f"group-{number}" for number in range(5000)]), 2)
    span, error = spans_of(DeleteGroupsRequest, 2, encoded, 0, len(encoded), MOST)
    assert (error, span.end) == (None, len(encoded))
    names, tags = span.fields or ()
    assert names.kind == "compact array of string"
    assert (len(names.fields or ()), names.left_out) == (MOST_ELEMENTS_NOTED, 5000 - MOST_ELEMENTS_NOTED)
    assert tags.start == len(encoded) - 1
    span, _ = spans_of(DeleteGroupsRequest, 2, encoded, 0, len(encoded), 3)
    assert span.left_out == 1
    assert [one.name for one in span.fields or ()] == ["groups_names"]


def test_what_is_broken_is_told_up_to_there() -> None:
    encoded = codec.encode(HeartbeatRequest("group", 7, "member", None), 4)
    span, error = spans_of(HeartbeatRequest, 4, encoded[:12], 0, 12, MOST)
    assert "member_id" in str(error)
    assert [(one.name, one.value) for one in span.fields or ()][:2] == [("group_id", "group"), ("generation_id", 7)]
    with pytest.raises(ValueError, match="has versions 0-4, not 9"):
        spans_of(HeartbeatRequest, 9, encoded, 0, len(encoded), MOST)


def test_types_are_named_as_in_the_guide() -> None:
    encoded = codec.encode(MetadataRequest(), 12)
    span, _ = spans_of(MetadataRequest, 12, encoded, 0, len(encoded), MOST)
    kinds = {one.name: one.kind for one in span.fields or ()}
    assert kinds["topics"] == "compact array of MetadataRequestTopic"
    assert kinds["allow_auto_topic_creation"] == "bool"


# -- record batches


def test_a_batch_is_cut_into_header_and_records() -> None:
    first = NewRecord(b"key", b"value", 1000, ((b"trace", b"\xff"), (b"none", None)))
    data = b"xx" + build_batch([first, NewRecord(None, None, 1001, ())]) + b"xx"
    (batch,) = batch_spans(data, 2, len(data) - 2)
    fields = {one.name: one for one in batch.fields or ()}
    assert (batch.start, batch.end) == (2, len(data) - 2)
    assert (fields["base_offset"].start, fields["magic"].value, fields["record_count"].value) == (2, 2, 2)
    one, two = fields["records"].fields or ()
    assert (fields["records"].start, two.end) == (2 + 61, len(data) - 2)
    values = {each.name: each.value for each in one.fields or ()}
    assert (values["key"], values["value"]) == (b"key", b"value")
    assert (values["header[0].key"], values["header[0].value"]) == ("trace", b"\xff")
    assert values["header[1].value"] is None
    assert {each.name: each.value for each in two.fields or ()}["value"] is None
    at = one.start
    for each in one.fields or ():
        assert each.start == at
        at = each.end
    assert at == one.end == two.start


def test_a_compressed_batch_is_one_piece_and_rubbish_is_none() -> None:
    data = build_batch([NewRecord(b"k", b"v" * 500, 1000, ())], compression=1)
    (batch,) = batch_spans(data, 0, len(data))
    records = (batch.fields or ())[-1]
    assert (records.kind, records.fields) == ("gzip", None)
    assert records.value == f"1 records in {len(data) - 61} bytes"
    for rubbish in (b"\0", bytes(70), data[:-1], b"\xff" * 100):
        assert [one.name for one in batch_spans(rubbish, 0, len(rubbish))] == ["part of a batch"]


@given(st.binary(min_size=61, max_size=200), st.integers(0, 61 + 40))
def test_damaged_records_never_raise(noise: bytes, place: int) -> None:
    data = bytearray(build_batch([NewRecord(b"key", b"value", 1000, ((b"h", b"x"),))] * 3))
    data[place : place + 8] = noise[:8]
    found = batch_spans(bytes(data), 0, len(data))
    assert found[0].start == 0


def test_many_batches_and_records_are_bounded() -> None:
    batch = build_batch([NewRecord(None, b"v", 0, ())] * 200)
    found = batch_spans(batch * 30, 0, 30 * len(batch))
    assert found[-1].name == "more batches"
    assert found[-1].end == 30 * len(batch)
    records = (found[0].fields or ())[-1]
    assert (len(records.fields or ()), records.left_out) == (50, 150)
