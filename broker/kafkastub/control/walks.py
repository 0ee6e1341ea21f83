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
"""After so long whoever looks lets the broker serve."""
_SOME: Final = 128
"""Things that are counted in one go."""


class Walks:
    """Those that are under way: one of them works at a time, so that ten keep a client waiting no longer than one."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def through(self, steps: Iterator[T | None]) -> AsyncIterator[T]:
        """What comes of it. None is where it may pause."""
        until = await self._next_turn()
        for step in steps:
            if step is not None:
                yield step
            if perf_counter() >= until:
                until = await self._next_turn()

    async def counted(self, found: Iterable[T], kind: Callable[[T], K]) -> Counter[K]:
        """How many there are of each kind."""
        there = list(found)
        rest, counts = iter(there), Counter[K]()
        async for some in self.through(map(kind, islice(rest, _SOME)) for _ in range(0, len(there), _SOME)):
            counts.update(some)
        return counts

    async def _next_turn(self) -> float:
        async with self._turn:
            await asyncio.sleep(0)
        return perf_counter() + _BIT_SECONDS
