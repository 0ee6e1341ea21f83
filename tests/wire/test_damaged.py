"""Damaged messages: every decoder says the same, raises MalformedMessage alone, and reads nothing behind the frame."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkawire import codec
from kafkawire.errors import MalformedMessage
from kafkawire.schema import Message
from tests.wire.arbitrary import arbitrary, encodable, few
from tests.wire.catalogue import MessageClass, layout, messages, paced, straight, versions

ODD = [
    b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00", b"\x00\x00\x00\x08", b"\xff\xff\xff\xff\x07",
    b"\xff\xff\xff\xff\x0f", b"\x80\x80\x80\x80\x08", b"\x80\x80\x80\x80\x80\x01", b"\xff\xfe", b"\x7f\xff",
    b"\x80\x00", b"\x00", b"\x01", b"\x09", b"\xff", b"\x80", b"\xed\xa0\x80", b"\x02\x05\x01\x00\x06\x00",
]  # fmt: skip
"""Counts, lengths, tags and text of the wrong kind."""

Damage = tuple[int, int, bytes]

damages = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 2**16), st.one_of(st.sampled_from(ODD), st.binary(max_size=3))),
    min_size=1,
    max_size=3,
)
"""(what to do, where, with what)."""

neighbours = st.sampled_from([b"", b"\x00" * 200, b"\xff" * 50, b"\x01\x02" * 2000])


def damaged(data: bytes, how: list[Damage]) -> bytes:
    for kind, place, odd in how:
        at = place % (len(data) + 1)
        if kind == 0:
            data = data[:at]
        elif kind == 1:
            data = data[:at] + odd + data[at:]
        else:
            data = data[:at] + odd + data[at + len(odd) :]
    return data


@pytest.mark.parametrize("cls", messages(), ids=lambda cls: cls.__name__)
@few
@given(data=st.data())
def test_all_decoders_agree(cls: MessageClass, data: st.DataObject):
    message = data.draw(arbitrary(cls, lambda struct, field: None))
    for version in versions(cls):
        good = codec.encode(encodable(message, layout(cls, version)), version)
        for _ in range(4):
            check(cls, version, damaged(good, data.draw(damages)), data.draw(neighbours))


@given(st.sampled_from(messages()), st.binary(max_size=60))
def test_garbage(cls: MessageClass, data: bytes):
    for version in versions(cls):
        check(cls, version, data, b"")


def check(cls: MessageClass, version: int, data: bytes, behind: bytes) -> None:
    """`behind` is what comes after the frame in the same buffer."""
    buffer, end = b"_" + data + behind, len(data) + 1
    expected = verdict(lambda: codec.read_reference(cls, version, data))
    assert verdict(lambda: codec.decoder(cls, version)(buffer, 1, end), 1) == expected
    for decode in (straight(cls, version, True), straight(cls, version, False), paced(cls, version)):
        try:
            read, stop = decode(buffer, 1, end)
        except Exception:  # it may refuse whatever it likes, but not take what is wrong
            continue
        assert stop > end or repr((read, stop - 1)) == expected


def verdict(read: Callable[[], tuple[Message, int]], start: int = 0) -> str:
    """What was read and how far, or the error's text."""
    try:
        message, end = read()
    except MalformedMessage as error:
        return str(error)
    return repr((message, end - start))
