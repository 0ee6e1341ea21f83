"""Request and response headers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.errors import MalformedMessage
from kafkawire.header import RequestHeader, is_flexible, read_request_header, request_header, response_header_size
from kafkawire.messages import RESPONSES
from kafkawire.messages.request_header import RequestHeader as Schema
from tests.wire.catalogue import by_name

int16, int32 = st.integers(-(2**15), 2**15 - 1), st.integers(-(2**31), 2**31 - 1)


@given(int16, int16, int32, st.none() | st.text(max_size=200), st.booleans(), st.binary(max_size=9))
def test_what_was_written_is_read(
    key: int, version: int, correlation_id: int, client_id: str | None, flexible: bool, body: bytes
):
    data = request_header(key, version, correlation_id, client_id, flexible)
    assert data == encode(Schema(key, version, correlation_id, client_id), 2 if flexible else 1)
    around = b"before" + data + body
    read = read_request_header(around, 6, len(around), flexible)
    assert read == RequestHeader(key, version, correlation_id, client_id, 6 + len(data))


@pytest.mark.parametrize("tags", ["00", "0105026162", "020100ff7f0161", "904e" + 10000 * "0500"])
def test_tags_are_skipped(tags: str):
    data = request_header(18, 3, 7, "c", False) + bytes.fromhex(tags)
    assert read_request_header(data + b"body", 0, len(data) + 4, True).end == len(data)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ("", "request header: message at byte 0: 0 bytes, at least 10 wanted"),
        ("000300000000000700", "request header: message at byte 0: 9 bytes, at least 10 wanted"),
        ("00030000000000070005616263", "request header: client_id at byte 8: 5 bytes wanted, 3 left"),
        ("0003000000000007000161", "request header: tagged fields at byte 11: index out of range"),
        ("000300000000000700016101", "request header: tagged fields at byte 11: index out of range"),
        ("0003000000000007000161010005", "request header: tagged fields at byte 11: a tag of 5 bytes"),
        ("000300000000000700016101000561", "request header: tagged fields at byte 11: a tag of 5 bytes"),
        ("00030000000000070001610100ffffffff0f", "request header: tagged fields at byte 11: a tag of -1 bytes"),
        (
            "0003000000000007000161ffffffff0f",
            "request header: tagged fields at byte 11: -1 of them, 10000 are the most",
        ),
        (
            "0003000000000007000161ffffffffff01",
            "request header: tagged fields at byte 11: varint is longer than 5 bytes",
        ),
    ],
)
def test_what_is_wrong_is_told_from_where_the_header_begins(data: str, error: str):
    raw = bytes.fromhex(data)
    with pytest.raises(MalformedMessage) as caught:
        read_request_header(b"..." + raw, 3, 3 + len(raw), True)
    assert str(caught.value) == error


def test_nothing_behind_the_frame_is_read():
    """A header that wants more than its frame has, where the next frame has it."""
    data = request_header(18, 3, 7, "client", True)
    for end in range(len(data)):
        with pytest.raises(MalformedMessage):
            read_request_header(data + b"\0" * 40, 0, end, True)


@given(st.binary(max_size=40), st.booleans())
def test_garbage_is_read_or_refused(data: bytes, flexible: bool):
    try:
        header = read_request_header(data, 0, len(data), flexible)
    except MalformedMessage:
        return
    assert 10 <= header.end <= len(data)
    assert decode(Schema, 2 if flexible else 1, data) == Schema(*header[:4])


def test_a_client_id_that_is_not_utf_8_is_read_as_java_reads_it():
    data = request_header(3, 1, 7, "????", False).replace(b"????", b"a\xff\xed\xa0")
    assert read_request_header(data, 0, len(data), False).client_id == "a\ufffd\ufffd"


@pytest.mark.parametrize("key", sorted(RESPONSES))
def test_response_headers_have_tags_where_the_body_has_but_not_for_api_versions(key: int):
    cls = by_name()[RESPONSES[key][1]]
    for version in range(cls.VERSIONS[0], cls.VERSIONS[1] + 1):
        flexible = is_flexible(cls, version)
        expected = 5 if flexible and key != ApiKey.API_VERSIONS else 4
        assert response_header_size(key, flexible) == expected
