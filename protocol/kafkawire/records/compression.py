"""The four codecs of a batch's payload.

A broker hardly ever needs them: batches are stored and served as they came. gzip is in the standard library;
snappy, lz4 and zstd come from `cramjam`, which is imported when the first such batch is looked into.
"""

from __future__ import annotations

import importlib
import mmap
import zlib
from collections.abc import Callable
from enum import IntEnum
from functools import cache
from struct import Struct
from typing import Any

from kafkawire.errors import ErrorCode, KafkaError

Buffer = bytes | bytearray | memoryview


class Compression(IntEnum):
    """The lowest three bits of a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


class UnavailableCodecError(KafkaError):
    """A codec that this installation lacks, or that does not exist (5, 6, 7)."""

    def __init__(self, why: str) -> None:
        super().__init__(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, why)


_GZIP_MAGIC = b"\x1f\x8b\x08"
_GZIP_HEADER_SIZE = 10
_GZIP_STEP = 4096
_GZIP_FIRST_STEP = 1 << 16
_GZIP_OUT = 1 << 18
"""Bytes that are unpacked between two chances for other threads."""
_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MAGIC + b"\x00\x00\x00\x01\x00\x00\x00\x01"
_XERIAL_BLOCK = 32 * 1024
_BLOCK_SIZE = Struct(">i")
_ROOM_AT_FIRST = 4096
_MAPPED_FROM = 1 << 20
"""Bytes from which memory is asked of the system, which has it zeroed when it is used, not before."""
MOST_UNPACKED = 256 * 1024 * 1024
"""Bytes of records in one batch, when it is looked into. Kafka reads the stream piece by piece, and has no limit."""

_FAILED = "Failed to decompress record stream"


def compress(codec: int, data: Buffer) -> bytes:
    """The payload as a producer would send it. UnavailableCodecError where the codec is missing."""
    return _codec(codec)[0](data)


class TooMuchUnpacked(KafkaError):
    """More bytes than are allowed: 32 KB of zstd can stand for a gigabyte."""

    def __init__(self, most: int) -> None:
        super().__init__(ErrorCode.CORRUPT_MESSAGE, f"{_FAILED}: it has more than {most} bytes")


def decompress(codec: int, data: Buffer, most: int | None = None) -> Buffer:
    """The records' bytes, no more than `most` (`MOST_UNPACKED` unless given).

    Raises UnavailableCodecError, TooMuchUnpacked; CORRUPT_MESSAGE for bytes that are no such stream.
    """
    unpack = _codec(codec)[1]
    try:
        return unpack(data, MOST_UNPACKED if most is None else most)
    except KafkaError:
        raise
    except Exception as failure:  # every codec has its own exceptions; cramjam's are no stable interface
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"{_FAILED}: {failure}") from failure


def _codec(codec: int) -> tuple[Callable[[Buffer], bytes], Callable[[Buffer, int], Buffer]]:
    if codec == Compression.NONE:
        return bytes, _same
    if codec == Compression.GZIP:
        return _gzip, _gunzip
    if codec == Compression.SNAPPY:
        return _snappy, _unsnappy
    if codec == Compression.LZ4:
        return _lz4, lambda data, most: _into(_cramjam().lz4.decompress_into, data, most)
    if codec == Compression.ZSTD:
        # Without a frame there is nothing inside, which to Kafka is no error of the stream.
        return _zstd, lambda data, most: _into(_cramjam().zstd.decompress_into, data, most) if data else b""
    raise UnavailableCodecError(f"Unknown compression type id: {codec}")


@cache
def _cramjam() -> Any:
    try:
        return importlib.import_module("cramjam")
    except ImportError:
        raise UnavailableCodecError(
            "snappy, lz4 and zstd batches can only be looked into with cramjam installed"
        ) from None


def _same(data: Buffer, most: int) -> Buffer:
    return data


def _gzip(data: Buffer) -> bytes:
    packer = zlib.compressobj(wbits=31)
    return packer.compress(data) + packer.flush()


class _Out:
    """What is unpacked piece by piece: joined while it is little, then put where it is all to be."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._pieces: list[bytes] = []
        self._room: memoryview | None = None

    @property
    def left(self) -> int:
        return self._most - self._size

    def add(self, piece: bytes) -> None:
        """TooMuchUnpacked."""
        if len(piece) > self.left:
            raise TooMuchUnpacked(self._most)
        if self._room is None and self._size + len(piece) <= _MAPPED_FROM:
            self._pieces.append(piece)
        elif self._room is None:
            before = b"".join(self._pieces)
            self._pieces.clear()
            self._room = _room(self._most)
            self._room[: len(before)] = before
        if self._room is not None:
            self._room[self._size : self._size + len(piece)] = piece
        self._size += len(piece)

    def all(self) -> Buffer:
        return b"".join(self._pieces) if self._room is None else self._room[: self._size]


