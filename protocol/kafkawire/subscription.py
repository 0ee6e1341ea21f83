"""The topics of a consumer's subscription, as a coordinator may know them (KIP-496).

The embedded consumer protocol is parsed as version 0 whatever its version field says; what later versions appended is
ignored. Kafka: ClassicGroup.computeSubscribedTopics.
"""

from __future__ import annotations

import struct

_INT16 = struct.Struct(">h")
_INT32 = struct.Struct(">i")


def subscribed_topics(metadata: bytes) -> frozenset[str] | None:
    """The topics in a member's metadata for the `consumer` protocol type.

    Version 0 is `version int16, topics [string], user data nullable bytes`. None where the metadata does not hold that
    much, the user data included: the member then counts as subscribed to everything. A null or absurd count of topics
    is one more such case here; it makes a released broker's rebalance fail for good.
    """
    end = len(metadata)
    if end < 6:
        return None
    (count,) = _INT32.unpack_from(metadata, 2)
    at = 6
    if count < 0 or count * 2 > end - at:
        return None
    topics = set()
    for _ in range(count):
        if end - at < 2:
            return None
        (size,) = _INT16.unpack_from(metadata, at)
        at += 2
        if size < 0 or size > end - at:
            return None
        topics.add(str(metadata[at : at + size], "utf-8", "replace"))
        at += size
    if end - at < 4:
        return None
    (size,) = _INT32.unpack_from(metadata, at)
    if size > end - at - 4:
        return None
    return frozenset(topics)
