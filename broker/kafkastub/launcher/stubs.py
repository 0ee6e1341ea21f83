"""All stubs of a launcher, by id."""

from __future__ import annotations

import asyncio
import itertools
import time
from typing import Any, NamedTuple

from kafkastub.control.problems import Problem
from kafkastub.launcher.options import StubOptions
from kafkastub.launcher.running import RunningStub


class Kept(NamedTuple):
    """A stub that runs."""

    id: str
    stub: RunningStub
    started_in_ms: float


class Stubs:
    """Starts and ends them. All of it belongs to the thread of the launcher's loop."""

    def __init__(self, log: Any, token: str, most: int) -> None:
        """`token` is what changes at their control ports need, `most` how many may run at a time."""
        self.most = most
        self._log = log
        self._token = token
        self._numbers = itertools.count(1)
        self._kept: dict[str, Kept] = {}
        self._starting = 0

    def __len__(self) -> int:
        return len(self._kept)

    def all(self) -> list[Kept]:
        """In the order in which they were started."""
        return list(self._kept.values())

    def find(self, stub_id: str) -> Kept:
        """Raises Problem where there is none."""
        kept = self._kept.get(stub_id)
        if kept is None:
            raise Problem(404, f"there is no stub {stub_id!r}: it was ended, or never started")
        return kept

    async def start(self, options: StubOptions) -> Kept:
        """Raises Problem for what cannot be had."""
        if len(self._kept) + self._starting >= self.most:
            raise Problem(
                429, f"{self.most} stubs run already: end some, or start the launcher with a larger --most-stubs"
            )
        begun = time.perf_counter()
        stub = RunningStub(options, self._token, self._log)
        self._starting += 1
        try:
            await stub.start()
        finally:
            self._starting -= 1
        kept = Kept(f"stub-{next(self._numbers)}", stub, round((time.perf_counter() - begun) * 1000, 1))
        self._kept[kept.id] = kept
        return kept

    async def end(self, stub_id: str) -> None:
        """Returns when its sockets are gone. Raises Problem where there is none."""
        kept = self.find(stub_id)
        del self._kept[stub_id]
        await kept.stub.close()

    async def end_all(self) -> None:
        """The launcher's own end."""
        kept, self._kept = self.all(), {}
        await asyncio.gather(*(one.stub.close() for one in kept), return_exceptions=True)
