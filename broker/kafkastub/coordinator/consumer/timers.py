"""The deadlines of a consumer group's members: sessions, rebalance timeouts, and those of the classic protocol."""

from __future__ import annotations

from kafkastub.coordinator.turn import Turn
from kafkastub.deadlines import Deadline

Timer = Deadline[Turn]


class MemberTimers:
    """The deadlines of one member.

    Attributes:
        session: when it is taken for gone …
        session_timeout_ms: … so long after its last heartbeat.
        rebalance: until when it has to have let go of partitions; None before it ever had to.
        join, sync: until when a member of the classic protocol has to have joined again, and synced.
    """

    __slots__ = ("join", "rebalance", "session", "session_timeout_ms", "sync")

    def __init__(self, session: Timer) -> None:
        self.session = session
        self.session_timeout_ms = -1
        self.rebalance: Timer | None = None
        self.join: Timer | None = None
        self.sync: Timer | None = None

    def cancel(self) -> None:
        """None of them happens any more."""
        for timer in (self.session, self.rebalance, self.join, self.sync):
            if timer is not None:
                timer.cancel()
