"""Why an offset expires, or stays, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kafkastub.coordinator.expiry_forecast import Rule

_WHY: Final = {
    "own_retention": "its commit said how long it is to be kept",
    "group_empty": "the group has no members: its offsets are kept for offsets.retention.minutes from then on",
    "not_subscribed": "nobody in the group subscribes to the topic: kept for offsets.retention.minutes from its commit",
    "simple": "the group never had members: each offset is kept for offsets.retention.minutes from its commit",
    "subscribed": "it stays: a member of the group subscribes to the topic",
    "active": "it stays while the group has members: they are being assigned, or their subscriptions are not known",
    "pending": "it stays until the transaction is decided that has an offset of the same partition",
    "kept_for_ever": "it stays: offsets.retention.minutes is -1",
}
_KEPT: Final = " for offsets.retention.minutes"


def why(rule: Rule, minutes: int | None = None) -> str:
    """One half of a sentence; with the value of offsets.retention.minutes, if it is given."""
    told = _WHY[rule]
    return told if minutes is None else told.replace(_KEPT, f"{_KEPT} ({minutes:,})")
