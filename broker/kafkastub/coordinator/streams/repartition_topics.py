"""How many partitions the topics get through which parts of an application hand on to each other.

Kafka: RepartitionTopics. It goes round and round over all subtopologies until all is known; here only those are looked
at again whose inputs became known, in the order in which Kafka comes to them: which inputs count is decided by it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush

from kafkastub.coordinator.streams.topology import Subtopology
from kafkawire.errors import ErrorCode, KafkaError

CountOf = Callable[[str], int | None]
"""The partitions of a topic, None where they are not known."""

_FAILED = "Failed to compute number of partitions for all repartition topics"


def partition_counts(subtopologies: Sequence[Subtopology], count_of: CountOf) -> dict[str, int]:
    """The partitions of the repartition topics by name: as the member says, or as many as the widest input has.

    Args:
        subtopologies: in the order of Kafka's map; their source topics are there.
        count_of: of the topics that are there.

    Raises STREAMS_INVALID_TOPOLOGY for parts that wait for each other and for a topic that nobody writes.
    """
    counts = {
        topic.name: topic.partitions
        for one in subtopologies
        for topic in one.repartition_source_topics
        if topic.partitions != 0
    }
    _Rounds(subtopologies, counts, count_of).run()
    if any(topic.name not in counts for one in subtopologies for topic in one.repartition_source_topics):
        why = f"{_FAILED}, because a repartition source topic is never used as a sink topic."
        raise KafkaError(ErrorCode.STREAMS_INVALID_TOPOLOGY, why)
    return counts


class _Rounds:
    """Kafka's rounds over the subtopologies.

    Args:
        counts: what is known; what is found out is added.
    """

    def __init__(self, subtopologies: Sequence[Subtopology], counts: dict[str, int], count_of: CountOf) -> None:
        self._subtopologies = subtopologies
        self._counts = counts
        self._count_of = count_of
        self._waiting: dict[str, list[int]] = {}
        """By the input that they may be waiting for."""
        self._turns = [(0, position) for position in range(len(subtopologies))]
        """Round and position of those to look at."""

    def run(self) -> None:
        """Find out all counts. Raises STREAMS_INVALID_TOPOLOGY where some cannot be."""
        turns, counts = self._turns, self._counts
        heapify(turns)
        while turns:
            self._look(*heappop(turns))
        if any(sink not in counts for one in self._subtopologies for sink in one.repartition_sink_topics):
            why = f"{_FAILED}. There may be loops in the topology that cannot be resolved."
            raise KafkaError(ErrorCode.STREAMS_INVALID_TOPOLOGY, why)

    def _look(self, turn: int, position: int) -> None:
        one, counts = self._subtopologies[position], self._counts
        unknown = [sink for sink in one.repartition_sink_topics if sink not in counts]
        if not unknown:
            return
        inputs = [counts.get(topic.name) for topic in one.repartition_source_topics]
        inputs += map(self._count_of, one.source_topics)
        widest = max((count for count in inputs if count is not None), default=None)
        if widest is None:
            for topic in one.repartition_source_topics:
                self._waiting.setdefault(topic.name, []).append(position)
            return
        for sink in unknown:
            counts[sink] = widest
            for waiting in self._waiting.pop(sink, ()):
                heappush(self._turns, (turn + (waiting <= position), waiting))
