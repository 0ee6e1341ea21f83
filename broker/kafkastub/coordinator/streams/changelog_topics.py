"""How many partitions the topics get in which an application keeps its state. Kafka: ChangelogTopics."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kafkastub.coordinator.streams.topology import Subtopology
from kafkawire.errors import ErrorCode, KafkaError


def partition_counts(subtopologies: Iterable[Subtopology], count_of: Callable[[str], int]) -> dict[str, int]:
    """As many as the subtopology has tasks: as its widest input has partitions.

    Raises STREAMS_INVALID_TOPOLOGY for a subtopology that reads nothing.
    """
    counts: dict[str, int] = {}
    for one in subtopologies:
        tasks = max(map(count_of, one.inputs()), default=None)
        if tasks is None:
            why = f"No source topics found for subtopology {one.subtopology_id}"
            raise KafkaError(ErrorCode.STREAMS_INVALID_TOPOLOGY, why)
        for topic in one.state_changelog_topics:
            counts[topic.name] = tasks
    return counts
