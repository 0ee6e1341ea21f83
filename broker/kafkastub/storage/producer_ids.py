"""Producer ids and epochs (InitProducerId; TransactionCoordinator.handleInitProducerId, TransactionMetadata)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.records import NO_PRODUCER_EPOCH

_LAST_EPOCH = 0x7FFF - 1


class ProducerIdAndEpoch(NamedTuple):
    producer_id: int
    epoch: int


class Kept(NamedTuple):
    """What a transactional id has.

    Attributes:
        last_epoch: the epoch that its last bump was asked for with; -1 where it was asked for with none.
    """

    producer_id: int
    epoch: int
    last_epoch: int


class ProducerIds:
    """Hands out producer ids from 0 on, and keeps those of transactional ids."""

    __slots__ = ("_next", "_transactional")

    def __init__(self) -> None:
        self._next = 0
        self._transactional: dict[str, tuple[ProducerIdAndEpoch, int]] = {}
        """With each the epoch that its last bump was asked for with: a repeated request gets the same answer."""

    @property
    def next(self) -> int:
        """The id that comes next."""
        return self._next

    def kept(self, transactional_id: str) -> Kept | None:
        """What a transactional id has, with what tells a repeated request."""
        known = self._transactional.get(transactional_id)
        return None if known is None else Kept(*known[0], known[1])

    def restore(self, next_id: int, transactional: Mapping[str, Kept]) -> None:
        """What `next` and `kept` said. No id of one that is kept is handed out again."""
        self._next = max([next_id, *(one.producer_id + 1 for one in transactional.values())])
        for name, (producer_id, epoch, last_epoch) in transactional.items():
            self._transactional[name] = (ProducerIdAndEpoch(producer_id, epoch), last_epoch)

    def allocate(self) -> ProducerIdAndEpoch:
        """A new id; its epoch is 0."""
        allocated = ProducerIdAndEpoch(self._next, 0)
        self._next += 1
        return allocated

    def of(self, transactional_id: str) -> ProducerIdAndEpoch | None:
        """What a transactional id has now."""
        known = self._transactional.get(transactional_id)
        return None if known is None else known[0]

    def initialise(self, transactional_id: str, expected: ProducerIdAndEpoch | None = None) -> ProducerIdAndEpoch:
        """The id of a transactional id, its epoch raised by one; a new id where its epochs are used up.

        `expected` is what the producer believes to have (KIP-360). KafkaError PRODUCER_FENCED where that is not so.
        """
        known = self._transactional.get(transactional_id)
        last_epoch = NO_PRODUCER_EPOCH
        if known is None:
            current = self.allocate()
        else:
            current, last_epoch = known
            if expected is not None and expected != current:
                if expected == (current.producer_id, last_epoch):
                    return current
                raise KafkaError(ErrorCode.PRODUCER_FENCED)
            last_epoch = NO_PRODUCER_EPOCH if expected is None else current.epoch
            if current.epoch >= _LAST_EPOCH:
                current, last_epoch = self.allocate(), NO_PRODUCER_EPOCH
            else:
                current = current._replace(epoch=current.epoch + 1)
        self._transactional[transactional_id] = (current, last_epoch)
        return current
