"""What transactions need of the broker's state, which is made of them too."""

from __future__ import annotations

from typing import Any, Protocol

from kafkastub.config import BrokerConfig
from kafkastub.metadata import Cluster, Features
from kafkastub.state.fetch_purgatory import FetchPurgatory
from kafkastub.state.group_runtime import GroupRuntime
from kafkastub.state.internal_topics.offsets_topic import OffsetsTopic
from kafkastub.state.runtime import Runtime
from kafkastub.storage import LogManager


class SomeRunner(Protocol):
    """How something is done later."""

    def soon(self, call: Any) -> None:
        """Call it when others had their turn."""


class SomeDisk(Protocol):
    """Where records go, if they go to a disk."""

    @property
    def runner(self) -> SomeRunner: ...

    def wait(self, done: Any) -> bool:
        """Whether there is something to wait for; then `done` is called, with what went wrong or None."""


class NeededState(Protocol):
    """The broker's state, as far as transactions go."""

    config: BrokerConfig
    cluster: Cluster
    groups: GroupRuntime
    offsets_topic: OffsetsTopic
    logs: LogManager
    fetch_purgatory: FetchPurgatory
    log: Any
    runtimes: dict[str, Runtime[Any]]

    @property
    def disk(self) -> SomeDisk | None:
        """Where there is a data directory."""

    @property
    def features(self) -> Features: ...
    @property
    def is_writable(self) -> bool: ...
    def fall_back(self) -> None: ...
    def mark_dirty(self) -> None: ...
    def producer_ids_changed(self) -> None: ...
    def tell_watchers(self) -> None: ...
    def wake(self, name: str) -> None: ...
