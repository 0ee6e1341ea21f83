"""`stub.clock`: a broker clock that a test controls."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from kafkastub.config.durations import datable
from kafkastub.stub import arguments as stub_arguments

if TYPE_CHECKING:
    from kafkastub.stub.runner import Runner


class StubClock:
    """Broker time. It stamps records, commits and group states, and drives every retention.

    Each method is atomic for clients: it runs between two requests. When it returns, every offset that was due has
    expired and every consequence is visible. Sessions, rebalances and long polls use another clock, which only
    `advance(timers=True)` moves.

    Records age, too, by the broker time of their append. Records older than a topic's retention.ms (unlimited unless
    configured) are deleted, batch by batch, and a compacted topic is compacted. Kafka deletes whole segments, and
    later.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def now(self) -> datetime:
        """Return broker time as a datetime in UTC, to the millisecond."""
        return stub_arguments.EPOCH + timedelta(milliseconds=datable(self.now_ms()))

    def now_ms(self) -> int:
        """Return broker time in Unix milliseconds."""
        broker = self._runner.running()
        return self._runner.call(broker.clock.broker_ms)

    @property
    def frozen(self) -> bool:
        """Whether broker time is frozen."""
        broker = self._runner.running()
        return self._runner.call(lambda: broker.clock.frozen)

    def freeze(self) -> None:
        """Stop broker time until `unfreeze`. `advance` and `set` still move it."""
        broker = self._runner.running()

        def freeze() -> None:
            broker.clock.freeze()
            broker.note_clock("freeze")

        self._runner.call(freeze)

    def unfreeze(self) -> None:
        """Let broker time run on from its present value."""
        broker = self._runner.running()

        def unfreeze() -> None:
            broker.clock.unfreeze()
            broker.note_clock("unfreeze")

        self._runner.call(unfreeze)

    def set(self, to: datetime | int) -> None:
        """Set broker time: an aware datetime, or Unix milliseconds.

        A later time has the effects of `advance`. Raises ValueError for a time before 1970 or after 9999 in UTC, and
        for a time in the broker's past once the stub has groups or records, because stored timestamps cannot lie in the
        future.
        """
        broker = self._runner.running()
        target = stub_arguments.moment(to)

        def move() -> None:
            ahead = target - broker.clock.broker_ms()
            if ahead >= 0:
                broker.advance(ahead)
            elif broker.is_blank:
                broker.clock.set(target)
                broker.note_clock("set")
            else:
                raise ValueError(f"the clock cannot go back {-ahead} ms: this stub holds groups or records already")

        self._runner.call(move)

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
        """Move broker time forward. What falls due on the way happens in order, each at its own time.

        With `timers`, sessions, rebalances and long polls move forward by the same time, so members that do not
        heartbeat are removed. Raises ValueError for a step back or beyond the end of the year 9999; then nothing has
        changed.
        """
        ms = stub_arguments.step(
            by, days=days, hours=hours, minutes=minutes, seconds=seconds, milliseconds=milliseconds
        )
        broker = self._runner.running()

        def move() -> None:
            stub_arguments.reached(broker.clock.broker_ms(), ms)
            broker.advance(ms, timers)

        self._runner.call(move)
