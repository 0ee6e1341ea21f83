"""States of a record of a share partition, and what a member may say of a record (KIP-932)."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class RecordState(IntEnum):
    """What becomes of a record within a share group. Kafka: RecordState.

    AVAILABLE records are acquired by a member; what is ACQUIRED is acknowledged by it, or given back, or its lock runs
    out; ACKNOWLEDGED and ARCHIVED are terminal. A record that goes to the group's dead-letter topic is ARCHIVING until
    it is written there (KIP-1191).
    """

    AVAILABLE = 0
    ACQUIRED = 1
    ACKNOWLEDGED = 2
    ARCHIVING = 3
    ARCHIVED = 4

    @property
    def is_terminal(self) -> bool:
        """Whether nothing becomes of it any more."""
        return self is _ACKNOWLEDGED or self is _ARCHIVED


_ACKNOWLEDGED: Final = RecordState.ACKNOWLEDGED
_ARCHIVED: Final = RecordState.ARCHIVED


class AcknowledgeType(IntEnum):
    """What a member says of an acquired record. Kafka: AcknowledgeType, where GAP, that there is none, has no name."""

    GAP = 0
    ACCEPT = 1
    RELEASE = 2
    REJECT = 3
    RENEW = 4


BATCH_OPTIMIZED: Final = 0
"""Acquire mode: whole batches of the log, so that there may be more records than asked for (KIP-1206)."""
RECORD_LIMIT: Final = 1
"""Acquire mode: never more records than asked for, be a batch cut for it (KIP-1206)."""
