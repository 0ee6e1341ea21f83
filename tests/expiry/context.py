"""A broker without its sockets, whose clock is moved as `stub.clock` moves it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import Any

from kafkastub.coordinator import GroupTombstone, OffsetTombstone, Record, Turn
from kafkastub.server.broker import Broker
from kafkastub.server.clock import Clock
from kafkastub.state.topics import create_topic
from kafkastub.views.forecast import GROUP, OFFSETS, due
from tests.coordinator.context import START_MS, CoordinatorTestContext, RecordingCoordinator, take_over
from tests.expiry.model import Place

HOUR_MS = 3_600_000
TOPICS = ("a", "b", "c")
LARGE = "d"
"""A topic that stays, with many partitions."""


class StillClock(Clock):
    """Stands still, both times of it, until it is moved."""

    def __init__(self) -> None:
        super().__init__()
        self.set(START_MS)
        self.freeze()
        self.set(START_MS)
        self._timer = 0

    def timer_ms(self) -> int:
        return self._timer

    def both(self) -> tuple[int, int]:
        return self.broker_ms(), self._timer

    def skip_timers(self, ms: int) -> None:
        self._timer += ms


class Stamping(RecordingCoordinator):
    """Keeps with each tombstone the time of its turn."""

    __slots__ = ("tombstones",)

    def __init__(self, *args: Any) -> None:
        self.tombstones: list[tuple[int, str, Place | None]] = []
        super().__init__(*args)

    def log(self, turn: Turn, record: Record) -> None:
        super().log(turn, record)
        if isinstance(record, OffsetTombstone):
            self.tombstones.append((turn.broker_ms, record.group_id, (record.topic, record.partition)))
        elif isinstance(record, GroupTombstone):
            self.tombstones.append((turn.broker_ms, record.group_id, None))


class _NoServer:
    def rearm(self) -> None:
        """No timer to arm."""


class ClockedContext(CoordinatorTestContext):
    """A broker whose time is moved as `stub.clock` moves it."""

    def __init__(self, profile: str = "kips", topics: Sequence[str] = TOPICS, **config: object) -> None:
        self.clock = StillClock()
        super().__init__(profile, topics, group_initial_rebalance_delay_ms=0, **config)
        create_topic(self.state, LARGE, 100, 1)
        self.stamping = Stamping(self.state.config, self.state.random, self.records)
        take_over(self.state, self.stamping)
        self.state.start_sweeping(self.timer_ms)
        self.broker = Broker(self.state.config, self.log, self.clock)
        self.broker.state = self.state
        self.broker._server = _NoServer()  # type: ignore[assignment]

    @property
    def broker_ms(self) -> int:
        return self.clock.broker_ms()

    @broker_ms.setter
    def broker_ms(self, ms: int) -> None:
        self.clock.set(ms)

    @property
    def timer_ms(self) -> int:
        return self.clock.timer_ms()

    @timer_ms.setter
    def timer_ms(self, ms: int) -> None:
        self.clock.skip_timers(ms - self.clock.timer_ms())

    def move(self, ms: int, timers: bool = False, most_steps: int = 30_000) -> None:
        """Advance the clock, by which goes what was foreseen to; with `timers` sessions end, which nobody foresees."""
        foreseen, before = self.foreseen(ms), len(self.stamping.tombstones)
        self._move(ms, timers, most_steps)
        if not timers:
            assert foreseen == Counter(
                (at, group, None if place is None else place[0])
                for at, group, place in self.stamping.tombstones[before:]
            )

    def foreseen(self, ms: int) -> Counter[tuple[int, str, str | None]]:
        """How many offsets of (moment, group, topic) the forecast says to be gone; without a topic it is the group."""
        now = self.broker_ms
        found: Counter[tuple[int, str, str | None]] = Counter()
        for one in due(self.state, now, [now + ms]):
            if one is not None:
                assert one.kind in (OFFSETS, GROUP)
                assert one.group is not None
                found[max(one.at, now), one.group, one.topic] += one.many
        return found

    def _move(self, ms: int, timers: bool, most_steps: int) -> None:
        """More sweeps than that are taken for an endless loop."""
        sweep, steps = self.state.expire_offsets, count(1)

        def counted(broker_ms: int) -> None:
            assert next(steps) <= most_steps, "the clock does not get on"
            sweep(broker_ms)

        self.state.expire_offsets = counted  # type: ignore[method-assign]
        try:
            self.broker.advance(ms, timers)
        finally:
            self.state.expire_offsets = sweep  # type: ignore[method-assign]

    def fire(self) -> None:
        """Everything that is due by now happens."""
        while (at := self.state.next_deadline()) is not None and at <= self.timer_ms:
            self.state.expire(self.broker_ms, self.timer_ms)

    def reload(self) -> None:
        """The coordinator moves away and back: it forgets everything, and reads its log."""
        for turn in self.state.offsets_topic.reload(self.broker_ms, self.timer_ms):
            self.state.settle(turn)
