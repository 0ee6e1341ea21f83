"""Sets of partitions that iterate as Java's do.

A target is written into its record in the order in which Kafka's set iterates, read from there into a new set, and
whose partition goes when a member has too many follows from that set's order. A `frozenset` has an order of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from kafkawire.java_order import hash_map_order, spread, uuid_hash

_TREES_FROM = 64
"""Buckets from which on a `HashMap` makes a crowded bucket a tree; below it makes more buckets."""
_CROWDED = 8


class PartitionSet(frozenset[int]):
    """A `frozenset` that iterates in the order in which it was given its partitions, which are distinct.

    What set operations make of it is a `frozenset` again.
    """

    __slots__ = ("_order",)
    _order: tuple[int, ...]

    def __new__(cls, order: Iterable[int]) -> PartitionSet:
        order = tuple(order)
        made = super().__new__(cls, set(order))  # of a set it is made in half the memory
        made._order = order
        return made

    def __iter__(self) -> Iterator[int]:
        return iter(self._order)

    def __reduce__(self) -> tuple[type[PartitionSet], tuple[tuple[int, ...]]]:
        return PartitionSet, (self._order,)


def iteration_order(partitions: frozenset[int]) -> Collection[int]:
    """The order that a set was given; ascending where it was given none."""
    return partitions._order if isinstance(partitions, PartitionSet) else sorted(partitions)


def of_record(partitions: Collection[int]) -> PartitionSet:
    """The set that Kafka makes of a record's partitions: `new HashSet<>(list)`."""
    return PartitionSet(java_order(dict.fromkeys(partitions), table_for(len(partitions))))


def written_and_read(partitions: frozenset[int]) -> frozenset[int]:
    """The set that is read from the record that this one is written to: itself, where the order stays."""
    order = iteration_order(partitions)
    read = java_order(dict.fromkeys(order), table_for(len(partitions)))
    same = isinstance(partitions, PartitionSet) and tuple(read) == order
    return partitions if same else PartitionSet(read)


def table_for(count: int) -> int:
    """The buckets of a `HashSet` that was made from a collection of so many."""
    return power_of_two(max(int(count / 0.75) + 1, 16))


def power_of_two(capacity: int) -> int:
    """The buckets of a `HashMap` that was made for this capacity."""
    return 1 << max(capacity - 1, 0).bit_length()


def java_order(partitions: Collection[int], table: int) -> Collection[int]:
    """Partitions in the order of a `HashSet` with at least `table` buckets, to which they were added in this order."""
    count = len(partitions)
    while count > table * 3 // 4:
        table *= 2
    if count < 2:
        return partitions
    if max(partitions) < table:
        return sorted(partitions)
    if table < _TREES_FROM and count > _CROWDED:
        table = _uncrowded(partitions, table)
    mask = table - 1
    return sorted(partitions, key=lambda partition: spread(partition) & mask)


def _uncrowded(partitions: Collection[int], table: int) -> int:
    """How many buckets there are in the end, as each that becomes crowded doubles them."""
    added: list[int] = []
    counts: dict[int, int] = {}
    for partition in partitions:
        added.append(spread(partition))
        bucket = added[-1] & table - 1
        counts[bucket] = counts.get(bucket, 0) + 1
        if counts[bucket] > _CROWDED and table < _TREES_FROM:
            table *= 2
            counts = {}
            for bits in added:
                counts[bits & table - 1] = counts.get(bits & table - 1, 0) + 1
    return table


class Growing:
    """A `HashSet` to which is added and from which is taken.

    Args:
        partitions: what it has from the start, in its order.
        table: so many buckets.
    """

    __slots__ = ("_most", "_table", "partitions")

    def __init__(self, partitions: Iterable[int] = (), table: int = 16) -> None:
        self.partitions = dict.fromkeys(partitions)
        self._table = table
        self._most = len(self.partitions)

    def add(self, partitions: Iterable[int]) -> None:
        """More, one after the other."""
        self.partitions.update(dict.fromkeys(partitions))
        self._most = max(self._most, len(self.partitions))

    def remove(self, partitions: Iterable[int]) -> None:
        """No more."""
        for partition in partitions:
            self.partitions.pop(partition, None)

    def frozen(self) -> frozenset[int]:
        """What it has now, in the order in which it iterates."""
        table = self._table
        while self._most > table * 3 // 4:
            table *= 2
        return PartitionSet(java_order(self.partitions, table))


def copy_of(partitions: frozenset[int]) -> Growing:
    """A `HashSet` made from another one."""
    return Growing(iteration_order(partitions), table_for(len(partitions)))


def topics_in_order(topic_ids: Iterable[bytes]) -> list[bytes]:
    """Topic ids in the order of a `HashMap` by `Uuid`."""
    return hash_map_order((uuid_hash(topic_id), topic_id) for topic_id in topic_ids)


def with_epochs(partitions: Sequence[int], epochs: Sequence[int] | None, otherwise: int) -> dict[int, int]:
    """Partitions with the epochs in which a member was given them, as a record tells them.

    Where it has not as many epochs as partitions, `otherwise` stands for them.
    """
    if epochs is None or len(epochs) != len(partitions):
        epochs = [otherwise] * len(partitions)
    return dict(zip(partitions, epochs, strict=True))
