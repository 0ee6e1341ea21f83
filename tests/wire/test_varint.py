"""Varints, against values that Java's ByteUtils gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkawire.codec.varint import read_uvarint, read_varint, uvarint, varint

SIGNED = [(0, "00"), (-1, "01"), (1, "02"), (63, "7e"), (-64, "7f"), (64, "8001"), (2**31 - 1, "feffffff0f")]
LONG = [(-(2**31), "ffffffff0f"), (2**63 - 1, "feffffffffffffffff01"), (-(2**63), "ffffffffffffffffff01")]


@given(st.integers(0, 2**31 - 1))
def test_unsigned_there_and_back(value: int):
    assert read_uvarint(b"x" + uvarint(value) + b"x", 1) == (value, 1 + len(uvarint(value)))


@given(st.integers(-(2**63), 2**63 - 1))
def test_signed_there_and_back(value: int):
    assert read_varint(varint(value), 0, 10) == (value, len(varint(value)))


@pytest.mark.parametrize(("value", "written"), SIGNED + LONG)
def test_signed_as_java_writes_it(value: int, written: str):
    assert varint(value).hex() == written


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("8000", 0),
        ("8080808000", 0),
        ("ffffffff07", 2**31 - 1),
        ("ffffffff0f", -1),
        ("8080808008", -(2**31)),
        ("8080808010", 0),
        ("ffffffff7f", -1),
    ],
)
def test_unsigned_as_java_reads_it(written: str, value: int):
    """More bytes than needed are taken, bits beyond 32 are lost, bit 31 is a sign."""
    assert read_uvarint(bytes.fromhex(written), 0) == (value, len(written) // 2)


@pytest.mark.parametrize("written", ["808080808000", "ffffffffff", "808080808080808080808001"])
def test_more_than_five_bytes_are_refused(written: str):
    with pytest.raises(ValueError, match="longer than 5 bytes"):
        read_uvarint(bytes.fromhex(written), 0)


@pytest.mark.parametrize("written", ["", "80", "ffffff"])
def test_the_end_is_told(written: str):
    with pytest.raises(IndexError):
        read_uvarint(bytes.fromhex(written), 0)
    with pytest.raises(IndexError):
        read_varint(bytes.fromhex(written), 0)
