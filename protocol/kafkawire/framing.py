"""Frames: a signed 32 bit size and that many bytes. Source: `NetworkReceive`."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from kafkawire.errors import MalformedMessage

_size = struct.Struct(">i").unpack_from

Frame = tuple[bytes, int, int]
"""(buffer, start, end): the frame's contents without the size; the buffer may hold more frames."""


_SMALL = 1 << 12
"""Pieces below this size are gathered: each piece on its own costs some 50 bytes, and a frame may come byte by byte."""


class FrameSplitter:
    """Cuts a byte stream into frames, whatever pieces it comes in. Copies only what is split between pieces."""

    __slots__ = ("_chunks", "_limit", "_need", "pending")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        """The largest size accepted (`socket.request.max.bytes`)."""
        self._chunks: list[bytes | bytearray] = []
        self.pending = 0
        """Bytes held back for a frame that is not complete."""
        self._need = 4
        """Bytes from the start of the pending frame at which it is worth looking again."""

    def allow(self, limit: int) -> None:
        """Accept sizes up to `limit` from now on."""
        self._limit = limit

    def drop(self) -> None:
        """Hold nothing back any more: what would follow does not come."""
        self._chunks = []
        self.pending = 0

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that `data` completes.

        Raises MalformedMessage, behind the good frames, for a size below zero or above the limit; the stream is of no
        use from there on.
        """
        if self._chunks:
            last = self._chunks[-1]
            if len(data) < _SMALL and type(last) is bytearray:
                last += data
            else:
                self._chunks.append(data if len(data) >= _SMALL else bytearray(data))
            self.pending += len(data)
            if self.pending < self._need:
                return
            data = b"".join(self._chunks)
            self._chunks = []
            self.pending = 0
        position, length = 0, len(data)
        while length - position >= 4:
            (size,) = _size(data, position)
            if not 0 <= size <= self._limit:
                raise MalformedMessage("frame", "size", 0, f"{size} is not within 0 to {self._limit}")
            end = position + 4 + size
            if end > length:
                self._need = 4 + size
                break
            yield data, position + 4, end
            position = end
        else:
            self._need = 4
        if position < length:
            rest = data[position:] if position else data
            self._chunks = [rest]
            self.pending = len(rest)


def frame(*parts: bytes) -> bytes:
    """One frame around `parts`."""
    return struct.pack(">i", sum(map(len, parts))) + b"".join(parts)
