"""The deadlines of a member of a group with epochs that lets go of what another is to have."""

from __future__ import annotations

from kafkastub.coordinator.turn import Turn
from kafkastub.deadlines import Deadline

Timer = Deadline[Turn]


class MemberTimers:
    """The deadlines of one member.

    Attributes:
        session: when it is taken for gone …
        session_timeout_ms: … so long after its last heartbeat.
        rebalance: until when it has to have let go of partitions, or tasks; None before it ever had to.
    """

    __slots__ = ("rebalance", "session", "session_timeout_ms")

    def __init__(self, session: Timer) -> None:
        self.session = session
        self.session_timeout_ms = -1
        self.rebalance: Timer | None = None

    def cancel(self) -> None:
        """None of them happens any more."""
        self.session.cancel()
        if self.rebalance is not None:
            self.rebalance.cancel()
