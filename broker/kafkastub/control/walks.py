"""Long looks at the broker's state, bit by bit: between two bits the broker serves."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from itertools import islice
from time import perf_counter
from typing import Final, TypeVar

T = TypeVar("T")
K = TypeVar("K")

_BIT_SECONDS: Final = 0.002
"""After so long whoever looks lets the broker serve: 20 entries of the journal are told meanwhile, or one large one."""
_SOME: Final = 128
"""Things that are counted in one go."""


class Turns:
    """Of those who look at much: one of them works at a time, so that ten keep a client waiting no longer than one."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._until = 0.0
        """When the one who works is to let others have their turn."""

    @property
    def is_over(self) -> bool:
        """Whether the broker has waited for a while."""
        return perf_counter() >= self._until

    async def pause(self) -> None:
        """Let the broker serve where it has waited for a while."""
        if self.is_over:
            await self.next()

    async def next(self) -> None:
        """Let the broker serve, and the others."""
        async with self._lock:
            await asyncio.sleep(0)
        self._until = perf_counter() + _BIT_SECONDS


class Walks:
    """Long looks that are under way."""

    def __init__(self) -> None:
        self._turns = Turns()

    async def through(self, steps: Iterator[T | None]) -> AsyncIterator[T]:
        """What comes of it. None is where it may pause."""
        turns = self._turns
        await turns.next()
        for step in steps:
            if step is not None:
                yield step
            if turns.is_over:  # there are very many steps
                await turns.next()

    async def counted(self, found: Iterable[T], kind: Callable[[T], K]) -> Counter[K]:
        """How many there are of each kind."""
        there = list(found)
        rest, counts = iter(there), Counter[K]()
        async for some in self.through(map(kind, islice(rest, _SOME)) for _ in range(0, len(there), _SOME)):
            counts.update(some)
        return counts
