"""`stub.clock`: the broker's clock in the hands of a test."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafkastub.server.broker import Broker

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class StubClock:
    """Broker time: it stamps records, commits and group states, and drives every retention.

    Each method is atomic for clients: it happens between two requests, and when it returns, every offset that was due
    is gone and every consequence is visible. Sessions, rebalances and long polls run on another clock, which stays as
    it is unless `advance` is told otherwise.

    Records age too, by the broker time of their append: what is older than a topic's retention.ms (unlimited unless
    configured) is gone, batch by batch, and a compacted topic is compacted. Kafka takes whole segments, and those late.
    """

    def __init__(self, broker: Callable[[], Broker], call: Callable[[Callable[[], Any]], Any]) -> None:
        self._broker = broker
        self._call = call

    def now(self) -> datetime:
        """Broker time, in UTC, to the millisecond."""
        return _EPOCH + timedelta(milliseconds=self.now_ms())

    def now_ms(self) -> int:
        """Broker time in Unix milliseconds."""
        broker = self._broker()
        return int(self._call(broker.clock.broker_ms))

    def freeze(self) -> None:
        """Let broker time stand still until `unfreeze`; `advance` and `set` still move it."""
        self._call(self._broker().clock.freeze)

    def unfreeze(self) -> None:
        """Let broker time go on from where it stands."""
        self._call(self._broker().clock.unfreeze)

    def set(self, to: datetime | int) -> None:
        """Make it a point in time: an aware datetime, or Unix milliseconds.

        Forward it does what `advance` does. Raises ValueError for a time in the broker's past once the stub holds
        groups or records: what is stamped cannot come from the future.
        """
        broker = self._broker()
        target = to if isinstance(to, int) else _unix_ms(to)

        def move() -> None:
            ahead = target - broker.clock.broker_ms()
            if ahead >= 0:
                broker.advance(ahead)
            elif broker.is_blank:
                broker.clock.set(target)
            else:
                raise ValueError(f"the clock cannot go back {-ahead} ms: this stub holds groups or records already")

        self._call(move)

    def advance(
        self,
        by: timedelta | None = None,
        *,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
        milliseconds: float = 0,
        timers: bool = False,
    ) -> None:
        """Move broker time forward. What falls due on the way happens in its order and at its own time.

        With `timers`, sessions, rebalances and long polls age as much: members that do not heartbeat are thrown out.
        Raises ValueError for a step back.
        """
        step = (by or timedelta()) + timedelta(
            days=days, hours=hours, minutes=minutes, seconds=seconds, milliseconds=milliseconds
        )
        ms = step // timedelta(milliseconds=1)
        if ms < 0:
            raise ValueError(f"the clock only moves forward, not by {step}")
        broker = self._broker()
        self._call(lambda: broker.advance(ms, timers))


def _unix_ms(moment: datetime) -> int:
    if moment.tzinfo is None:
        raise ValueError(f"{moment} has no time zone: an aware datetime is wanted, for example with tzinfo=UTC")
    return (moment - _EPOCH) // timedelta(milliseconds=1)