def _room(size: int) -> memoryview:
    """Memory for so many bytes, which takes place as it is written to, and is given back with the last view of it."""
    private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_ANONYMOUS") else {}
    return memoryview(mmap.mmap(-1, size, **private))


def _gunzip(data: Buffer, most: int) -> Buffer:
    """One member or several; what follows and is none is left (Java: GZIPInputStream)."""
    view = memoryview(data)
    out = _Out(most)
    at, step = 0, _GZIP_FIRST_STEP
    while True:
        unpacker = zlib.decompressobj(wbits=31)
        while not unpacker.eof:
            piece: Buffer = unpacker.unconsumed_tail
            if not piece:
                piece = view[at : at + step]
                at += len(piece)
            got = unpacker.decompress(piece, min(_GZIP_OUT, out.left + 1))
            if not (piece or got or unpacker.eof):
                raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"{_FAILED}: it ends early")
            out.add(got)
        at -= len(unpacker.unused_data)
        if len(view) - at < _GZIP_HEADER_SIZE or view[at : at + len(_GZIP_MAGIC)] != _GZIP_MAGIC:
            return out.all()
        step = _GZIP_STEP  # what is left is copied at the end of each member


def _into(unpack: Callable[[Buffer, Buffer], int], data: Buffer, most: int) -> Buffer:
    """Unpack `most` bytes at most: into little memory if that is enough, else into what is asked of the system."""
    size = min(_ROOM_AT_FIRST + 16 * len(data), most)
    if size <= _MAPPED_FROM:
        little = bytearray(size)
        try:
            return bytes(memoryview(little)[: unpack(data, little)])
        except Exception as failure:
            if str(failure) != _no_room():
                raise
        if size == most:
            raise TooMuchUnpacked(most)
    room = _room(most)
    try:
        return room[: unpack(data, room)]
    except Exception as failure:
        if str(failure) != _no_room():
            raise
    raise TooMuchUnpacked(most)


@cache
def _no_room() -> str:
    """What cramjam says where the output does not fit: the text is no stable interface."""
    zstd = _cramjam().zstd
    try:
        zstd.decompress_into(bytes(zstd.compress(b"one byte does not hold this")), bytearray(1))
    except Exception as failure:
        return str(failure)
    raise AssertionError("cramjam writes behind the end of a buffer")


def _zstd(data: Buffer) -> bytes:
    return bytes(_cramjam().zstd.compress(data))


def _lz4(data: Buffer) -> bytes:
    """One frame of independent blocks: Kafka's reader knows no others."""
    packer = _cramjam().lz4.Compressor(block_linked=False)
    packer.compress(bytes(data))
    return bytes(packer.finish())


def _snappy(data: Buffer) -> bytes:
    """Framed as snappy-java's SnappyOutputStream does, which is what Kafka's clients send."""
    pack = _cramjam().snappy.compress_raw
    chunks = [_XERIAL_HEADER]
    view = memoryview(data)
    for start in range(0, len(view), _XERIAL_BLOCK):
        block = bytes(pack(bytes(view[start : start + _XERIAL_BLOCK])))
        chunks += (_BLOCK_SIZE.pack(len(block)), block)
    return b"".join(chunks)


def _unsnappy(data: Buffer, most: int) -> Buffer:
    """snappy-java's frames or, as librdkafka sends it, one bare snappy block.

    Frames may be several streams, each with its header, and end where there is no whole size any more.
    """
    view = memoryview(data)
    if len(view) < len(_XERIAL_HEADER) or view[: len(_XERIAL_MAGIC)] != _XERIAL_MAGIC:
        return _unsnappy_block(bytes(view), most, most)
    out = _Out(most)
    at = len(_XERIAL_HEADER)
    while at + _BLOCK_SIZE.size <= len(view):
        if view[at : at + len(_XERIAL_MAGIC)] == _XERIAL_MAGIC:
            at += len(_XERIAL_HEADER)
            continue
        (size,) = _BLOCK_SIZE.unpack_from(view, at)
        at += _BLOCK_SIZE.size
        if size < 0 or at + size > len(view):
            raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"{_FAILED}: a block ends early")
        block = _unsnappy_block(bytes(view[at : at + size]), out.left, most)
        for start in range(0, len(block), _MAPPED_FROM):
            out.add(bytes(block[start : start + _MAPPED_FROM]))
        at += size
    return out.all()


def _unsnappy_block(block: bytes, left: int, most: int) -> Buffer:
    snappy = _cramjam().snappy
    size = snappy.decompress_raw_len(block)
    if size > left:
        raise TooMuchUnpacked(most)
    if size <= _MAPPED_FROM:
        return bytes(snappy.decompress_raw(block))
    room = _room(size)
    return room[: snappy.decompress_raw_into(block, room)]
