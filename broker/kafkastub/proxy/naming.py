"""Answers that name brokers, with other addresses. Pure: bytes in, bytes out.

Metadata names all brokers at its beginning, whatever comes behind: only that part is looked at. FindCoordinator and
DescribeCluster are read as a whole. Produce, Fetch, ShareFetch and ShareAcknowledge name brokers at their very end
(KIP-951), where a leader has moved. DescribeTopicPartitions, DescribeQuorum's voters and replicas, and all others name
nodes by their ids, which are the same on both sides.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from kafkawire.api import ApiKey
from kafkawire.catalogue import response_class
from kafkawire.codec import decode_from, encode
from kafkawire.codec.varint import read_uvarint, uvarint
from kafkawire.errors import MalformedMessage
from kafkawire.header import is_flexible

Address = tuple[str, int]
Told = Callable[[int, str, int], Address]
"""(node id, host, port, as the cluster has them) -> what clients are told."""

_int32 = struct.Struct(">i")
_int16 = struct.Struct(">h")
_METADATA_FLEXIBLE: Final = 9
_THROTTLED_SINCE: Final = 3
_RACKS_SINCE: Final = 1
_PADDING_TAG: Final = 127
"""Of a tagged field that nobody has, the largest number that takes one byte: it is behind all that somebody has."""
_TOO_SHORT = (IndexError, struct.error)


class Broker(NamedTuple):
    """A broker as an answer names it."""

    node_id: int
    host: str
    port: int


class Prefix(NamedTuple):
    """The beginning of an answer to Metadata, behind size and correlation id."""

    contents: bytes
    """With the addresses that clients are told."""
    end: int
    """Where in the answer as it was what follows begins."""
    brokers: tuple[Broker, ...]
    """As the cluster has them."""


def metadata_prefix(data: bytes | bytearray, at: int, version: int, told: Told) -> Prefix | None:
    """The part of an answer to Metadata up to the last broker; `at`: behind the correlation id.

    None where `data` ends before that. Raises MalformedMessage.
    """
    try:
        return _metadata_prefix(data, at, version, told)
    except _TOO_SHORT:
        return None
    except ValueError as error:
        raise MalformedMessage("an answer to Metadata", "brokers", 0, str(error)) from None


def _metadata_prefix(data: bytes | bytearray, at: int, version: int, told: Told) -> Prefix:
    position = at
    flexible = version >= _METADATA_FLEXIBLE
    if flexible:
        position = behind_tags(data, position)
    if version >= _THROTTLED_SINCE:
        position += 4
    out = bytearray(data[at:position])
    began = position
    if flexible:
        count, position = _uvarint(data, position)
        count -= 1
    else:
        (count,) = _int32.unpack_from(data, position)
        position += 4
    out += data[began:position]
    found = []
    for _ in range(count):
        (node_id,) = _int32.unpack_from(data, position)
        host, position = _string(data, position + 4, flexible)
        (port,) = _int32.unpack_from(data, position)
        position += 4
        began = position
        if version >= _RACKS_SINCE:
            _, position = _string(data, position, flexible)
        if flexible:
            position = behind_tags(data, position)
        if position > len(data):
            raise IndexError
        found.append(Broker(node_id, host, port))
        out += _int32.pack(node_id) + _address(told(node_id, host, port), flexible) + data[began:position]
    if position > len(data):
        raise IndexError
    return Prefix(bytes(out), position, tuple(found))


def whole_with_addresses(key: int, version: int, body: bytes, told: Told) -> bytes:
    """The body of an answer to FindCoordinator or DescribeCluster. Raises MalformedMessage."""
    answer: Any = decode_from(response_class(key), version, body, 0)[0]
    if key == ApiKey.FIND_COORDINATOR:
        for one in (answer,) if version < 4 else answer.coordinators:
            if one.node_id >= 0 and one.host:
                one.host, one.port = told(one.node_id, one.host, one.port)
    elif getattr(answer, "endpoint_type", 1) == 1:  # others are controllers, which no client of ours goes to
        for one in answer.brokers:
            one.host, one.port = told(one.broker_id, one.host, one.port)
    return encode(answer, version)


def tail_with_addresses(tail: bytes, is_field: bool, told: Told, size: int | None = None) -> bytes:
    """The end of an answer that may name brokers there, from its tagged fields on, or from the field with the
    brokers on (`is_field`: in ShareFetch and ShareAcknowledge it is not tagged).

    With `size` it has so many bytes, as the one that it replaces: it is filled up with a tagged field that nobody
    knows, or, where longer addresses do not fit, names nobody: then a client asks for Metadata, as it does where a
    broker names nobody. Raises MalformedMessage.
    """
    try:
        found = _with_addresses(tail, is_field, told, leave_out=False)
        if size is None or len(found.plain()) == size:
            return found.plain()
        if len(found.plain()) > size:
            found = _with_addresses(tail, is_field, told, leave_out=True)
        return found.filled(size)
    except (*_TOO_SHORT, ValueError) as error:
        raise MalformedMessage("an answer", "node_endpoints", 0, str(error) or "it ends too early") from None


class _Tail(NamedTuple):
    field: bytes
    """The array with the brokers, where it is not tagged."""
    tags: list[tuple[int, bytes]]

    def plain(self) -> bytes:
        return self.field + uvarint(len(self.tags)) + b"".join(map(_tag, self.tags))

    def filled(self, size: int) -> bytes:
        """With so many bytes."""
        missing = size - len(self.plain())
        if missing == 0:
            return self.plain()
        tags = b"".join(map(_tag, self.tags))
        if missing == 1:  # no tagged field is so short, but a count may be written with a byte too many
            return self.field + _uvarint_of(len(self.tags), 2) + tags
        long = missing - 2 > 127
        content = bytes(missing - (3 if long else 2))
        padding = bytes((_PADDING_TAG,)) + _uvarint_of(len(content), 2 if long else 1) + content
        return self.field + uvarint(len(self.tags) + 1) + tags + padding


def _with_addresses(tail: bytes, is_field: bool, told: Told, leave_out: bool) -> _Tail:
    position, field = 0, b""
    if is_field:
        position = _behind_endpoints(tail, 0)
        field = b"\x01" if leave_out else _endpoints(tail[:position], told)
    count, position = _uvarint(tail, position)
    tags = []
    for _ in range(count):
        tag, position = _uvarint(tail, position)
        size, position = _uvarint(tail, position)
        content = tail[position : position + size]
        if len(content) < size:
            raise IndexError
        position += size
        if tag == 0 and not is_field:
            if leave_out:
                continue
            content = _endpoints(content, told)
        tags.append((tag, content))
    return _Tail(field, tags)


def is_plainly_nameless(key: int, version: int, frame: bytes) -> bool:
    """Whether it is seen at a glance that an answer (with its size) names nobody: that of one partition to Produce in
    which nothing is wrong, or of a Fetch that had nothing to say. Most are like that.
    """
    size = len(frame)
    if key == ApiKey.PRODUCE:
        if size < _LEAST_OF_PRODUCE or frame[9] != 2:
            return False
        at = 26 if version >= _PRODUCE_BY_ID else 10 + frame[10]  # behind the topic
        # one partition: index, error code and three numbers of 64 bits; no errors of records, no text, no tags thrice
        return size == at + 40 and frame[at] == 2 and frame[at + 31 : at + 35] == b"\1\0\0\0" and not frame[-1]
    return key == ApiKey.FETCH and size == _EMPTY_FETCH and frame[19:] == b"\1\0"


_LEAST_OF_PRODUCE: Final = 50
_PRODUCE_BY_ID: Final = 13
_EMPTY_FETCH: Final = 21
"""Bytes of size, correlation id, tags, throttle time, error, session id, no topics and no tags."""


def names_brokers(tail: bytes, is_field: bool) -> bool:
    """Whether the end of an answer, from where `tail_with_addresses` begins, names any."""
    if is_field:
        return tail[:1] not in (b"\x01", b"\x00")
    return tail[:1] != b"\x00"


def _endpoints(data: bytes, told: Told) -> bytes:
    """An array of brokers with other addresses."""
    count, position = _uvarint(data, 0)
    out = bytearray(data[:position])
    for _ in range(count - 1):
        (node_id,) = _int32.unpack_from(data, position)
        host, position = _string(data, position + 4, True)
        (port,) = _int32.unpack_from(data, position)
        began = position + 4
        _, position = _string(data, began, True)
        position = behind_tags(data, position)
        out += _int32.pack(node_id) + _address(told(node_id, host, port), True) + data[began:position]
    return bytes(out)


def _behind_endpoints(data: bytes, position: int) -> int:
    count, position = _uvarint(data, position)
    for _ in range(count - 1):
        _, position = _string(data, position + 4, True)
        _, position = _string(data, position + 4, True)
        position = behind_tags(data, position)
    return position


def _address(address: Address, flexible: bool) -> bytes:
    host = address[0].encode()
    size = uvarint(len(host) + 1) if flexible else _int16.pack(len(host))
    return size + host + _int32.pack(address[1])


def _string(data: bytes | bytearray, position: int, flexible: bool) -> tuple[str, int]:
    """("" for null, position behind it)."""
    if flexible:
        size, position = _uvarint(data, position)
        size -= 1
    else:
        (size,) = _int16.unpack_from(data, position)
        position += 2
    if size < 0:
        return "", position
    end = position + size
    if end > len(data):
        raise IndexError
    return bytes(data[position:end]).decode("utf-8", "replace"), end


def behind_tags(data: bytes | bytearray, position: int) -> int:
    """Where what follows tagged fields begins. Raises IndexError behind the end, ValueError for what is none."""
    count, position = _uvarint(data, position)
    for _ in range(count):
        _, position = _uvarint(data, position)
        size, position = _uvarint(data, position)
        if size < 0:
            raise ValueError("a tagged field has a size below 0")
        position += size
        if position > len(data):
            raise IndexError
    return position


def _uvarint(data: bytes | bytearray, position: int) -> tuple[int, int]:
    first = data[position]
    if first < 0x80:
        return first, position + 1
    return read_uvarint(data, position)  # type: ignore[arg-type]


def _tag(tag: tuple[int, bytes]) -> bytes:
    return uvarint(tag[0]) + uvarint(len(tag[1])) + tag[1]


def _uvarint_of(value: int, size: int) -> bytes:
    """A varint of so many bytes, more than it needs perhaps."""
    written = bytearray()
    for _ in range(size - 1):
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


# --- ApiVersions

REWRITTEN: Final = frozenset(
    {
        ApiKey.METADATA, ApiKey.FIND_COORDINATOR, ApiKey.DESCRIBE_CLUSTER, ApiKey.PRODUCE, ApiKey.FETCH,
        ApiKey.SHARE_FETCH, ApiKey.SHARE_ACKNOWLEDGE,
    }
)  # fmt: skip
"""APIs whose answers are to be understood: of them, clients are told the versions that the proxy knows as well."""


def versions_known(body: bytes, version: int, known: dict[int, tuple[int, int]]) -> bytes:
    """The body of an answer to ApiVersions, in which APIs of `known` have no versions beyond those.

    As it came where nothing is to be changed. Raises MalformedMessage.
    """
    cls = response_class(ApiKey.API_VERSIONS)
    answer: Any = decode_from(cls, version, body, 0)[0]
    changed, kept = False, []
    for one in answer.api_keys:
        ours = known.get(one.api_key)
        if ours is not None:
            if one.max_version > ours[1]:
                one.max_version, changed = ours[1], True
            if one.min_version > one.max_version:
                continue
        kept.append(one)
    if not changed:
        return body
    answer.api_keys = kept
    return encode(answer, version)


def flexible_answer(key: int, version: int) -> bool:
    """Whether the header of an answer has tagged fields."""
    return key != ApiKey.API_VERSIONS and is_flexible(response_class(key), version)
