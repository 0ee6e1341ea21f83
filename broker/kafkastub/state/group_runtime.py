"""The group coordinator, as far as it is driven like every other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator

from kafkastub.coordinator import GroupCoordinator, Record, Turn, partition_for
from kafkastub.state.internal_topics.offsets_topic import OffsetsTopic
from kafkastub.state.runtime import Runtime


class GroupRuntime(Runtime[Record]):
    """Groups and `__consumer_offsets`."""

    coordinator: GroupCoordinator
    describing: deque[Iterator[None]]
    """Requests for the descriptions of very many groups, in the order in which they came; see `group_descriptions`."""

    def __init__(self, topic: OffsetsTopic, coordinator: GroupCoordinator, settle: Callable[..., Turn]) -> None:
        """`settle` is `BrokerState.settle`."""
        super().__init__(topic, coordinator)
        self._settle = settle
        self.describing = deque()

    def settle(self, turn: Turn) -> Turn:
        return self._settle(turn)

    def leaders_changed(self, partitions: Collection[int], count: int, broker_ms: int, timer_ms: int) -> None:
        """The coordinator knows of these groups what the log says.

        Who waits for a rebalance is told NOT_COORDINATOR; members of the last generation stay members.
        """
        moved = [group_id for group_id in self.coordinator.groups if partition_for(group_id, count) in partitions]
        self._settle(self.coordinator.reload(moved, broker_ms, timer_ms), batch_per_group=True)

    def topics_deleted(self, names: Iterable[str], broker_ms: int, timer_ms: int) -> None:
        """Groups lose their offsets of them."""
        self._settle(self.coordinator.on_topics_deleted(names, broker_ms))

    def read_only(self) -> None:
        self.coordinator.deadlines.clear()
