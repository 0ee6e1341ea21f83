"""The configuration that the coordinator goes by, typed, out of Kafka's names."""

from __future__ import annotations

from dataclasses import dataclass

from kafkastub.config import BrokerConfig

NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000
"""How long a new member's parked join may stay unanswered; no configuration (Kafka: GroupCoordinatorConfig)."""


@dataclass(slots=True)
class GroupSettings:
    """Times are milliseconds.

    Attributes:
        retention_ms: `offsets.retention.minutes`; -1 for infinite (KAFKA-20461).
        offset_metadata_max: longest metadata of an offset, in UTF-16 code units.
    """

    min_session_timeout_ms: int = 6_000
    max_session_timeout_ms: int = 1_800_000
    initial_rebalance_delay_ms: int = 3_000
    max_size: int = 2**31 - 1
    new_member_join_timeout_ms: int = NEW_MEMBER_JOIN_TIMEOUT_MS
    offset_metadata_max: int = 4_096
    retention_ms: int = 10_080 * 60_000

    @staticmethod
    def of(values: BrokerConfig) -> GroupSettings:
        """From the broker's configuration."""
        minutes = values["offsets.retention.minutes"]
        return GroupSettings(
            min_session_timeout_ms=values["group.min.session.timeout.ms"],
            max_session_timeout_ms=values["group.max.session.timeout.ms"],
            initial_rebalance_delay_ms=values["group.initial.rebalance.delay.ms"],
            max_size=values["group.max.size"],
            offset_metadata_max=values["offset.metadata.max.bytes"],
            retention_ms=-1 if minutes < 0 else minutes * 60_000,
        )
