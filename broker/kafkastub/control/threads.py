"""What takes long, beside the loop that the broker serves on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class OneAtATime:
    """Threads that follow each other: the more there are, the longer the broker's own waits until it is the next."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def run(self, work: Callable[[], T]) -> T:
        """What comes of it."""
        async with self._turn:
            return await _in_a_thread(work)


async def _in_a_thread(work: Callable[[], T]) -> T:
    """Run what takes long in a thread that ends with it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            value = work()
        except BaseException as error:
            tell, said = done.set_exception, error
            _tell(loop, done, lambda: tell(said))
        else:
            _tell(loop, done, lambda: done.set_result(value))

    threading.Thread(target=run, name="kafkastub-export", daemon=True).start()
    return await done


def _tell(loop: asyncio.AbstractEventLoop, done: asyncio.Future[Any], tell: Callable[[], None]) -> None:
    try:
        loop.call_soon_threadsafe(lambda: None if done.done() else tell())
    except RuntimeError:  # the broker has ended
        return
