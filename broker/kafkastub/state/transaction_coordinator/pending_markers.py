"""Markers that are under way: from the coordinator's decision until each partition has its own.

Kafka: TransactionMarkerChannelManager, TransactionMarkerRequestCompletionHandler. There they go over the network; here
they are written at once, but for what has to wait: for the disk, for a leader, for a test that holds them, or for their
turn, as one request that ends a transaction of a million partitions must not keep others waiting.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from kafkastub.state.transaction_coordinator.markers import TopicPartition
from kafkastub.storage import Marker
from kafkastub.transaction_coordinator import Markers
from kafkawire.errors import ErrorCode

_AT_ONCE: Final = 100
"""Partitions that markers are written to before others have their turn; a few milliseconds."""

_STAY: Final = frozenset((ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.KAFKA_STORAGE_ERROR))
"""Tried again once something has changed."""
_GIVE_UP: Final = frozenset((ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED))
"""Somebody else has gone on with the producer: the transaction stays as it is."""

Write = Callable[[Marker, Iterable[TopicPartition], int], Iterable[tuple[TopicPartition, ErrorCode]]]
"""Writes a marker to partitions, at that broker time; what came of it, partition by partition."""


class _Ending:
    """A transaction whose markers are under way.

    Attributes:
        left: the partitions that have none yet.
        turn: those of them that are still to be tried this time.
        safe: whether the decision is as safe as one that was answered.
    """

    __slots__ = ("left", "marker", "markers", "safe", "turn")

    def __init__(self, markers: Markers) -> None:
        self.markers = markers
        self.marker = Marker(
            markers.producer_id,
            markers.producer_epoch,
            markers.commit,
            markers.coordinator_epoch,
            markers.transaction_version,
        )
        self.left = dict.fromkeys(markers.partitions)
        self.turn: deque[TopicPartition] = deque()
        self.safe = False


class PendingMarkers:
    """Those of one broker.

    Attributes:
        held: the transactional ids whose markers are held.
    """

    def __init__(self, write: Write, may_send: Callable[[str], bool]) -> None:
        """`may_send`: whether there is anybody who could send the markers of a transactional id now."""
        self._write = write
        self._may_send = may_send
        self._endings: dict[str, _Ending] = {}
        self._queue: dict[str, None] = {}
        self.held: set[str] = set()

    def __len__(self) -> int:
        return len(self._endings)

    def left(self) -> dict[str, list[TopicPartition]]:
        """By transactional id: the partitions that have no marker yet."""
        return {name: list(ending.left) for name, ending in self._endings.items()}

    def left_of(self, transactional_id: str) -> list[TopicPartition]:
        """Of one transactional id."""
        ending = self._endings.get(transactional_id)
        return [] if ending is None else list(ending.left)

    def clear(self) -> None:
        """Nothing is under way: the coordinator has moved, and says anew what is."""
        self._endings.clear()
        self._queue.clear()

    def add(self, markers: Markers) -> Callable[[], bool]:
        """They are to be sent, in place of what was under way of the transactional id.

        Call what is given back once the decision is safe: then they are in the queue, unless others took their place.
        """
        name, ending = markers.transactional_id, _Ending(markers)
        self._endings[name] = ending

        def safe() -> bool:
            ending.safe = True
            return self._endings.get(name) is ending and self.send(name)

        return safe

    def send(self, transactional_id: str) -> bool:
        """Put into the queue what is under way of a transactional id, if it can go; whether it is there now."""
        ending = self._endings.get(transactional_id)
        if ending is None or not ending.safe or transactional_id in self.held or not self._may_send(transactional_id):
            return False
        ending.turn = deque(ending.left)
        self._queue[transactional_id] = None
        return True

    def send_all(self) -> None:
        """Try whatever waits for something: that may have happened."""
        for transactional_id in tuple(self._endings):
            self.send(transactional_id)

    @property
    def is_due(self) -> bool:
        """Whether anything is in the queue."""
        return bool(self._queue)

    def going(self) -> set[object]:
        """What is under way and waits for nothing but the disk, or its turn: one object for each transaction."""
        return {
            ending
            for name, ending in self._endings.items()
            if (name in self._queue or not ending.safe) and name not in self.held and self._may_send(name)
        }

    def step(self, broker_ms: int, limit: int = _AT_ONCE) -> Iterator[tuple[Markers, list[TopicPartition]]]:
        """Write to so many partitions; gives what is done with: partitions that have their marker, or are gone."""
        while self._queue and limit > 0:
            name = next(iter(self._queue))
            ending = self._endings.get(name)
            if ending is None or name in self.held:
                del self._queue[name]
                continue
            some = tuple(ending.turn.popleft() for _ in range(min(limit, len(ending.turn))))
            limit -= max(len(some), 1)
            done = self._try(ending, some, broker_ms)
            if not ending.turn or self._endings.get(name) is not ending:
                self._queue.pop(name, None)  # a disk that failed meanwhile has emptied it
            if done or not some:
                yield ending.markers, done

    def _try(self, ending: _Ending, some: tuple[TopicPartition, ...], broker_ms: int) -> list[TopicPartition]:
        markers, done = ending.markers, []
        given_up = False
        for partition, code in self._write(ending.marker, some, broker_ms):
            if code in _GIVE_UP:
                given_up = True
            elif code not in _STAY:
                del ending.left[partition]
                done.append(partition)
        if (given_up or not ending.left) and self._endings.get(markers.transactional_id) is ending:
            del self._endings[markers.transactional_id]
        return done
