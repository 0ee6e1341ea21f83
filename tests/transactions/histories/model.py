"""What was written and what came of it, as far as producers were told; and what a reader may find then.

Every value is written once in a history, so that a record says which transaction it is of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from tests.transactions.histories.world import COMPACTED

Partition = tuple[str, int]


class Found(NamedTuple):
    """A batch of a log. `commits`: for a marker, whether it does. `rows`: offsets and values."""

    producer_id: int
    commits: bool | None
    offset: int
    end: int
    transactional: bool
    rows: list[tuple[int, bytes]]


class Told(Enum):
    """What the broker said to something."""

    REFUSED = auto()
    NOTHING = auto()
    DONE = auto()


@dataclass(eq=False)
class Transaction:
    """One, as its producer sees it.

    Attributes:
        commit: what was said to its end, if a commit was asked for.
        outcomes: of its markers that were seen: whether they commit.
    """

    name: str
    commit: Told = Told.REFUSED
    outcomes: set[bool] = field(default_factory=set)


@dataclass(eq=False)
class Written:
    """Values that were written together. `offset` is of the first."""

    partition: Partition
    values: list[bytes]
    keys: list[bytes]
    transaction: Transaction | None
    told: Told = Told.NOTHING
    offset: int = -1


@dataclass(eq=False)
class OffsetCommitted:
    """A commit of an offset, in the order in which they were asked for."""

    group: str
    partition: Partition
    offset: int
    transaction: Transaction | None
    told: Told = Told.NOTHING


@dataclass
class Log:
    """A partition's log, as one finds it.

    Attributes:
        stable: what was committed, with offsets: what a reader may have.
        pending: by producer id, what its open transaction has written.
        aborted: (producer id, first offset, offset of the marker).
        end: the offset of what comes next.
    """

    stable: list[tuple[int, bytes]] = field(default_factory=list)
    pending: dict[int, list[tuple[int, bytes]]] = field(default_factory=dict)
    aborted: list[tuple[int, int, int]] = field(default_factory=list)
    end: int = 0

    @property
    def last_stable_offset(self) -> int:
        return min((rows[0][0] for rows in self.pending.values()), default=self.end)

    @property
    def visible(self) -> list[bytes]:
        """What a reader of committed records finds now."""
        limit = self.last_stable_offset
        return [value for offset, value in sorted(self.stable) if offset < limit]


class Model:
    """All that was asked in a history."""

    def __init__(self) -> None:
        self.written: dict[bytes, tuple[Written, int]] = {}
        self.offsets: list[OffsetCommitted] = []
        self._count = 0

    def write(self, partition: Partition, keys: list[bytes], transaction: Transaction | None) -> Written:
        """Something new, before it is known what the broker says; a record of each key."""
        self._count += 1
        name = transaction.name if transaction else "plain"
        values = [f"{name}-{self._count}-{i}".encode() for i in range(len(keys))]
        one = Written(partition, values, keys, transaction)
        self.written |= {value: (one, i) for i, value in enumerate(one.values)}
        return one

    def commit_offset(self, group: str, partition: Partition, transaction: Transaction | None) -> OffsetCommitted:
        self._count += 1
        one = OffsetCommitted(group, partition, self._count, transaction)
        self.offsets.append(one)
        return one

    def forget(self, topic: str) -> None:
        """It was deleted."""
        self.written = {value: one for value, one in self.written.items() if one[0].partition[0] != topic}
        self.offsets = [one for one in self.offsets if one.partition[0] != topic]

    def look_at(self, partition: Partition, batches: Iterator[Found]) -> Log:
        """Read a log, and hold it against what was told. Raises AssertionError."""
        log, seen, ended = Log(), set[bytes](), set[Transaction]()
        for producer_id, commits, offset, end, transactional, rows in batches:
            log.end = end
            if commits is not None:
                over = log.pending.pop(producer_id, [])
                for _, value in over:
                    ended.add(self._ends(value, commits))
                if over and commits:
                    log.stable += over
                elif over:
                    log.aborted.append((producer_id, over[0][0], offset))
                continue
            for at, value in rows:
                assert value not in seen, f"{value!r} is twice in {partition}"
                seen.add(value)
                self._is_where_told(partition, value, at, transactional)
                assert self.written[value][0].transaction not in ended, f"{value!r} comes behind its marker"
            if not transactional:
                log.stable += rows
            elif rows:
                log.pending.setdefault(producer_id, []).extend(rows)
        for value in self._lasting(partition):
            assert value in seen, f"{value!r} was acknowledged and is not in {partition}"
        return log

    def _lasting(self, partition: Partition) -> Iterator[bytes]:
        """The acknowledged values that have to be in a log: all, or of what is compacted those that nothing follows."""
        last: dict[bytes, tuple[int, bytes]] = {}
        for value, (one, number) in self.written.items():
            if one.partition != partition or one.told is not Told.DONE:
                continue
            transaction = one.transaction
            if partition[0] != COMPACTED:
                yield value
            elif transaction is None or transaction.commit is Told.DONE or True in transaction.outcomes:
                last[one.keys[number]] = max((one.offset + number, value), last.get(one.keys[number], (-1, b"")))
        yield from (value for _, value in last.values())

    def _is_where_told(self, partition: Partition, value: bytes, offset: int, transactional: bool) -> None:
        one, number = self.written[value]
        assert one.partition == partition
        assert one.told is not Told.REFUSED, f"{value!r} was refused and is in {partition}"
        assert one.told is Told.NOTHING or one.offset + number == offset, f"{value!r} is at {offset} of {partition}"
        assert transactional == (one.transaction is not None)

    def _ends(self, value: bytes, commits: bool) -> Transaction:
        transaction = self.written[value][0].transaction
        assert transaction is not None
        transaction.outcomes.add(commits)
        assert len(transaction.outcomes) == 1, f"the transaction of {value!r} is committed here, aborted there"
        assert commits or transaction.commit is not Told.DONE, f"the acknowledged commit of {value!r} is an abort"
        assert not commits or transaction.commit is not Told.REFUSED, f"nobody has committed {value!r}"
        return transaction

    def may_be_committed(self, group: str, partition: Partition, settled: bool) -> tuple[set[int], bool]:
        """The offsets that a group may be found at, -1 for none; and whether one of them may be pending."""
        sure, possible, pending = -1, set[int](), False
        for one in self.offsets:
            if (one.group, one.partition) != (group, partition) or one.told is Told.REFUSED:
                continue
            transaction = one.transaction
            if transaction is None:
                certain, could = one.told is Told.DONE, True
            else:
                committed = transaction.commit is Told.DONE or True in transaction.outcomes
                certain = settled and committed and one.told is Told.DONE
                could = committed or (transaction.commit is Told.NOTHING and False not in transaction.outcomes)
                pending = pending or not settled
            if certain:
                sure = one.offset
                possible.clear()
            elif could:
                possible.add(one.offset)
        return possible | {sure}, pending
