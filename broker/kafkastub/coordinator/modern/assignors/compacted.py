"""Tasks by subtopology, in the order of Kafka's maps. Kafka: StickyTaskAssignor.toCompactedTaskIds.

A member's tasks are collected into a set, from there into a map by subtopology, and that is copied twice. Where two
subtopologies share a bucket of the map, which one comes first follows from all of this.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from kafkastub.coordinator.modern.computed_order import computed_order
from kafkawire.java_order import hash_map_order, spread, string_hash, string_map_order


class Compaction:
    """Makes maps of tasks that are numbers.

    Args:
        subtopologies: ids, each with how many tasks it has; their numbers follow one another.
        computes: as since 4.4; before, the first map was filled with `putIfAbsent`, and copied once.
    """

    __slots__ = ("_computes", "_firsts", "_hashes", "_ids")

    def __init__(self, subtopologies: Sequence[tuple[str, int]], computes: bool = True) -> None:
        self._computes = computes
        self._ids = [i for i, count in subtopologies if count]
        self._firsts: list[int] = []
        first = 0
        for _, count in subtopologies:
            if count:
                self._firsts.append(first)
            first += count
        self._hashes = [string_hash(i) for i in self._ids]

    def of(self, tasks: Sequence[int]) -> dict[str, frozenset[int]]:
        """Subtopology id to partitions.

        Args:
            tasks: in the order in which they were given, each once.
        """
        ids, firsts = self._ids, self._firsts
        found: dict[int, list[int]] = {}
        for task in tasks:
            at = bisect_right(firsts, task) - 1
            found.setdefault(at, []).append(task - firsts[at])
        order = list(found) if len(found) < 2 else self._order(tasks, list(found))
        return {ids[at]: frozenset(found[at]) for at in order}

    def _order(self, tasks: Sequence[int], found: list[int]) -> list[int]:
        """Subtopologies as they come out of the last of the maps."""
        hashes = self._hashes
        count = len(found)
        buckets = {spread(hashes[at]) & 15 for at in found} if count <= 12 else ()
        if len(buckets) < count or not self._computes:
            found = self._first_put(tasks)
            by_id = {self._ids[at]: at for at in found}
            copied = string_map_order(by_id, int(count / 0.75 + 1))
            return [by_id[i] for i in (string_map_order(copied) if self._computes else copied)]
        return sorted(found, key=lambda at: spread(hashes[at]) & 15)

    def _first_put(self, tasks: Sequence[int]) -> list[int]:
        """Subtopologies as they come out of the first map."""
        firsts, hashes = self._firsts, self._hashes
        at_task = [bisect_right(firsts, task) - 1 for task in tasks]
        keys = ((31 * hashes[at] + task - firsts[at] & 0xFFFFFFFF, at) for at, task in zip(at_task, tasks, strict=True))
        in_set = hash_map_order(keys)
        if self._computes:
            return computed_order((hashes[at], at) for at in in_set)
        return hash_map_order((hashes[at], at) for at in dict.fromkeys(in_set))
