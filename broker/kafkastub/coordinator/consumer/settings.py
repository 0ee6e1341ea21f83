"""What consumer groups go by."""

from __future__ import annotations

from dataclasses import dataclass

from kafkastub.config import BrokerConfig
from kafkastub.config.assignors import assignor_names
from kafkastub.coordinator.modern.settings import ModernSettings, configured


@dataclass(slots=True)
class ConsumerSettings(ModernSettings):
    """The broker's part: `group.consumer.*`.

    Attributes:
        assignors: names, the default first.
        migration_policy: `disabled`, `upgrade`, `downgrade` or `bidirectional`.
        assignor_offload: whether assignors are to run beside the coordinator. Kafka 4.4.0 knows the name and does not
            ask for it: a new target is in the answer to the heartbeat that made it necessary.
        assignor_raises_epoch: whether another assignor than before is reason for a new epoch, as since 4.4.
    """

    assignor_offload: bool = True
    regex_refresh_interval_ms: int = 600_000
    assignors: tuple[str, ...] = ("uniform", "range")
    migration_policy: str = "bidirectional"
    assignor_raises_epoch: bool = True

    @staticmethod
    def of(values: BrokerConfig) -> ConsumerSettings:
        """From the broker's configuration."""
        return ConsumerSettings(
            **configured(values, "consumer", "assignor_offload", "regex_refresh_interval_ms"),
            assignors=assignor_names(values["group.consumer.assignors"]),
            migration_policy=values["group.consumer.migration.policy"].lower(),
            assignor_raises_epoch=values.follows(4, 4),
        )
