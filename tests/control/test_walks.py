"""Long looks at the state leave the broker its turns."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from time import perf_counter

from kafkastub.control.walks import Walks

BIT = 0.001
STEPS = 60


def busy() -> Iterator[int | None]:
    """Sixty milliseconds of work, a thing found at each tenth step."""
    for number in range(STEPS):
        end = perf_counter() + BIT
        while perf_counter() < end:
            pass
        yield number if not number % 10 else None


async def test_others_have_their_turn_on_the_way() -> None:
    turns = 0
    going = True

    async def others() -> None:
        nonlocal turns
        while going:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    found = [one async for one in Walks().through(busy())]
    going = False
    await task
    assert found == [0, 10, 20, 30, 40, 50]
    assert turns >= STEPS // 4


async def test_many_of_them_take_turns() -> None:
    walks = Walks()

    async def walk() -> list[int]:
        return [one async for one in walks.through(iter([None, 1, None, 2]))]

    assert await asyncio.gather(*(walk() for _ in range(10))) == [[1, 2]] * 10


async def test_who_has_enough_stops() -> None:
    async for one in Walks().through(iter([None, 1, 2])):
        assert one == 1
        break
