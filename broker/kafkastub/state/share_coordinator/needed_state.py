"""What share partitions need of the broker's state, which is made of them too."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from kafkastub.config import BrokerConfig
from kafkastub.coordinator import GroupCoordinator
from kafkastub.metadata import Cluster, Features, Topic
from kafkastub.state.fetch_purgatory import FetchPurgatory
from kafkastub.state.runtime import Runtime
from kafkastub.storage import LogManager


class NeededState(Protocol):
    """The broker's state, as far as share partitions go.

    Attributes:
        timer_ms: timer time, for what happens while nobody has brought it along; None where nobody knows.
        rounds_from: timer time (ms) from which on regular rounds are made; None where none are.
    """

    config: BrokerConfig
    cluster: Cluster
    coordinator: GroupCoordinator
    logs: LogManager
    fetch_purgatory: FetchPurgatory
    log: Any
    random: random.Random
    runtimes: dict[str, Runtime[Any]]
    rounds_from: int | None
    make_topic: Callable[[str, Mapping[str, str]], Topic]
    timer_ms: Callable[[], int] | None

    @property
    def disk(self) -> Any:
        """Where there is a data directory."""

    @property
    def features(self) -> Features: ...
    @property
    def is_writable(self) -> bool: ...
    def fall_back(self) -> None: ...
    def mark_dirty(self) -> None: ...
    def wake(self, name: str) -> None: ...
