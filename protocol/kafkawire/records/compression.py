"""The four codecs of a batch's payload.

A broker hardly ever needs them: batches are stored and served as they came. gzip is in the standard library;
snappy, lz4 and zstd come from `cramjam`, which is imported when the first such batch is looked into.
"""

from __future__ import annotations

import importlib
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


_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MAGIC + b"\x00\x00\x00\x01\x00\x00\x00\x01"
_XERIAL_BLOCK = 32 * 1024
_BLOCK_SIZE = Struct(">i")
_FAILED = "Failed to decompress record stream"


def compress(codec: int, data: Buffer) -> bytes:
    """The payload as a producer would send it. UnavailableCodecError where the codec is missing."""
    return _codec(codec)[0](data)


def decompress(codec: int, data: Buffer) -> Buffer:
    """The records' bytes. UnavailableCodecError, or CORRUPT_MESSAGE for bytes that are no such stream."""
    unpack = _codec(codec)[1]
    try:
        return unpack(data)
    except KafkaError:
        raise
    except Exception as failure:  # every codec has its own exceptions; cramjam's are no stable interface
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"{_FAILED}: {failure}") from failure


def _codec(codec: int) -> tuple[Callable[[Buffer], bytes], Callable[[Buffer], Buffer]]:
    if codec == Compression.NONE:
        return bytes, _same
    if codec == Compression.GZIP:
        return _gzip, _gunzip
    if codec == Compression.SNAPPY:
        return _snappy, _unsnappy
    if codec == Compression.LZ4:
        return _lz4, lambda data: bytes(_cramjam().lz4.decompress(data))
    if codec == Compression.ZSTD:
        zstd = _cramjam().zstd
        return lambda data: bytes(zstd.compress(data)), lambda data: bytes(zstd.decompress(data))
    raise UnavailableCodecError(f"Unknown compression type id: {codec}")


@cache
def _cramjam() -> Any:
    try:
        return importlib.import_module("cramjam")
    except ImportError:
        raise UnavailableCodecError(
            "snappy, lz4 and zstd batches can only be looked into with cramjam installed"
        ) from None


def _same(data: Buffer) -> Buffer:
    return data


def _gzip(data: Buffer) -> bytes:
    packer = zlib.compressobj(wbits=31)
    return packer.compress(data) + packer.flush()


def _gunzip(data: Buffer) -> bytes:
    unpacker = zlib.decompressobj(wbits=47)
    unpacked = unpacker.decompress(data)
    if not unpacker.eof:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"{_FAILED}: it ends early")
    return unpacked


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


def _unsnappy(data: Buffer) -> bytes:
    """snappy-java's frames or, as librdkafka sends it, one bare snappy block."""
    unpack = _cramjam().snappy.decompress_raw
    view = memoryview(data)
    if bytes(view[: len(_XERIAL_MAGIC)]) != _XERIAL_MAGIC:
        return bytes(unpack(bytes(view)))
    chunks = []
    at = len(_XERIAL_HEADER)
    while at < len(view):
        (size,) = _BLOCK_SIZE.unpack_from(view, at)
        at += _BLOCK_SIZE.size
        if size < 0 or at + size > len(view):
            raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"{_FAILED}: a block ends early")
        chunks.append(bytes(unpack(bytes(view[at : at + size]))))
        at += size
    return b"".join(chunks)
