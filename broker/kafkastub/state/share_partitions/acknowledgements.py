"""The acknowledgements of one request: looked at, begun in each share partition, answered when all are written.

Kafka: KafkaApis.validateAcknowledgementBatches, handleAcknowledgements, SharePartitionManager.acknowledge.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from kafkastub.share_partitions.acknowledging import AcknowledgementBatch
from kafkastub.share_partitions.states import AcknowledgeType
from kafkastub.share_partitions.transition import Transition
from kafkastub.state.share_partitions.manager import SharePartitionManager
from kafkastub.state.share_partitions.partition_cache import NOT_HOSTED, Live, Moment
from kafkastub.steps import at_once
from kafkawire.errors import ErrorCode, KafkaError

RENEW_FROM: Final = 2
"""The version of ShareFetch and ShareAcknowledge from which on a lock can be renewed (KIP-1222)."""
TopicPartition = tuple[bytes, int]


_LONGEST_MEMBER_ID: Final = 36
AT_ONCE: Final = 1_000
"""Work that is done before others have their turn: batches, or partitions by `_A_PARTITION`."""
_A_PARTITION: Final = 3
_BATCHES_AT_ONCE: Final = 500
_TYPES_AT_ONCE: Final = 50_000


def check_member(
    group_id: str | None, member_id: str | None, may_read: Callable[[str], bool] | None
) -> tuple[str, str]:
    """Who asks, as group and member.

    `may_read`: which groups the principal may read; None: all. Raises INVALID_REQUEST, GROUP_AUTHORIZATION_FAILED.
    """
    if group_id is None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Invalid group id in the request.")
    if may_read is not None and not may_read(group_id):
        raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)
    if not member_id or len(member_id.encode("utf-16-le", "surrogatepass")) > 2 * _LONGEST_MEMBER_ID:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Invalid member id in the request.")
    return group_id, member_id


class Said(NamedTuple):
    """What became of a partition's acknowledgements."""

    error_code: int
    error_message: str | None = None


def are_valid(batches: Sequence[Any], *, version: int, renewing: bool) -> Generator[int, None, bool]:
    """Whether they can be: in order, and each with one type for all its offsets or one for each.

    `renewing`: the request says that it renews locks. Gives how much was looked at, from time to time.
    """
    last = -1
    highest = AcknowledgeType.RENEW if version >= RENEW_FROM and renewing else AcknowledgeType.REJECT
    for number, batch in enumerate(batches, 1):
        first_offset, last_offset, types = batch.first_offset, batch.last_offset, batch.acknowledge_types
        count = len(types)
        if not last <= first_offset <= last_offset or not count:
            return False
        if count > 1 and last_offset - first_offset != count - 1:
            return False
        for at in range(0, count, _TYPES_AT_ONCE):
            some = types if count <= _TYPES_AT_ONCE else types[at : at + _TYPES_AT_ONCE]
            if min(some) < 0 or max(some) > highest:
                return False
            if count > _TYPES_AT_ONCE:
                yield AT_ONCE
        last = last_offset
        if not number % _BATCHES_AT_ONCE:
            yield _BATCHES_AT_ONCE
    return True


def _counting(batches: Sequence[Any], start_offset: int) -> Generator[int, None, list[AcknowledgementBatch]]:
    """Those that say anything: not of what is done with, and not the same again."""
    counting: list[AcknowledgementBatch] = []
    before: Any = None
    for number, batch in enumerate(batches, 1):
        if batch.last_offset >= start_offset:
            again = (
                before is not None
                and batch.first_offset == before.first_offset == batch.last_offset == before.last_offset
                and batch.acknowledge_types[0] == before.acknowledge_types[0] == AcknowledgeType.RENEW
            )
            if not again:
                counting.append(AcknowledgementBatch(batch.first_offset, batch.last_offset, batch.acknowledge_types))
            before = batch
        if not number % _BATCHES_AT_ONCE:
            yield _BATCHES_AT_ONCE
    return counting


