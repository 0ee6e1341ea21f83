"""What an assignor raises."""

from __future__ import annotations

from kafkawire.errors import ErrorCode, KafkaError


class AssignorError(Exception):
    """There is no assignment; the text says why, in Kafka's words. Kafka: PartitionAssignorException."""


def not_computed(epoch: int, error: AssignorError) -> KafkaError:
    """UNKNOWN_SERVER_ERROR, for whoever is to be told of it."""
    what = f"Failed to compute a new target assignment for epoch {epoch}: {error}"
    return KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, what)
