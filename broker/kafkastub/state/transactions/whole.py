"""What transactions need of the broker's state, which is made of them too."""

from __future__ import annotations

from typing import Any, Protocol

from kafkastub.config import BrokerConfig
from kafkastub.coordinator import GroupCoordinator
from kafkastub.coordinator import Turn as GroupTurn
from kafkastub.metadata import Cluster
from kafkastub.state.fetch_purgatory import FetchPurgatory
from kafkastub.state.internal_topics.offsets_topic import OffsetsTopic
from kafkastub.storage import LogManager


class Whole(Protocol):
    """The broker's state, as far as transactions go."""

    config: BrokerConfig
    cluster: Cluster
    coordinator: GroupCoordinator
    offsets_topic: OffsetsTopic
    logs: LogManager
    fetch_purgatory: FetchPurgatory
    log: Any

    def settle(self, turn: GroupTurn) -> GroupTurn: ...
    def wake(self, name: str) -> None: ...
    def mark_dirty(self) -> None: ...
    def check_writable(self) -> None: ...
    def producer_ids_changed(self, transactional_id: str | None) -> None: ...
