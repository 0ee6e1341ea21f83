"""Where time comes from. Nothing below the server reads a clock."""

from __future__ import annotations

import time


class Clock:
    """Broker time (Unix ms, stamps and retention) and timer time (monotonic ms, sessions and long polls).

    Broker time follows the wall clock at a distance, or stands still while it is frozen; timer time follows the
    monotonic clock at a distance. Both only move forward, except by `set`.
    """

    __slots__ = ("_ahead", "_frozen_at", "_timer_ahead")

    def __init__(self) -> None:
        self._ahead = 0
        self._timer_ahead = 0
        self._frozen_at: int | None = None

    def broker_ms(self) -> int:
        return time.time_ns() // 1_000_000 + self._ahead if self._frozen_at is None else self._frozen_at

    def timer_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000 + self._timer_ahead

    def both(self) -> tuple[int, int]:
        """(broker time, timer time)."""
        timer_ms = time.monotonic_ns() // 1_000_000 + self._timer_ahead
        if self._frozen_at is None:
            return time.time_ns() // 1_000_000 + self._ahead, timer_ms
        return self._frozen_at, timer_ms

    def wall_ms(self) -> int:
        """What every other clock on the machine says, whatever was done to this one."""
        return time.time_ns() // 1_000_000

    @property
    def frozen(self) -> bool:
        return self._frozen_at is not None

    def freeze(self) -> None:
        """Let broker time stand still."""
        if self._frozen_at is None:
            self._frozen_at = self.broker_ms()

    def unfreeze(self) -> None:
        """Let broker time go on from where it stands."""
        if self._frozen_at is not None:
            self._ahead = self._frozen_at - self.wall_ms()
            self._frozen_at = None

    def set(self, broker_ms: int) -> None:
        """Make broker time `broker_ms`, wherever it stood."""
        if self._frozen_at is not None:
            self._frozen_at = broker_ms
        else:
            self._ahead = broker_ms - self.wall_ms()

    def moved(self) -> tuple[int, int | None]:
        """By how many milliseconds broker time is ahead of the wall clock, and where it is frozen."""
        return self._ahead, self._frozen_at

    def restore(self, ahead_ms: int, frozen_at: int | None) -> None:
        """Go on as a clock that said so of itself (`moved`)."""
        self._ahead, self._frozen_at = ahead_ms, frozen_at

    def skip_timers(self, ms: int) -> None:
        """Move timer time forward."""
        self._timer_ahead += ms
