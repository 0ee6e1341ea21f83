"""What share groups go by."""

from __future__ import annotations

from dataclasses import dataclass

from kafkastub.config import BrokerConfig
from kafkastub.coordinator.modern.settings import ModernSettings, configured


@dataclass(slots=True)
class ShareGroupSettings(ModernSettings):
    """The broker's part: `group.share.*`.

    Attributes:
        initialize_retry_interval_ms: how long the share coordinator has to make a partition's state before it is asked
            again.
    """

    max_size: int = 200
    initialize_retry_interval_ms: int = 30_000

    @staticmethod
    def of(values: BrokerConfig) -> ShareGroupSettings:
        """From the broker's configuration."""
        made = ShareGroupSettings(**configured(values, "share", "initialize_retry_interval_ms"))
        made.initialize_retry_interval_ms = max(made.initialize_retry_interval_ms, values["offsets.commit.timeout.ms"])
        return made
