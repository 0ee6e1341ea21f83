"""Who of a topic's subscribers has the fewest partitions, and who the most. Kafka: MemberAssignmentBalancer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence


class Balancer:
    """Subscribers of one topic, the ones with the fewest partitions of all topics first.

    Args:
        members: indexes of members, ascending.
        sizes: how many partitions each member has; the caller keeps it up to date.
    """

    def __init__(self, members: Iterable[int], sizes: Sequence[int]) -> None:
        self._members = sorted(members, key=sizes.__getitem__)
        self._sizes = sizes
        self._low = sizes[self._members[0]] - 1
        self._high = sizes[self._members[-1]] + 1

    @property
    def imbalance(self) -> int:
        """How many partitions lie between the most and the fewest; before anything has moved."""
        return self._sizes[self._members[-1]] - self._sizes[self._members[0]]

    @property
    def balanced(self) -> bool:
        """Whether those named by the two iterators are level, up to one partition."""
        return self._high - self._low <= 1

    def least_loaded(self) -> Iterator[int]:
        """Names without end who is to get the next partition: all that have the fewest, then those and who has so many
        as they have by then, and so on."""
        members, sizes = self._members, self._sizes
        level_until = 0
        while True:
            self._low += 1
            while level_until < len(members) and sizes[members[level_until]] == self._low:
                level_until += 1
            for at in range(level_until):
                yield members[at]

    def most_loaded(self, has: Mapping[int, Sequence[int]]) -> Iterator[int]:
        """Names who is to give the next partition, in the same way from the other end, until nobody has one to give.

        Args:
            has: the partitions of this topic that each can give; the caller takes them out.
        """
        members, sizes = self._members, self._sizes
        level_from = end = len(members)
        while end:
            if end > level_from:
                self._high -= 1
            else:
                self._high = sizes[members[level_from - 1]]
            while level_from and sizes[members[level_from - 1]] == self._high:
                level_from -= 1
            for at in range(end - 1, level_from - 1, -1):
                if has.get(members[at]):
                    yield members[at]
                else:
                    end -= 1
                    members[at], members[end] = members[end], members[at]
