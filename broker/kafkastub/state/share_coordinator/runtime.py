"""The share coordinator in its broker: what it decides is written, pruned and, after long, written again.

Kafka: ShareCoordinatorService. Its rounds are made by timer time; how old a snapshot is, is a matter of broker time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Final

from kafkastub.coordinator import partition_for
from kafkastub.metadata import SHARE_GROUP_STATE
from kafkastub.share_coordinator.coordinator import ShareCoordinator, ShareCoordinatorSettings, Turn, last_redundant
from kafkastub.share_coordinator.records import SharePartitionKey, ShareRecord, coordinator_key
from kafkastub.state.internal_topics.kept_topic import KeptTopic
from kafkastub.state.runtime import Runtime
from kafkastub.state.share_coordinator.needed_state import NeededState
from kafkastub.state.share_coordinator.topic import share_topic
from kafkastub.state.turns import AT_ONCE, Turns
from kafkawire.errors import ErrorCode, KafkaError

_PART: Final = 100
"""Share partitions that are written again, or forgotten, in one go: others are served between."""
_FEW: Final = 4
"""Records for each share partition that are too few to do anything about their number."""


@lru_cache(1000)
def _partition_of(key: SharePartitionKey, count: int) -> int:
    """The partition that has it, of so many: each acknowledgement asks."""
    return partition_for(coordinator_key(key), count)


class ShareRuntime(Runtime[ShareRecord]):
    """The runtime of the share coordinator.

    Attributes:
        coordinator: of all share partitions.
        topic: `__share_group_state`.
    """

    coordinator: ShareCoordinator
    topic: KeptTopic[ShareRecord]

    def __init__(self, state: NeededState) -> None:
        self._state = state
        coordinator = ShareCoordinator(ShareCoordinatorSettings.of(state.config), self._exists)
        super().__init__(share_topic(state, coordinator), coordinator)
        self._rounds = _Rounds(state)
        self._work: Iterator[None] | None = None
        self.turns = Turns(state.mark_dirty)
        """Work of requests about share groups' states."""

    def _exists(self, topic_id: bytes, partition: int) -> bool:
        topic = self._state.cluster.topic_by_id(topic_id)
        return topic is not None and partition < len(topic.partitions)

    def leader_of(self, key: SharePartitionKey) -> int:
        """The node that coordinates a share partition; -1 where there is none."""
        topic = self._state.cluster.topics.get(SHARE_GROUP_STATE)
        if topic is None:
            return -1
        return topic.partitions[_partition_of(key, len(topic.partitions))].leader

    def check_coordinated(self, key: SharePartitionKey, reads_only: bool = False) -> None:
        """Raises COORDINATOR_NOT_AVAILABLE where nobody coordinates a share partition, and as `check_available`."""
        if self.leader_of(key) < 0:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        if self.loading is not None or not self._state.is_writable:
            self.check_available(reads_only=reads_only)

    def check_available(self, *, reads_only: bool = False) -> None:
        """Raises COORDINATOR_LOAD_IN_PROGRESS; for what may write, KAFKA_STORAGE_ERROR where the disk takes no more."""
        if self.loading is not None:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        if not (reads_only or self._state.is_writable):
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)

    def settle(self, turn: Turn) -> Turn:
        """Its records are written. KAFKA_STORAGE_ERROR."""
        if turn.records:
            topic = self.topic
            topic.write(turn)
            if topic.watched:
                self._state.wake(SHARE_GROUP_STATE)
            if self._work is None and topic.overfull:
                self._make_room(turn.broker_ms)
        return turn

    # -- the runtime ---------------------------------------------------------------------------------------------

    def unloaded(self) -> None:
        self._work = None

    def topics_deleted(self, names: Iterable[str], broker_ms: int, timer_ms: int) -> None:
        """Their share partitions are forgotten. (ShareCoordinatorShard.maybeCleanupShareState)"""
        known = self._state.cluster.topic_by_id
        gone = [topic_id for topic_id in self.coordinator.topic_ids if known(topic_id) is None]
        keys = [key for topic_id in gone for key in self.coordinator.of_topic(topic_id)]
        if keys:
            self.turns.begin(self._forget(keys, broker_ms))

    def retry_waiting(self, broker_ms: int, timer_ms: int) -> None:
        """Whoever was loaded in the midst of forgetting goes on with it."""
        if self.loading is None and self._state.is_writable:
            self.topics_deleted((), broker_ms, timer_ms)

    def _forget(self, keys: list[SharePartitionKey], broker_ms: int) -> Iterator[None]:
        for first in range(0, len(keys), _PART):
            if first:
                yield
            turn = Turn(broker_ms)
            self.coordinator.forget(keys[first : first + _PART], turn)
            with suppress(KafkaError):  # a disk that takes no more: nothing has happened
                self.settle(turn)

    def read_only(self) -> None:
        self._work = None

    # -- time ----------------------------------------------------------------------------------------------------

    def next_deadline(self) -> int | None:
        """Timer time (ms) at which a part of some work has its turn; None where there is none."""
        return AT_ONCE if self._work is not None or self.turns else None

    def next_round(self) -> int | None:
        """Timer time (ms) of the next regular round; None where there is nothing to look after."""
        return self._rounds.next() if self.coordinator.states and self.loading is None else None

    def expire(self, broker_ms: int, timer_ms: int) -> None:
        """Do what is due at `timer_ms`."""
        self.turns.expire()
        if self.loading is not None or not self._state.is_writable:
            return
        if self._work is None:
            cold, pruning = self._rounds.due(timer_ms)
            if cold or pruning:
                self._work = self._round(self.coordinator.cold(broker_ms) if cold else [], pruning, broker_ms)
        if self._work is not None:
            with suppress(KafkaError):  # a disk that takes no more: nothing has happened
                if next(self._work, AT_ONCE) is not None:
                    self._work = None
            self._state.mark_dirty()

    def _make_room(self, broker_ms: int) -> None:
        """There are more records than are to be remembered: prune, whatever the time."""
        states = self.coordinator.states
        if self.topic.records > _FEW * len(states):
            self._work = self._round(list(states), True, broker_ms)
            self._state.mark_dirty()

    def _round(self, keys: list[SharePartitionKey], pruning: bool, broker_ms: int) -> Iterator[None]:
        """Write these share partitions again, and let go what is not needed any more; part by part."""
        for first in range(0, len(keys), _PART):
            turn = Turn(broker_ms)
            self.coordinator.snapshot(keys[first : first + _PART], turn)
            self.settle(turn)
            yield
        if pruning:
            for log in self.topic.logs:
                offset = last_redundant(self.topic.kept(log))
                if offset is not None:
                    self.topic.prune(log, offset)
                    yield


class _Rounds:
    """When regular rounds are made: each so often, from when on they are made at all."""

    def __init__(self, state: NeededState) -> None:
        self._state = state
        self._every: tuple[int, int] = (
            state.config["share.coordinator.cold.partition.snapshot.interval.ms"],
            state.config["share.coordinator.state.topic.prune.interval.ms"],
        )
        self._at: list[int] | None = None

    def next(self) -> int | None:
        if self._state.rounds_from is None:
            return None
        if self._at is None:
            self._at = [self._state.rounds_from + every for every in self._every]
        return min(self._at)

    def due(self, timer_ms: int) -> tuple[bool, bool]:
        """Whether it is time for cold partitions, and for pruning."""
        if self.next() is None or self._at is None:
            return False, False
        cold, pruning = (at <= timer_ms for at in self._at)
        self._at = [at if at > timer_ms else timer_ms + every for at, every in zip(self._at, self._every, strict=True)]
        return cold, pruning
