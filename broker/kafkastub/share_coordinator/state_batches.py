"""What is kept of a share partition: by whom it was read, and how often, is not. Kafka: PersisterStateBatch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

UNINITIALIZED_START_OFFSET: Final = -1
"""Nothing was read yet: `share.auto.offset.reset` says where to begin."""
UNKNOWN_DELIVERY_COMPLETE_COUNT: Final = -1
"""Nobody has said how many records behind the start offset are done with."""


class StateBatch(NamedTuple):
    """Some neighbouring records of a partition that have one state.

    Attributes:
        first_offset: of the first of them.
        last_offset: of the last of them.
        delivery_state: 0 available, 2 acknowledged, 4 archived (RecordState).
        delivery_count: how often they were delivered.
    """

    first_offset: int
    last_offset: int
    delivery_state: int
    delivery_count: int


class ReadState(NamedTuple):
    """What the share coordinator knows of a share partition.

    Attributes:
        state_epoch: how often the partition was initialised; who writes with less is fenced.
        start_offset: before it everything is done with; -1: it was never set.
        delivery_complete_count: so many records from there on are done with; -1: unknown.
        batches: of what is behind the start offset, in order of their offsets; what none tells of is available.
    """

    state_epoch: int
    start_offset: int
    delivery_complete_count: int
    batches: Sequence[StateBatch]
