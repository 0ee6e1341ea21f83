"""What a client is told when nothing can be written."""

from __future__ import annotations

from kafkawire.errors import ErrorCode, KafkaError


def storage_error(why: str) -> KafkaError:
    """KAFKA_STORAGE_ERROR."""
    return KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, why)
