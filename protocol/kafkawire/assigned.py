"""What a classic consumer is assigned, read from the bytes that its leader made."""

from __future__ import annotations

import struct

from kafkawire.codec import decode
from kafkawire.errors import MalformedMessage

_VERSION = struct.Struct(">h")


def assigned_partitions(data: bytes) -> list[tuple[str, int]]:
    """The partitions in a member's assignment; none where it cannot be read."""
    from kafkawire.messages.consumer_protocol_assignment import ConsumerProtocolAssignment

    if len(data) < _VERSION.size:
        return []
    version = min(max(_VERSION.unpack_from(data)[0], 0), ConsumerProtocolAssignment.VERSIONS[1])
    try:
        assignment = decode(ConsumerProtocolAssignment, version, bytes(data[_VERSION.size :]))
    except MalformedMessage:
        return []
    return [(row.topic, index) for row in assignment.assigned_partitions for index in row.partitions]
