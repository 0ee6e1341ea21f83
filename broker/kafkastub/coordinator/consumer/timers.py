"""The deadlines of a consumer group's members: those of any, and those of the classic protocol."""

from __future__ import annotations

from kafkastub.coordinator.modern import timers
from kafkastub.coordinator.modern.timers import Timer


class MemberTimers(timers.MemberTimers):
    """The deadlines of one member.

    Attributes:
        join, sync: until when a member of the classic protocol has to have joined again, and synced.
    """

    __slots__ = ("join", "sync")

    def __init__(self, session: Timer) -> None:
        super().__init__(session)
        self.join: Timer | None = None
        self.sync: Timer | None = None

    def cancel(self) -> None:
        """None of them happens any more."""
        super().cancel()
        for timer in (self.join, self.sync):
            if timer is not None:
                timer.cancel()
