"""The broker's whole state, as the handlers see it, and what in it waits for time to pass."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

from kafkastub.config import BrokerConfig
from kafkastub.config.profile import Profile
from kafkastub.coordinator import GroupCoordinator
from kafkastub.handlers.fetch_waits import FetchWaits
from kafkastub.handlers.groups import settle
from kafkastub.handlers.offsets_topic import OffsetsTopic
from kafkastub.handlers.telemetry import Telemetry
from kafkastub.metadata import Cluster, Node
from kafkastub.storage import LogManager


class BrokerState:
    """Owned by one thread. Nothing in it looks at a clock: the two times come in from outside."""

    def __init__(
        self,
        config: BrokerConfig,
        nodes: Iterable[Node],
        log: Any,
        wall_ms: Callable[[], int] | None = None,
        seed: int | None = None,
    ) -> None:
        """`wall_ms` is what bounds on record timestamps are measured from (broker time where None)."""
        self.config = config
        self.profile: Profile = config.profile
        self.random = random.Random(seed)
        self.cluster = Cluster(self.random, nodes)
        self.log = log
        self.logs = LogManager(wall_ms)
        self.coordinator = GroupCoordinator(config, self.profile, self.random)
        self.offsets_topic = OffsetsTopic(self)
        self.fetch_waits = FetchWaits()
        self.telemetry = Telemetry()
        self._sweep_every: int = config["offsets.retention.check.interval.ms"]
        self._sweep_at: int | None = None
        self._clean_every: int = config["log.retention.check.interval.ms"]
        self._clean_at: int | None = None

    def start_sweeping(self, timer_ms: int) -> None:
        """Sweep for expired offsets from now on (`offsets.retention.check.interval.ms`, in timer time)."""
        self._sweep_at = timer_ms + self._sweep_every
        self._clean_at = timer_ms + self._clean_every

    def next_deadline(self) -> int | None:
        """Timer time (ms) at which something falls due, None where nothing waits."""
        groups, fetches, nearest = self.coordinator.next_deadline(), self.fetch_waits.next_deadline(), self._sweep_at
        if groups is not None and (nearest is None or groups < nearest):
            nearest = groups
        if fetches is not None and (nearest is None or fetches < nearest):
            nearest = fetches
        cleaning = self._clean_at
        if cleaning is not None and (nearest is None or cleaning < nearest) and self.logs.perishable:
            nearest = cleaning
        return nearest

    def expire(self, broker_ms: int, timer_ms: int) -> None:
        """Do what is due at `timer_ms`."""
        settle(self, self.coordinator.expire(broker_ms, timer_ms), batch_per_group=True)
        self.fetch_waits.expire(timer_ms)
        if self._sweep_at is not None and timer_ms >= self._sweep_at:
            self._sweep_at = timer_ms + self._sweep_every
            self.expire_offsets(broker_ms)
        if self._clean_at is not None and timer_ms >= self._clean_at:
            self._clean_at = timer_ms + self._clean_every
            self.logs.clean(broker_ms)

    def meters(self) -> dict[str, int]:
        """The group coordinator's meters by their names in KIP-496."""
        meters = self.coordinator.meters
        return {
            "offset-commits": meters.offset_commits,
            "offset-expirations": meters.offset_expirations,
            "offset-deletions": meters.offset_deletions,
            "group-completed-rebalances": self.coordinator.completed_rebalances,
        }

    def expire_offsets(self, broker_ms: int) -> None:
        """Sweep now: what is due at `broker_ms` is gone afterwards."""
        settle(self, self.coordinator.expire_offsets(broker_ms))
