"""The group coordinator, as far as it is driven like every other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final

from kafkastub.coordinator import GroupCoordinator, Record, Turn, partition_for
from kafkastub.state.internal_topics.offsets_topic import OffsetsTopic
from kafkastub.state.runtime import Runtime
from kafkastub.steps import Steps, at_once

_AT_ONCE: Final = 500
"""Tombstones that are written in one go."""


class GroupRuntime(Runtime[Record]):
    """Groups and `__consumer_offsets`."""

    coordinator: GroupCoordinator
    describing: deque[Iterator[None]]
    """Requests for the descriptions of very many groups, in the order in which they came; see `group_descriptions`."""
    computing: dict[str, deque[Iterator[None]]]
    """By group id: heartbeats of groups whose target is being computed, in the order in which they came."""

    def __init__(self, topic: OffsetsTopic, coordinator: GroupCoordinator, settle: Callable[..., Turn]) -> None:
        """`settle` is `BrokerState.settle`."""
        super().__init__(topic, coordinator)
        self._settle = settle
        self.describing = deque()
        self.computing = {}

    def settle(self, turn: Turn) -> Turn:
        return self._settle(turn)

    def leaders_changed(self, partitions: Collection[int], count: int, broker_ms: int, timer_ms: int) -> None:
        """The coordinator knows of these groups what the log says.

        Who waits for a rebalance is told NOT_COORDINATOR; members of the last generation stay members.
        """
        moved = [group_id for group_id in self.coordinator.groups if partition_for(group_id, count) in partitions]
        self._settle(self.coordinator.reload(moved, broker_ms, timer_ms), batch_per_group=True)

    def topics_deleted(self, names: Iterable[str], broker_ms: int, timer_ms: int) -> None:
        """Groups lose their offsets of them, whose tombstones are not written yet: see `tombstones`."""
        self._settle(self.coordinator.on_topics_deleted(names, broker_ms, 0))

    def tombstones(self, broker_ms: int) -> Steps[None]:
        """Write what is left to be written of deleted topics, part by part; gives how much each was."""
        while self.coordinator.dropped:
            turn = self._settle(self.coordinator.write_tombstones(broker_ms, _AT_ONCE))
            yield max(1, len(turn.records))

    def finish(self, broker_ms: int, timer_ms: int) -> None:
        at_once(self.tombstones(broker_ms))

    def read_only(self) -> None:
        self.coordinator.deadlines.clear()
