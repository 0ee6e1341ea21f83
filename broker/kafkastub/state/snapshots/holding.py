"""What snapshots hold in memory: the limit of what one may become, and what several hold together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from kafkastub.state.snapshots.saved import SavedBatches, SavedInternalTopic, SavedState, SnapshotError

OF_BATCH: Final = 350
"""Bytes that a batch takes beside its own: the object, and its places in the lists of its segment."""
_OF_ITEM: Final = 200
"""The same of a record of a coordinator that is kept as it is."""
_OF_PARTITION: Final = 1500


class Limit(NamedTuple):
    """How much a file may become.

    Attributes:
        most: bytes.
        named: what set it, and what is to be done where it is too low.
        of_batch: bytes that each batch counts beside its own.
    """

    most: int
    named: str = "most_bytes"
    of_batch: int = 0

    def passed(self, what: str, size: int, most: int | None = None, unit: str = "bytes") -> SnapshotError:
        """What is told of something that is too large; `most` where that is another number."""
        return SnapshotError(
            f"{what} {size} {unit}, and {self.most if most is None else most} are the most ({self.named})"
        )


OF_OWN: Final = Limit(1 << 30)
"""Of a file that somebody gives to a stub of his own."""


class Budget:
    """What is left of a limit."""

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self._used = 0

    def take(self, size: int) -> None:
        """So many bytes come. Raises SnapshotError where they are too many."""
        self._used += size
        if self._used > self._limit.most:
            raise self._limit.passed("it takes more than", self._used)

    def take_batch(self) -> None:
        """A batch, the bytes of which are counted."""
        self.take(self._limit.of_batch)


def held(states: Iterable[SavedState], most: int) -> int:
    """Bytes that snapshots hold together, about. Where that is more than `most`, what they share counts once.

    To look through what they share takes time: it is done where it matters. Any thread may do it, as they never change.
    """
    states = list(states)
    size = sum(size for state in states for size in _sizes(state))
    if size <= most:
        return size
    size, seen = 0, set()
    for state in states:
        for number, bytes_ in _things(state):
            if number not in seen:
                seen.add(number)
                size += bytes_
    return size


def _sizes(state: SavedState) -> Iterator[int]:
    for topic in state.topics:
        yield _OF_PARTITION * len(topic.topic.partitions)
        if not isinstance(topic, SavedInternalTopic):
            for log in topic.logs.made.values():
                for segment in log.segments:
                    yield segment.size + OF_BATCH * len(segment.batches)
        elif isinstance(topic.state, SavedBatches):
            yield from map(len, topic.state.batches)
        else:
            yield topic.state.weight
            for each in topic.state.logs:
                yield _OF_ITEM * len(each.items)


def _things(state: SavedState) -> Iterator[tuple[int, int]]:
    """What is there, each with a number that it has wherever it is, and its bytes."""
    for topic in state.topics:
        yield id(topic), _OF_PARTITION * len(topic.topic.partitions)
        if not isinstance(topic, SavedInternalTopic):
            for log in topic.logs.made.values():
                for segment in log.segments:
                    for batch in segment.batches:
                        yield id(batch), batch.size + OF_BATCH
        elif isinstance(topic.state, SavedBatches):
            for content in topic.state.batches:
                yield id(content), len(content)
        else:
            for each in topic.state.logs:
                for item in each.items:
                    yield id(item), _OF_ITEM
