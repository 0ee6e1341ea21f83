"""Members that are made to look slow, for tests: what they say that they have let go of does not count for a while."""

from __future__ import annotations

from kafkastub.coordinator.consumer.reconciliation import ReportedPartitions


class HeldRevocations:
    """Those of one group.

    A member says only once that it has let go of something. What it says while it is held counts, therefore, with its
    first heartbeat afterwards.
    """

    __slots__ = ("_held", "_said")

    def __init__(self) -> None:
        self._held: set[str] = set()
        self._said: dict[str, ReportedPartitions] = {}

    def hold(self, member_id: str) -> None:
        """From now on."""
        self._held.add(member_id)

    def holds(self, member_id: str) -> bool:
        """Whether the member is held now."""
        return member_id in self._held

    @property
    def members(self) -> list[str]:
        """Those that are held now."""
        return sorted(self._held)

    def release(self, member_id: str) -> None:
        """No more. One that is not held is no error."""
        self._held.discard(member_id)

    def forget(self, member_id: str) -> None:
        """The member is gone."""
        self._held.discard(member_id)
        self._said.pop(member_id, None)

    def heard(self, member_id: str, reported: ReportedPartitions) -> ReportedPartitions:
        """What counts of what the member says with this heartbeat."""
        if member_id in self._held:
            if reported is not None:
                self._said[member_id] = reported
            return None
        before = self._said.pop(member_id, None)
        return before if reported is None else reported
