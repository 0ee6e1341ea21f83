"""Which nodes get the replicas of new partitions (Kafka: ``StripedReplicaPlacer``).

Racks take turns, and so do the nodes of each rack, from a random start. A partition's first replica is on a living
node, the others on living ones before dead ones, each rack once before any rack twice.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import NamedTuple


class Candidate(NamedTuple):
    """A node that replicas can be placed on; one that does not live is only taken where there is no other."""

    node_id: int
    rack: str | None
    alive: bool


class _Ring:
    """Nodes that are dealt out in turn; each round begins one further."""

    def __init__(self, node_ids: Iterable[int], source: random.Random) -> None:
        self._ids = sorted(node_ids)
        self._first = source.randrange(len(self._ids)) if self._ids else 0
        self._dealt = 0
        self._round = 0

    def next(self, number: int) -> int | None:
        """The next node of this round, None where all have been dealt out."""
        if not self._ids:
            return None
        if self._round != number:
            self._round, self._dealt = number, 0
            self._first = (self._first + 1) % len(self._ids)
        if self._dealt == len(self._ids):
            return None
        self._dealt += 1
        return self._ids[(self._first + self._dealt - 1) % len(self._ids)]

    def shuffle(self, source: random.Random) -> None:
        source.shuffle(self._ids)


class _Rack:
    def __init__(self, nodes: list[Candidate], source: random.Random) -> None:
        self.dead = _Ring((node.node_id for node in nodes if not node.alive), source)
        self.living = _Ring((node.node_id for node in nodes if node.alive), source)

    def next(self, number: int) -> int | None:
        node_id = self.living.next(number)
        return self.dead.next(number) if node_id is None else node_id


def place(
    nodes: Iterable[Candidate], partitions: int, replication_factor: int, source: random.Random
) -> list[list[int]]:
    """The replicas of so many partitions. At least one node lives, and there are as many nodes as replicas."""
    candidates = list(nodes)
    if len(candidates) == 1:
        return [[candidates[0].node_id]] * partitions
    by_rack: dict[str | None, list[Candidate]] = {}
    for one in candidates:
        by_rack.setdefault(one.rack, []).append(one)
    names = sorted(by_rack, key=lambda name: (name is not None, name or ""))
    racks = [_Rack(by_rack[name], source) for name in names]
    alive = sum(one.alive for one in candidates)
    first, number = source.randrange(len(racks)), 0
    placed = []
    for _ in range(partitions):
        if number == alive and alive > 1:  # every node has been first once: the same again would be no spread
            source.shuffle(racks)
            for rack in racks:
                rack.living.shuffle(source)
                rack.dead.shuffle(source)
            number = 0
        placed.append(_replicas(racks, first, number, replication_factor))
        number += 1
        first = (first + 1) % len(racks)
    return placed


def _replicas(racks: list[_Rack], first: int, number: int, replication_factor: int) -> list[int]:
    at: int | None = first
    leader = None
    while leader is None:
        assert at is not None
        leader = racks[at].living.next(number)
        if leader is None:
            at = (at + 1) % len(racks)
    replicas = [leader]
    turn = first
    while len(replicas) < replication_factor:
        if turn == at:
            at = None  # it has had its turn in this round
        else:
            node_id = racks[turn].next(number)
            if node_id is not None:
                replicas.append(node_id)
        turn = (turn + 1) % len(racks)
    return replicas
