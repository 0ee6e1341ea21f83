"""What the logs of internal topics are made of."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Protocol

from kafkawire.records import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NewRecord

from .epochs import LeaderEpochs
from .producers import ProducerStates


class Item(NamedTuple):
    """What was written to one key at once, or to several one after the other, with its place in the tail.

    Attributes:
        offset: of its first record.
        batch: the first offset of its batch.
        records: how many it stands for.
        content: what only the writer understands; or the bytes of a batch that a client produced.
    """

    offset: int
    batch: int
    records: int
    timestamp: int
    content: Any


class SavedStateLog(NamedTuple):
    """What such a log was at some time, but for its writer. Items are shared; nothing in it ever changes."""

    log_start_offset: int
    end: int
    items: list[Item]
    passed: tuple[Any, int, int] | None
    epochs: LeaderEpochs
    producer_states: ProducerStates


class BatchForm(NamedTuple):
    """What the header of a batch says of who wrote it; neighbours in the compacted part share one if this is alike.

    Attributes:
        attributes: further bits beside the codec's.
        compressed: whether it may be.
    """

    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    base_sequence: int = 0
    """Kafka's coordinator runtime writes 0, with a producer and without."""
    attributes: int = 0
    compressed: bool = True


PLAIN: Final = BatchForm()
"""Of no transaction: nearly all."""


class Snapshot(Protocol):
    """The last record of every key in one partition, of those before some offset.

    Attributes:
        offsets: where they stand, ascending.
    """

    @property
    def offsets(self) -> Sequence[int]: ...

    def record(self, index: int) -> NewRecord | None:
        """That record; None where it is not its key's last any more."""

    def form(self, index: int) -> BatchForm:
        """Of the batch that it belongs in."""


class EncodedBatches:
    """The bytes of batches that were read lately, up to `limit` bytes."""

    __slots__ = ("_batches", "_size", "limit")

    def __init__(self, limit: int = 16 * 1024 * 1024) -> None:
        self.limit = limit
        # a plain dict gives up its oldest entry the more slowly the more it has given up before
        self._batches: OrderedDict[tuple[int, int, int], bytes] = OrderedDict()
        self._size = 0

    def get(self, key: tuple[int, int, int]) -> bytes | None:
        return self._batches.get(key)

    def put(self, key: tuple[int, int, int], batch: bytes) -> None:
        self._batches[key] = batch
        self._size += len(batch)
        while self._size > self.limit and len(self._batches) > 1:
            self._size -= len(self._batches.popitem(last=False)[1])