class Acknowledgements:
    """Those of one request.

    Attributes:
        said: what became of them, by partition; whole once they are written and `is_done`.
    """

    def __init__(
        self, manager: SharePartitionManager, node_id: int, group_id: str, member_id: str, now: Moment
    ) -> None:
        self._manager = manager
        self._node_id = node_id
        self._group_id = group_id
        self._member_id = member_id
        self._now = now
        self._begun: deque[tuple[TopicPartition, Live, Transition, list[AcknowledgementBatch]]] = deque()
        self._missing = 0
        self._done: Callable[[], None] | None = None
        self.said: dict[TopicPartition, Said] = {}

    @property
    def is_done(self) -> bool:
        """Whether all is written."""
        return not self._missing

    def when_done(self, call: Callable[[], None]) -> None:
        """Called once all is written, if it is not yet."""
        self._done = call

    def take(
        self, topics: Iterable[Any], *, version: int, renewing: bool, may_read: Callable[[str], bool] | None
    ) -> Generator[int, None, None]:
        """Begin what a request says, and note what speaks against it; gives how much was done, from time to time.

        Args:
            topics: of the request.
            renewing: its is_renew_ack.
            may_read: which topics its principal may read; None: all.

        Raises UNKNOWN_SERVER_ERROR where Kafka has no answer.
        """
        wanted: dict[TopicPartition, Sequence[Any]] = {}
        for topic in topics:
            for number, one in enumerate(topic.partitions, 1):
                wanted[topic.topic_id, one.partition_index] = one.acknowledgement_batches
                if not number % _BATCHES_AT_ONCE:
                    yield _BATCHES_AT_ONCE
            yield 1
        nothing: list[TopicPartition] = []
        good: list[tuple[TopicPartition, Sequence[Any]]] = []
        for key, batches in wanted.items():
            yield _A_PARTITION
            known = self._manager.topic(key[0])
            if known is None:
                self.said[key] = Said(ErrorCode.UNKNOWN_TOPIC_ID)
            elif not (yield from are_valid(batches, version=version, renewing=renewing)):
                self.said[key] = Said(ErrorCode.INVALID_REQUEST)
            elif may_read is not None and not may_read(known.name):
                self.said[key] = Said(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
            elif not 0 <= key[1] < len(known.partitions):
                self.said[key] = Said(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            elif not batches:
                nothing.append(key)
            else:
                good.append((key, batches))
        try:
            for key, batches in good:
                yield from self._add(key, batches)
        except KafkaError:
            self.write()  # as what was begun before is on its way
            raise
        if good:
            self.said.update(dict.fromkeys(nothing, Said(ErrorCode.NONE)))

    def _add(self, key: TopicPartition, batches: Sequence[Any]) -> Generator[int, None, None]:
        """Begin what is said of a partition."""
        live = self._manager.partitions.get(self._node_id, self._group_id, *key)
        if live is None:
            self.said[key] = Said(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, NOT_HOSTED)
            return
        counting = yield from _counting(batches, live.partition.start_offset)
        try:
            transition = yield from live.partition.acknowledge_in_parts(self._member_id, counting, self._now[1])
        except KafkaError as error:
            if error.code == ErrorCode.UNKNOWN_SERVER_ERROR:  # Kafka falls over it, with the whole request
                raise
            self.said[key] = Said(error.code, error.message)
            self._manager.wake(live)  # Kafka lets the others look after whatever was said
            return
        self.said[key] = Said(ErrorCode.NONE)
        self._missing += 1
        self._begun.append((key, live, transition, counting))
        yield self._manager.woken(live) + len(transition.changes)

    def write(self) -> None:
        """Write what was begun, once. In Kafka that is under way while the request itself fetches."""
        at_once(self.writing())

    def writing(self) -> Generator[int, None, None]:
        """The same, part by part: gives how much each was."""
        while self._begun:
            key, live, transition, batches = self._begun.popleft()
            self._manager.write(live, transition, self._now, partial(self._written, key, batches))
            yield 1 + len(transition.changes)

    def _written(self, key: TopicPartition, batches: list[AcknowledgementBatch], error: KafkaError | None) -> None:
        self._missing -= 1
        if error is None:
            self._count(batches)
        else:
            self.said[key] = Said(error.code, error.message)
        if not self._missing and self._done is not None:
            self._done()

    def _count(self, batches: list[AcknowledgementBatch]) -> None:
        counts = self._manager.acknowledged
        for first, last, types in batches:
            if len(types) == 1:
                counts[types[0]] += last - first + 1
            else:
                counts.update(types)
