"""The hard state is copied whole: what is done to one of both is not done to the other."""

from __future__ import annotations

from kafkastub.coordinator.hard_state import HardState
from kafkastub.coordinator.pending_offsets import PendingOffset
from kafkastub.coordinator.topic_offsets import TopicOffsets


def test_every_part_of_the_hard_state_is_copied() -> None:
    before = HardState()
    copied = before.copy()
    for name in HardState.__slots__:
        assert getattr(copied, name) is not getattr(before, name)


def test_every_column_is_copied() -> None:
    before = TopicOffsets()
    copied = before.copy()
    shared = {"_run", "_again", "_read", "_slots", "_expire_ts", "_topic_ids", "count", "oldest"}
    assert {name for name in TopicOffsets.__slots__ if getattr(copied, name) is getattr(before, name)} == shared
    assert not hasattr(PendingOffset, "__dict__") or PendingOffset.__slots__
