"""Clients that do the same again and again, each in a thread, and moments at which none is owed anything."""

from __future__ import annotations

import contextlib
import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

REST_SECONDS: Final = 0.5
"""Between two steps of a client: all together take a third of a processor."""
SETTLE_SECONDS: Final = 240.0
"""Within which a client that meets no faults any more has everything that it is owed."""
_MOST_ERRORS: Final = 40


class Stubborn(AssertionError):
    """Clients that do not come to an end; the text says which, and what they are owed."""


class Working(ABC, threading.Thread):
    """A client that works until it is stopped, and is made again when it fails.

    What the broker has acknowledged and has not yet come back is in `owed`. A client that is not owed anything and is
    asked to pause begins nothing new.

    Attributes:
        done: the records that came back.
        failures: how often it was made again; faults are supposed to cause some.
        wrong: what must not happen, in sentences.
    """

    def __init__(self, name: str, rest: float = REST_SECONDS) -> None:
        super().__init__(name=name, daemon=True)
        self.owed: set[str] = set()
        self.done = 0
        self.failures = 0
        self.wrong: list[str] = []
        self.errors: Counter[str] = Counter()
        self._rest = rest
        self._number = 0
        self._over = threading.Event()
        self._paused = threading.Event()
        self._idle = threading.Event()
        self.moved = time.monotonic()
        """When something came back last."""

    # -- what a client does, in its thread

    @abstractmethod
    def begin(self) -> None:
        """Send something new. What is acknowledged becomes owed."""

    @abstractmethod
    def go_on(self) -> None:
        """Look for what is owed, for a moment."""

    @abstractmethod
    def open(self) -> None:
        """Make the clients."""

    @abstractmethod
    def close(self) -> None:
        """Close what was opened."""

    def values(self, count: int) -> list[str]:
        """New ones, each other than all before."""
        self._number += count
        return [f"{self.name}/{number}" for number in range(self._number - count, self._number)]

    def came(self, value: str) -> None:
        """A record was read."""
        if value in self.owed:
            self.owed.remove(value)
            self.done += 1
            self.moved = time.monotonic()

    def run(self) -> None:
        opened = False
        while not self._over.is_set():
            try:
                if not opened:
                    self.open()
                    opened = True
                self._step()
            except Exception as error:
                self.failures += 1
                self._note(error)
                with contextlib.suppress(Exception):
                    self.close()
                opened = False
                self._over.wait(0.5)
        with contextlib.suppress(Exception):
            self.close()

    def _step(self) -> None:
        if not self.owed:
            if self._paused.is_set():
                self._idle.set()
                self._over.wait(0.1)
                self.at_rest()
                return
            self.begin()
        self.go_on()
        self._over.wait(self._rest)

    def at_rest(self) -> None:
        """In a pause: what keeps a member in its group."""

    def _note(self, error: Exception) -> None:
        where = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__} in {where.name}: {str(error)[:150]}"
        if len(self.errors) < _MOST_ERRORS or text in self.errors:
            self.errors[text] += 1

    # -- in the thread that controls it

    def pause(self) -> None:
        self._idle.clear()
        self._paused.set()

    def resume(self) -> None:
        self._paused.clear()

    def idle(self) -> bool:
        return self._idle.is_set() or not self.is_alive()

    def stop(self) -> None:
        self._over.set()


@contextlib.contextmanager
def at_rest(clients: Sequence[Working]) -> Iterator[None]:
    """Nobody is owed anything, and nobody begins anything, until the end of the block. Raises Stubborn."""
    for one in clients:
        one.pause()
    try:
        deadline = time.monotonic() + SETTLE_SECONDS
        while left := [one for one in clients if not one.idle()]:
            if time.monotonic() > deadline:
                raise Stubborn("; ".join(owed_text(one) for one in left))
            threading.Event().wait(0.05)
        yield
    finally:
        for one in clients:
            one.resume()


def owed_text(client: Working) -> str:
    what = ", ".join(sorted(client.owed)[:5])
    return f"{client.name} is owed {len(client.owed)} acknowledged records ({what}); it met {dict(client.errors)}"
