"""Compressed batches unpacked without holding up others: what is large in a thread of its own, one at a time.

The codecs let go of the interpreter while they work. One batch at a time is the bound of memory: 32 KB of zstd can
stand for a gigabyte, and any number of clients may ask for such batches at once.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import Final, TypeVar

from kafkastub.steps import Steps
from kafkawire.records import TooMuchUnpacked, decompress

Buffer = bytes | bytearray | memoryview
R = TypeVar("R")

A_TURN: Final = 1 << 30
"""More than anybody does at once: others have their turn now."""
_IN_PLACE: Final = 1 << 20
"""Bytes that are unpacked at once; a millisecond."""
_MOMENT_SECONDS: Final = 0.001


class _Job:
    """What a thread does, and came to. `over` is told once nobody waits any more and the thread has ended."""

    def __init__(self, work: Callable[[], Buffer], over: Callable[[], None]) -> None:
        self.done = Event()
        self._over = over
        self._work = work
        self._lock = Lock()
        self._left = False
        self._result: Buffer | None = None
        self._failure: Exception | None = None
        Thread(target=self._run, name="kafkastub-unpack", daemon=True).start()

    def _run(self) -> None:
        try:
            self._result = self._work()
        except Exception as failure:
            self._failure = failure.with_traceback(None)  # whose frames have what was unpacked so far
        with self._lock:
            self.done.set()
            left = self._left
        if left:
            self._result = None
            self._over()

    def result(self) -> Buffer:
        """Raises what the work raised."""
        if self._failure is not None:
            raise self._failure
        assert self._result is not None
        return self._result

    def leave(self) -> None:
        """Nobody wants the result any more."""
        with self._lock:
            self._left = True
            ended = self.done.is_set()
        if ended:
            self._result = None
            self._over()


class Unpacker:
    """A broker's: whoever looks into stored batches asks the same one."""

    def __init__(self) -> None:
        self._busy = False

    def with_records(
        self, codec: int, payload: bytes | memoryview, use: Callable[[Buffer], Steps[R]], most: int | None = None
    ) -> Steps[R]:
        """Do what `use` does with the records' bytes, which are gone behind it. Errors as of `decompress`."""
        if not codec:
            return (yield from use(payload))
        try:
            records = decompress(codec, payload, _IN_PLACE if most is None else min(most, _IN_PLACE))
        except TooMuchUnpacked:
            if most is not None and most <= _IN_PLACE:
                raise
        else:
            return (yield from use(records))
        return (yield from self.beside(lambda: decompress(codec, payload, most), use))

    def beside(self, work: Callable[[], Buffer], use: Callable[[Buffer], Steps[R]]) -> Steps[R]:
        """The same with what any work gives that lets go of the interpreter."""
        while self._busy:
            yield A_TURN
        self._busy = True
        job = _Job(work, self._free)
        try:
            while not job.done.wait(_MOMENT_SECONDS):
                yield A_TURN
            return (yield from use(job.result()))
        finally:
            job.leave()

    def _free(self) -> None:
        self._busy = False
