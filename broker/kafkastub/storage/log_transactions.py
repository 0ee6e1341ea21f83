"""The transactions of one partition: which are open, and which were aborted (KIP-98; ProducerStateManager,
TransactionIndex).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

_BLOCK: Final = 64
"""Aborted transactions whose least first offset is remembered together."""


class AbortedTransaction(NamedTuple):
    """`first_offset` is that of its first record, `last_offset` that of its marker."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int
    """What the last stable offset was once the marker was written."""


class Marker(NamedTuple):
    """What ends a producer's transaction in a partition.

    Attributes:
        producer_epoch: from transaction version 2 on above that of the records.
        coordinator_epoch: the leader epoch of the coordinator's partition of `__transaction_state`.
        transaction_version: that the transaction is ended by; the log does not have it.
    """

    producer_id: int
    producer_epoch: int
    commit: bool
    coordinator_epoch: int = 0
    transaction_version: int = 0


class AbortedColumns(NamedTuple):
    """What a reader of committed records is told of aborted transactions, as columns of the same length."""

    producer_ids: Sequence[int]
    first_offsets: Sequence[int]


class OpenTransactions:
    """Those that have records and no marker yet, by first offset.

    Attributes:
        first_offset: where the oldest begins; None while there is none.
    """

    __slots__ = ("_producers", "first_offset")

    def __init__(self) -> None:
        self._producers: OrderedDict[int, int] = OrderedDict()
        self.first_offset: int | None = None

    def __len__(self) -> int:
        return len(self._producers)

    def copy(self) -> OpenTransactions:
        """Others that are the same."""
        copied = OpenTransactions()
        copied._producers, copied.first_offset = self._producers.copy(), self.first_offset
        return copied

    def begin(self, first_offset: int, producer_id: int) -> None:
        """A transaction has its first record there; that is beyond those of all others."""
        self._producers[first_offset] = producer_id
        if self.first_offset is None:
            self.first_offset = first_offset

    def end(self, first_offset: int) -> None:
        """Its marker was written."""
        del self._producers[first_offset]
        if first_offset == self.first_offset:
            self.first_offset = next(iter(self._producers), None)


class AbortedTransactions:
    """What the readers of committed records are to leave out, in the order of the markers."""

    __slots__ = ("_firsts", "_lasts", "_least_firsts", "_producers", "_stable")

    def __init__(self) -> None:
        self._producers = array("q")
        self._firsts = array("q")
        self._lasts = array("q")
        self._stable = array("q")
        self._least_firsts = array("q")
        """Of each block the least first offset."""

    def __len__(self) -> int:
        return len(self._lasts)

    def copy(self) -> AbortedTransactions:
        """Others that are the same."""
        copied = AbortedTransactions()
        for name in self.__slots__:
            setattr(copied, name, getattr(self, name)[:])
        return copied

    def add(self, aborted: AbortedTransaction) -> None:
        """Its marker comes behind those of all others."""
        producer_id, first_offset, last_offset, last_stable_offset = aborted
        if len(self._lasts) % _BLOCK == 0:
            self._least_firsts.append(first_offset)
        elif first_offset < self._least_firsts[-1]:
            self._least_firsts[-1] = first_offset
        self._producers.append(producer_id)
        self._firsts.append(first_offset)
        self._lasts.append(last_offset)
        self._stable.append(last_stable_offset)

    def between(self, start: int, end: int) -> list[AbortedTransaction]:
        """Those with their marker at or behind `start` and their first record before `end`
        (TransactionIndex.collectAbortedTxns).

        Costs what the answer has, and little more for those before `start` and behind `end`.
        """
        return [self._at(index) for run in self._runs(start, end) for index in run]

    def for_reader(self, start: int, end: int) -> AbortedColumns:
        """The same, for a reader; there may be ten thousands."""
        producers, firsts = array("q"), array("q")
        for run in self._runs(start, end):
            if isinstance(run, range):
                producers += self._producers[run.start : run.stop]
                firsts += self._firsts[run.start : run.stop]
            else:
                producers.extend(self._producers[index] for index in run)
                firsts.extend(self._firsts[index] for index in run)
        return AbortedColumns(producers, firsts)

    def _runs(self, start: int, end: int) -> Iterator[range | list[int]]:
        """The indexes of what is looked for, in order."""
        firsts, stable, count = self._firsts, self._stable, len(self._lasts)
        index = bisect_left(self._lasts, start)
        while index < count:
            stop = min(count, index - index % _BLOCK + _BLOCK)
            if self._least_firsts[index // _BLOCK] < end:
                if max(firsts[index:stop]) < end:
                    yield range(index, stop)
                else:
                    yield [at for at in range(index, stop) if firsts[at] < end]
            if stable[stop - 1] >= end:  # whatever ended later began behind
                break
            index = stop

    def remove_before(self, offset: int) -> None:
        """Forget those whose marker is before `offset`: by whole blocks, nobody asks for the rest of them."""
        gone = bisect_left(self._lasts, offset) // _BLOCK
        if gone:
            del self._least_firsts[:gone]
            for column in (self._producers, self._firsts, self._lasts, self._stable):
                del column[: gone * _BLOCK]

    def keep(self, wanted: Callable[[AbortedTransaction], bool]) -> None:
        """Forget the others."""
        kept = [aborted for aborted in map(self._at, range(len(self))) if wanted(aborted)]
        self.__init__()  # type: ignore[misc]
        for aborted in kept:
            self.add(aborted)

    def _at(self, index: int) -> AbortedTransaction:
        return AbortedTransaction(self._producers[index], self._firsts[index], self._lasts[index], self._stable[index])
