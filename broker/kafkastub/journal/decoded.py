"""A request and its answer field by field, each with the bytes that it comes from."""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from kafkastub.journal.entry import Entry
from kafkawire.api import ApiKey
from kafkawire.catalogue import request_class, response_class
from kafkawire.codec.spans import FieldSpan, spans_of
from kafkawire.header import is_flexible
from kafkawire.records.spans import batch_spans
from kafkawire.schema import Message

_SIZE: Final = struct.Struct(">i")
_SHORT: Final = struct.Struct(">h")


class Frame(NamedTuple):
    """A frame as it went over the wire.

    Attributes:
        data: with the four bytes of its size.
        fields: what it is made of, as far as it can be read.
        why: why no farther; None where all was read.
    """

    data: bytes
    fields: list[FieldSpan]
    why: str | None


HIDDEN: Final = "the journal keeps no more of it: there may be secrets in it"


def request_frame(entry: Entry, most: int) -> Frame | None:
    """The request with at most `most` fields; None of what is no request."""
    if entry.kind != "request":
        return None
    frame = entry.request_frame
    data = _SIZE.pack(len(frame)) + frame
    found = [FieldSpan("size", "int32", 0, 4, len(frame))]
    try:
        cls = request_class(entry.api_key)
    except KeyError:
        return Frame(data, found, f"Kafka has no API {entry.api_key}")
    return _read(data, found, True, cls, entry.api_version, is_flexible(cls, entry.api_version), entry.hides, most)


def response_frame(entry: Entry, most: int) -> Frame | None:
    """The answer likewise; None where there is none."""
    data = entry.response_frame
    if data is None:
        return None
    found = [FieldSpan("size", "int32", 0, 4, _SIZE.unpack_from(data)[0])] if len(data) >= 4 else []
    try:
        cls = response_class(entry.api_key)
    except KeyError:
        return Frame(data, found, f"Kafka has no API {entry.api_key}")
    version = entry.response_version
    flexible = is_flexible(cls, version) and entry.api_key != ApiKey.API_VERSIONS
    return _read(data, found, False, cls, version, flexible, entry.hides, most)


def _read(
    data: bytes,
    found: list[FieldSpan],
    asks: bool,
    cls: type[Message],
    version: int,
    flexible: bool,
    hides: bool,
    most: int,
) -> Frame:
    """Size, header and body."""
    from kafkawire.messages.request_header import RequestHeader
    from kafkawire.messages.response_header import ResponseHeader

    header: type[Message] = RequestHeader if asks else ResponseHeader
    first, known = header.VERSIONS[0], cls.VERSIONS[0] <= version <= cls.VERSIONS[1]
    span, error = spans_of(header, first + 1 if flexible and known else first, data, 4, len(data), most)
    span.name = "header"
    found.append(span)
    if hides:
        return Frame(data, found, HIDDEN)
    if not known:
        return Frame(data, found, f"Kafka 4.4 has no version {version} of it")
    if error is None:
        span, error = spans_of(cls, version, data, span.end, len(data), most, _Inside(data).of)
        span.name = cls.__name__
        found.append(span)
    if error is None and found[-1].end < len(data):
        found.append(FieldSpan("behind it", "bytes", found[-1].end, len(data), data[found[-1].end :]))
    return Frame(data, found, None if error is None else str(error))


class _Inside:
    """What fields of bytes are made of that clients of Kafka fill, and a broker hands on."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def of(self, span: FieldSpan, value: bytes) -> list[FieldSpan] | None:
        start = span.end - len(value)
        if span.kind.endswith("records"):
            return batch_spans(self._data, start, span.end)
        if span.name in ("metadata", "member_metadata"):
            return self._embedded(start, span.end, subscription=True)
        if span.name in ("assignment", "member_assignment"):
            return self._embedded(start, span.end, subscription=False)
        return None

    def _embedded(self, start: int, end: int, subscription: bool) -> list[FieldSpan] | None:
        """A message of the consumer protocol; None where it is none, as of Kafka Connect."""
        from kafkawire.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
        from kafkawire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription

        if end - start < _SHORT.size:
            return None
        cls: type[Message] = ConsumerProtocolSubscription if subscription else ConsumerProtocolAssignment
        (version,) = _SHORT.unpack_from(self._data, start)
        for attempt in (min(max(version, 0), cls.VERSIONS[1]), 0):  # brokers read no more than version 0 has
            span, error = spans_of(cls, attempt, self._data, start + 2, end, _MOST_EMBEDDED)
            if error is None:
                return [FieldSpan("version", "int16", start, start + 2, version), *(span.fields or ())]
        return None


_MOST_EMBEDDED: Final = 200
"""Fields of one."""
