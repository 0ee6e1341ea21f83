"""What the members of random share groups say of records that they have acquired, right and wrong (KIP-932)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.play import Play
from kafkastub_conformance.differential.share_members import Members

GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)

NOWHERE, NO_ID = "<p>nope", "ab" * 16
"""A topic that is not there."""

Place = tuple[str, int]
"""A topic by its name, and a partition."""

Batch = tuple[int, int, list[int]]
"""First offset, last offset, types of acknowledgement."""


@dataclass
class Session:
    """A share session as its member sees it: the next epoch, its partitions, and what it has acquired."""

    group: str
    member_id: str
    on: str
    epoch: int = 1
    places: list[Place] = field(default_factory=list)
    acquired: list[tuple[Place, int, int]] = field(default_factory=list)


class Acknowledging(Members):
    """Adds what is said of records."""

    def __init__(self, play: Play, source: random.Random) -> None:
        super().__init__(play, source)
        self.handed_out: list[tuple[str, Place, int, int]] = []
        """All that was ever acquired in a group."""

    def _acknowledgements(self, session: Session) -> Iterator[tuple[Place, list[Batch]]]:
        """For some of the partitions of which something was acquired; seldom for others."""
        held: dict[Place, list[tuple[int, int]]] = {}
        for place, first, last in session.acquired:
            held.setdefault(place, []).append((first, last))
        for place in self.random.sample(list(held), self.pick((1, len(held), len(held)))) if held else ():
            ranges = sorted(held[place])
            chosen = ranges if self.chance(0.6) else [self.pick(ranges)]
            yield place, self._spoilt(place, [self._batch(*one) for one in chosen])
        if not held or self.chance(0.04):
            place = self.pick([*[one for one in session.places if one[0] != NOWHERE] * 5, (NOWHERE, 0)])
            yield place, self._spoilt(place, [self._batch(0, self.pick((0, 3)))])

    def _batch(self, first: int, last: int) -> Batch:
        """The whole of it or a part; one way for all, or each its own."""
        if self.chance(0.35):
            first = self.random.randint(first, last)
        if self.chance(0.35):
            last = self.random.randint(first, last)
        if self.chance(0.3) and last - first < 50:
            return first, last, [self._type() for _ in range(first, last + 1)]
        return first, last, [self._type()]

    def _type(self) -> int:
        return self.pick((ACCEPT, ACCEPT, ACCEPT, RELEASE, RELEASE, RELEASE, REJECT, GAP) + (RENEW,) * self.chance(0.3))

    def _spoilt(self, place: Place, batches: list[Batch]) -> list[Batch]:
        """Mostly as they are; or what was acquired by others or before, and what is no acknowledgement."""
        if self.chance(0.82):
            return batches
        first, last, types = batches[0]
        others = [(one, other) for _, at, one, other in self.handed_out if at == place] or [(0, 1)]
        other = self.pick(others)
        wrong: tuple[list[Batch], ...] = (
            [(*other, [ACCEPT])],
            [(*other, [RELEASE])],
            [(first, last + self.pick((1, 5, 100)), [ACCEPT])],
            [(max(0, first - self.pick((1, 3))), last, [ACCEPT])],
            [(10**6, 10**6 + 4, [ACCEPT])],
            [*batches, *batches],
            batches[::-1],
            [(last + 1, first, types)],
            [(first, last, [])],
            [(first, last, [self.pick((5, -1, 127))])],
            [(first, last, [ACCEPT] * (last - first + 2))],
            [(-3, -1, [ACCEPT])],
            [(first, 2**62, [ACCEPT])],
            [],
        )
        return self.pick(wrong)

    def _learn_acknowledged(self, session: Session, answer: Json, topics: dict[Place, list[Batch]], error: str) -> None:
        failed = {(topic, one.get("partition_index", 0)) for topic, one in self._rows(answer) if one.get(error)}
        for place, batches in topics.items():
            if place in failed:
                continue
            for first, last, types in batches:
                if RENEW not in types and first <= last:
                    session.acquired = list(_without(session.acquired, place, first, last))

    def _rows(self, answer: Json) -> Iterator[tuple[str, Json]]:
        """The partitions of an answer with the names of their topics."""
        for topic in answer.get("responses", ()):
            name = topic.get("topic_id", "").removeprefix("<topic ").removesuffix(">").replace("p.", "<p>", 1)
            name = NOWHERE if name == NO_ID else name
            for one in topic.get("partitions", ()):
                yield name, one


def _without(
    acquired: list[tuple[Place, int, int]], place: Place, first: int, last: int
) -> Iterator[tuple[Place, int, int]]:
    """What is left of it."""
    for at, begin, end in acquired:
        if at != place or end < first or last < begin:
            yield at, begin, end
            continue
        if begin < first:
            yield at, begin, first - 1
        if last < end:
            yield at, last + 1, end
