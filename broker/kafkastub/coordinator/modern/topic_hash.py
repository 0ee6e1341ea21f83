"""By what a group knows that its topics have changed. Kafka: Utils.computeTopicHash, Utils.computeGroupHash.

XXH3 (64 bits, seed 0) of a stream as hash4j writes it: numbers with the lowest byte first, a text as its UTF-16 units
and then how many they are. The hash of a group is in its records, so it is Kafka's own to the last bit: a group that
another broker has written does not look changed here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from struct import pack, unpack

from kafkawire.java_order import string_order

_LAYOUT = 0
"""The first byte: there has been one way to hash a topic so far."""


def topic_hash(name: str, topic_id: bytes, racks: Sequence[Collection[str]]) -> int:
    """The hash of one topic, a signed 64-bit number.

    Args:
        racks: for each partition the racks of its replicas in any order, one a replica (two in a rack count twice);
            empty where the nodes have none.
    """
    most, least = unpack(">2q", topic_id)
    parts = [pack("<Bqq", _LAYOUT, most, least), _text(name), pack("<i", len(racks))]
    if any(racks):
        for partition, of_replicas in enumerate(racks):
            parts.append(pack("<i", partition))
            for rack in sorted(of_replicas, key=string_order):
                units = _text(rack)
                parts += units[-4:], units
    else:
        parts.append(pack(f"<{len(racks)}i", *range(len(racks))))
    return _xxh3(b"".join(parts))


def group_hash(topic_hashes: Mapping[str, int]) -> int:
    """The metadata hash of a group, a signed 64-bit number: of the hashes of its topics, by name; 0 without any."""
    if not topic_hashes:
        return 0
    in_order = [topic_hashes[name] for name in sorted(topic_hashes, key=string_order)]
    return _xxh3(pack(f"<{len(in_order)}q", *in_order))


def _text(text: str) -> bytes:
    units = text.encode("utf-16-le", "surrogatepass")
    return units + pack("<i", len(units) // 2)


def _xxh3(data: bytes) -> int:
    from xxhash import xxh3_64_intdigest

    digest = xxh3_64_intdigest(data)
    return digest - ((digest & 1 << 63) << 1)
