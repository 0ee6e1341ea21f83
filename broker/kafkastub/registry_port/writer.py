"""A request that is worked on in a thread, and writes on the loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable
from typing import TypeVar

from kafkastub.registry.records import Record
from kafkastub.registry_port.kept import KeptRegistry

T = TypeVar("T")


class Overtaken(Exception):
    """Somebody has written meanwhile: what was found out may not be so any more."""


class Writer:
    """Made on the loop; the thread calls `run` with its work."""

    def __init__(self, kept: KeptRegistry) -> None:
        self._kept = kept
        self._seen = kept.seen
        self._loop = asyncio.get_running_loop()
        self._thread: int | None = None

    @property
    def is_here(self) -> bool:
        return threading.get_ident() == self._thread

    def run(self, work: Callable[[], T]) -> T:
        """In the thread. Raises what the work does, Overtaken."""
        self._thread = threading.get_ident()
        return work()

    def write(self, records: list[Record]) -> None:
        """In the thread, which waits for it. Raises RegistryError, Overtaken."""
        done: concurrent.futures.Future[None] = concurrent.futures.Future()

        def write() -> None:
            try:
                self._kept.read_on()  # the thread, which looks at it as well, waits here
                if self._kept.seen != self._seen:
                    raise Overtaken
                if records:
                    self._kept.write(records)
            except BaseException as error:
                done.set_exception(error)
            else:
                done.set_result(None)

        self._loop.call_soon_threadsafe(write)
        done.result()
