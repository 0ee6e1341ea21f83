"""What is driven alike of every coordinator: its topic, how it is loaded, and what it is told of the cluster.

Kafka: CoordinatorRuntime. `loading`, `leadership` and `persistence` go through all of a broker's runtimes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Generic

from kafkastub.state.internal_topics.contract import Coordinator, R
from kafkastub.state.internal_topics.internal_topic import InternalTopic


class Loading:
    """A coordinator on its way: requests for it are answered with COORDINATOR_LOAD_IN_PROGRESS.

    Attributes:
        steps: each step applies some records.
        deleted: topics that were deleted meanwhile; the coordinator is told of them afterwards.
    """

    __slots__ = ("deleted", "steps")

    def __init__(self, steps: Iterator[None]) -> None:
        self.steps = steps
        self.deleted: list[str] = []


class Runtime(Generic[R]):
    """One coordinator and its internal topic.

    Args:
        topic: where the coordinator's records are.
        coordinator: whose they are.

    Attributes:
        loading: set while it is loaded.
    """

    def __init__(self, topic: InternalTopic[R], coordinator: Coordinator[R]) -> None:
        self.topic = topic
        self.coordinator = coordinator
        self.loading: Loading | None = None

    def settle(self, turn: Any) -> object:
        """A turn of the coordinator goes on from here."""
        raise NotImplementedError

    def leaders_changed(self, partitions: Collection[int], count: int, broker_ms: int, timer_ms: int) -> None:
        """Other nodes lead these partitions of the topic, which has so many: who is in them has another coordinator.

        Called while it is not loading.
        """

    def loaded(self) -> None:
        """All records are applied, and what follows from them is not settled yet."""

    def unloaded(self) -> None:
        """The coordinator has forgotten everything; what was under way on its behalf is not any more."""

    def retry_waiting(self, broker_ms: int, timer_ms: int) -> None:
        """Something has happened that it may have waited for: a partition has a leader, a coordinator is loaded."""

    def topics_deleted(self, names: Iterable[str], broker_ms: int, timer_ms: int) -> None:
        """Topics are gone, whosever they were; `finish` follows. Called while it is not loading."""

    def finish(self, broker_ms: int, timer_ms: int) -> None:
        """Write what has happened already and is written part by part. KAFKA_STORAGE_ERROR."""

    def read_only(self) -> None:
        """Nothing can be written any more: what would be written by itself in time must not happen."""
