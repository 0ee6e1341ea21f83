"""PyPI kafka-protocol, which speaks ApiVersions and Metadata: its bytes read by us, ours by it.

Left out is what it cannot do: empty strings, uuids (so Metadata ends at version 9), nulls in compact fields (which it
writes as -1 and not as 0).
"""

from __future__ import annotations

import io
from typing import Any

import kafkaprotocol
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkawire import codec
from kafkawire.codec.layout import FieldLayout, StructLayout
from kafkawire.header import is_flexible, request_header
from kafkawire.schema import Message, Struct
from tests.wire.arbitrary import arbitrary, at_version, few
from tests.wire.catalogue import by_name, layout

THEIRS: dict[tuple[str, int], Any] = {
    (name, version): cls
    for name in ("ApiVersionsRequest", "ApiVersionsResponse", "MetadataRequest", "MetadataResponse")
    for version, cls in enumerate(getattr(kafkaprotocol, name)[:10])
}


def values(struct: Struct, of: StructLayout) -> dict[str, Any]:
    """By name, as its classes take them."""
    found: dict[str, Any] = {"_tagged_fields": {}} if of.flexible else {}
    for field in of.fields:
        value = getattr(struct, field.name)
        if field.struct is not None and value is not None:
            inner = field.struct
            value = [values(item, inner) for item in value] if field.array else values(value, inner)
        elif field.array and value is not None:
            value = list(value)
        found[field.name] = value
    return found


def without_nulls(struct: Struct, of: StructLayout) -> None:
    for field in of.fields:
        value = getattr(struct, field.name)
        if value is None and (of.flexible or not field.nullable):
            setattr(struct, field.name, () if field.array else "-")
        for item in value or () if field.array and field.struct is not None else ():
            assert field.struct is not None
            without_nulls(item, field.struct)


def read_values(instance: Any) -> dict[str, Any]:
    return {name: _read(getattr(instance, name)) for name, _ in type(instance)._fields}


def _read(value: Any) -> Any:
    if isinstance(value, kafkaprotocol.ktypes.Structure):
        return read_values(value)
    return [_read(item) for item in value] if isinstance(value, list) else value


def packable(struct: type[Struct], field: FieldLayout) -> st.SearchStrategy[Any] | None:
    return st.text(min_size=1, max_size=200) if field.kind == "string" else None


@pytest.mark.parametrize(("name", "version"), sorted(THEIRS))
@few
@given(data=st.data())
def test_what_one_writes_the_other_reads(name: str, version: int, data: st.DataObject):
    cls, theirs = by_name()[name], THEIRS[name, version]
    of = layout(cls, version)
    message = untagged(data.draw(arbitrary(cls, packable)), of)
    without_nulls(message, of)
    expected = values(message, of)
    their_bytes = theirs.pack(theirs(**expected))
    assert codec.decode_from(cls, version, their_bytes, 0) == (message, len(their_bytes))
    stream = io.BytesIO(codec.encode(message, version))
    assert read_values(theirs.unpack(stream)) == expected
    assert stream.read() == b""


def untagged(struct: Message, of: StructLayout) -> Message:
    made = at_version(struct, of)
    for field in of.tagged:
        setattr(made, field.name, getattr(of.cls(), field.name))
    assert isinstance(made, Message)
    return made


@pytest.mark.parametrize(("key", "version"), [(18, 2), (18, 3), (3, 5), (3, 9)])
def test_it_reads_our_request_header(key: int, version: int):
    cls = by_name()[kafkaprotocol.requests[key][version].__name__.rstrip("0123456789")]
    flexible = is_flexible(cls, version)
    frame = b"\0\0\0\0" + request_header(key, version, 77, "client-1", flexible) + codec.encode(cls(), version)
    header, _ = kafkaprotocol.read_network_request(frame)
    assert (header.request_api_key, header.request_api_version) == (key, version)
    assert (header.correlation_id, header.client_id) == (77, "client-1")
