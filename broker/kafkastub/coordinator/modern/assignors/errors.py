"""What an assignor raises."""

from __future__ import annotations


class AssignorError(Exception):
    """There is no assignment; the text says why, in Kafka's words. Kafka: PartitionAssignorException."""
