"""Host names looked up beside the loop: a name server that does not answer takes seconds for each of them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

_Callback = Callable[[Mapping[str, "str | OSError"]], None]
_PATIENCE: Final = 2.0
"""Seconds for which a listener is not opened because a name is being looked up."""

_LONGEST: Final = 30.0
"""Seconds for all names of one question."""


class HostResolver:
    """One look-up at a time, in a thread that nobody waits for when the process ends."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._jobs: dict[object, tuple[Sequence[str], _Callback]] = {}
        """Those that wait, by who has asked: of one's own questions the last one counts."""
        self._busy = False
        self._idle = asyncio.Event()
        self._idle.set()

    def resolve(self, who: object, names: Sequence[str], callback: _Callback) -> None:
        """Have `callback` called, on the loop, with the first address of each name or why it has none."""
        self._jobs[who] = names, callback
        if not self._busy:
            self._next()

    async def settled(self) -> None:
        """Until everything that was asked for is known, or it takes too long."""
        if not self._busy:
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), _PATIENCE)

    def _next(self) -> None:
        if not self._jobs:
            self._busy = False
            self._idle.set()
            return
        import threading  # here: hardly anybody has names to look up

        self._busy = True
        self._idle.clear()
        who = next(iter(self._jobs))
        names, callback = self._jobs.pop(who)

        def work() -> None:
            until = time.monotonic() + _LONGEST
            found: dict[str, str | OSError] = {}
            for name in names:
                if who in self._jobs:  # it has asked for something else meanwhile
                    break
                found[name] = _address(name) if time.monotonic() < until else OSError(0, "no time was left for it")
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._done, callback, found)

        threading.Thread(target=work, name="kafkastub-names", daemon=True).start()

    def _done(self, callback: _Callback, found: Mapping[str, str | OSError]) -> None:
        try:
            callback(found)
        finally:
            self._next()


def _address(name: str) -> str | OSError:
    try:
        # as bytes: some names cannot be encoded as a host's, which is no OSError
        return str(socket.getaddrinfo(name.encode(), None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError as error:
        return error
