"""`stub.clock`: the broker's clock in the hands of a test."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from kafkastub.config.durations import datable
from kafkastub.stub import arguments as stub_arguments

if TYPE_CHECKING:
    from kafkastub.stub.runner import Runner


class StubClock:
    """Broker time: it stamps records, commits and group states, and drives every retention.

    Each method is atomic for clients: it happens between two requests, and when it returns, every offset that was due
    is gone and every consequence is visible. Sessions, rebalances and long polls run on another clock, which stays as
    it is unless `advance` is told otherwise.

    Records age too, by the broker time of their append: what is older than a topic's retention.ms (unlimited unless
    configured) is gone, batch by batch, and a compacted topic is compacted. Kafka takes whole segments, and those late.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def now(self) -> datetime:
        """Broker time, in UTC, to the millisecond."""
        return stub_arguments.EPOCH + timedelta(milliseconds=datable(self.now_ms()))

    def now_ms(self) -> int:
        """Broker time in Unix milliseconds."""
        broker = self._runner.running()
        return self._runner.call(broker.clock.broker_ms)

    @property
    def frozen(self) -> bool:
        """Whether broker time stands still."""
        broker = self._runner.running()
        return self._runner.call(lambda: broker.clock.frozen)

    def freeze(self) -> None:
        """Let broker time stand still until `unfreeze`; `advance` and `set` still move it."""
        broker = self._runner.running()

        def freeze() -> None:
            broker.clock.freeze()
            broker.note_clock("freeze")

        self._runner.call(freeze)

    def unfreeze(self) -> None:
        """Let broker time go on from where it stands."""
        broker = self._runner.running()

        def unfreeze() -> None:
            broker.clock.unfreeze()
            broker.note_clock("unfreeze")

        self._runner.call(unfreeze)

    def set(self, to: datetime | int) -> None:
        """Make it a point in time: an aware datetime, or Unix milliseconds.

        Forward it does what `advance` does. Raises ValueError for a time before 1970 or after 9999 in UTC, and for one
        in the broker's past once the stub holds groups or records: what is stamped cannot come from the future.
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
        """Move broker time forward. What falls due on the way happens in its order and at its own time.

        With `timers`, sessions, rebalances and long polls age as much: members that do not heartbeat are thrown out.
        Raises ValueError for a step back, or beyond the end of the year 9999; nothing has changed then.
        """
        ms = stub_arguments.step(
            by, days=days, hours=hours, minutes=minutes, seconds=seconds, milliseconds=milliseconds
        )
        broker = self._runner.running()

        def move() -> None:
            stub_arguments.reached(broker.clock.broker_ms(), ms)
            broker.advance(ms, timers)

        self._runner.call(move)
