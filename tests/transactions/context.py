"""A coordinator with its two clocks, and a producer's view of it."""

from __future__ import annotations

from itertools import count

from kafkastub.transaction_coordinator import (
    Markers,
    ProducerIdAndEpoch,
    TopicPartition,
    TransactionCodec,
    TransactionCoordinator,
    TransactionRecord,
    TransactionSettings,
    TransactionState,
    Turn,
)

START_MS = 1_700_000_000_000
TIMEOUT_MS = 60_000
A, B, C = ("a", 0), ("a", 1), ("b", 0)


class TransactionsTestContext:
    """Keeps the records that were written, and the markers that are under way."""

    def __init__(self, **settings: int) -> None:
        ids = count()
        self.settings = TransactionSettings(**settings)
        self.coordinator = TransactionCoordinator(self.settings, lambda: next(ids))
        self.broker_ms = START_MS
        self.timer_ms = 0
        self.log: list[TransactionRecord] = []
        self.under_way: list[Markers] = []

    def turn(self) -> Turn:
        return Turn(self.broker_ms, self.timer_ms)

    def settle(self, turn: Turn) -> Turn:
        """Write its records, keep its markers."""
        self.log += turn.records
        self.under_way += turn.markers
        return turn

    def advance(self, ms: int, *, timers: bool = True) -> Turn:
        self.broker_ms += ms
        self.timer_ms += ms if timers else 0
        return self.settle(self.coordinator.expire(self.broker_ms, self.timer_ms))

    def init(
        self, name: str = "tx", expected: ProducerIdAndEpoch | None = None, timeout_ms: int = TIMEOUT_MS
    ) -> ProducerIdAndEpoch:
        """Until it is not refused for an open transaction; markers are written meanwhile."""
        turn = self.settle(self.coordinator.init_producer_id(name, timeout_ms, expected, self.turn()))
        if turn.error:
            self.write_markers()
            turn = self.settle(self.coordinator.init_producer_id(name, timeout_ms, expected, self.turn()))
        reply: ProducerIdAndEpoch = turn.reply
        return reply

    def add(self, who: ProducerIdAndEpoch, *partitions: TopicPartition, name: str = "tx", version: int = 0) -> Turn:
        return self.settle(self.coordinator.add_partitions(name, *who, partitions, version, self.turn()))

    def end(
        self, who: ProducerIdAndEpoch, commit: bool = True, *, name: str = "tx", version: int = 2
    ) -> ProducerIdAndEpoch:
        """The markers are left under way."""
        turn = self.settle(self.coordinator.end(name, *who, commit, version, self.turn()))
        reply: ProducerIdAndEpoch = turn.reply
        return reply

    def write_markers(self) -> list[Markers]:
        """Write all that are under way, one partition after the other."""
        written, self.under_way = self.under_way, []
        for one in written:
            reported = (one.transactional_id, one.producer_id, one.producer_epoch)
            for partition in one.partitions or [None]:
                done = () if partition is None else (partition,)
                self.settle(self.coordinator.markers_written(*reported, done, self.turn()))
        return written

    def commit(self, who: ProducerIdAndEpoch, *partitions: TopicPartition) -> ProducerIdAndEpoch:
        """A whole transaction of version 2."""
        self.add(who, *partitions, version=2)
        after = self.end(who)
        self.write_markers()
        return after

    def state(self, name: str = "tx") -> TransactionState:
        return self.coordinator.describe(name).state

    def restarted(self) -> TransactionsTestContext:
        """Another one that has read the log."""
        codec, other = TransactionCodec(), TransactionsTestContext()
        other.settings = other.coordinator.settings = self.settings
        other.broker_ms, other.log = self.broker_ms, list(self.log)
        for record in self.log:
            again = codec.decode(*codec.encode(record))
            assert again is not None
            other.coordinator.apply(again)
        other.under_way = list(other.coordinator.loaded(other.broker_ms, other.timer_ms).markers)
        return other
