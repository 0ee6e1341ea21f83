"""Whether a Produce is answered: its acks, which stand behind header and transactional id."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from kafkastub.proxy import naming
from kafkawire.codec.varint import read_uvarint

if TYPE_CHECKING:
    from kafkastub.proxy.routes import Route

_short: Final = struct.Struct(">h").unpack_from


def acks_of(data: bytes, start: int, end: int, route: Route) -> int:
    """Of a Produce in `data[start:end]`. Raises IndexError, struct.error where that is not there yet."""
    (size,) = _short(data, start + 8)
    position = start + 10 + max(size, 0)
    if route.flexible_request:
        if data[position]:
            return 1 if position >= end else _behind_tags(data, position, end)
        position += 1
        size = data[position] - 1
        position += 1
        if size >= 127:
            size = (size + 1 & 127 | data[position] << 7) - 1
            position += 1
        position += max(size, 0)
    elif route.version >= 3:
        (size,) = _short(data, position)
        position += 2 + max(size, 0)
    if position + 2 > end:
        raise IndexError
    return int(_short(data, position)[0])


def _behind_tags(data: bytes, position: int, end: int) -> int:
    size, position = read_uvarint(data, naming.behind_tags(data, position))
    position += max(size - 1, 0)
    if position + 2 > end:
        raise IndexError
    return int(_short(data, position)[0])
