"""What a heartbeat tells that a group lacks, beside its answer. Kafka: StreamsGroupHeartbeatResponse.Status."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """The codes of KIP-1071."""

    STALE_TOPOLOGY = 0
    MISSING_SOURCE_TOPICS = 1
    INCORRECTLY_PARTITIONED_TOPICS = 2
    MISSING_INTERNAL_TOPICS = 3
    SHUTDOWN_APPLICATION = 4
    ASSIGNMENT_DELAYED = 5
    MISSING_CLIENT_TAGS = 6


class TopicConfigurationError(Exception):
    """The topics that there are do not do for a topology: no error of the member, which is told.

    Kafka: TopicConfigurationException.
    """

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(f"{status.name}: {message}")
        self.status = status
        self.message = message


def misfit(message: str) -> TopicConfigurationError:
    """INCORRECTLY_PARTITIONED_TOPICS, with a text."""
    return TopicConfigurationError(Status.INCORRECTLY_PARTITIONED_TOPICS, message)
