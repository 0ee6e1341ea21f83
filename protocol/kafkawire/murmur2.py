"""Which partition a key goes to. Kafka: Utils.murmur2, BuiltInPartitioner.partitionForKey."""

from __future__ import annotations

from typing import Final

_SEED: Final = 0x9747B28C
_M: Final = 0x5BD1E995
_WORD: Final = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """MurmurHash2 of the bytes, as an unsigned 32-bit number; multi-byte words are read little end first."""
    size = len(data)
    whole = size & ~3
    h = _SEED ^ size
    for at in range(0, whole, 4):
        k = int.from_bytes(data[at : at + 4], "little") * _M & _WORD
        h = (h * _M & _WORD) ^ ((k ^ k >> 24) * _M & _WORD)
    if size > whole:
        h = (h ^ int.from_bytes(data[whole:], "little")) * _M & _WORD
    h = (h ^ h >> 13) * _M & _WORD
    return h ^ h >> 15


def partition_of_key(key: bytes, partitions: int) -> int:
    """Where Kafka's producers put a record with this key."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions
