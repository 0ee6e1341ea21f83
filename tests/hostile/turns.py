"""The longest turn of a broker's loop, in processor time: what the machine does beside it does not count.

`python -m tests.hostile.turns FILE serve …` is `kafkastub serve` on a loop that keeps, in a file, how long its longest
turn was: whatever comes meanwhile waits so long. With `TURNS_EXPLAINED=1` it says on standard error where the time of
each long one went.
"""

from __future__ import annotations

import asyncio
import collections
import mmap
import os
import struct
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import FrameType, TracebackType
from typing import Final, Self

from tests.hostile.machine import machine
from tests.process.serving import Controlled

_LONG_NS: Final = 10_000_000
_TICK_SECONDS: Final = 0.001
_EXPLAINED: Final = "TURNS_EXPLAINED"


class Ticks:
    """A timer that keeps, in the first eight bytes of `kept`, the most processor time between two of its ticks, in ns.

    While nothing is done none passes.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, kept: mmap.mmap) -> None:
        self.count = 0
        self._loop = loop
        self._kept = kept
        self._before = time.thread_time_ns()
        self._explainer = Explainer(self) if os.environ.get(_EXPLAINED) else None
        loop.call_soon(self._tick)

    def _tick(self) -> None:
        took = time.thread_time_ns() - self._before
        if took > struct.unpack_from("q", self._kept)[0]:
            struct.pack_into("q", self._kept, 0, took)
        if took > _LONG_NS and self._explainer is not None:
            self._explainer.explain(took)
        self.count += 1
        self._loop.call_later(_TICK_SECONDS, self._tick)
        self._before = time.thread_time_ns()


class Explainer:
    """Looks every millisecond at where the loop's thread is."""

    def __init__(self, ticks: Ticks) -> None:
        self._ticks = ticks
        self._seen: list[tuple[int, tuple[str, ...]]] = []
        self._thread_id = threading.get_ident()
        sys.setswitchinterval(0.0005)
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while True:
            time.sleep(0.001)
            frame: FrameType | None = sys._current_frames().get(self._thread_id)
            lines: list[str] = []
            while frame is not None and len(lines) < 8:
                code = frame.f_code
                lines.append(f"{Path(code.co_filename).stem}:{frame.f_lineno} {code.co_name}")
                frame = frame.f_back
            self._seen.append((self._ticks.count, tuple(lines)))
            del self._seen[:-5000]

    def explain(self, took: int) -> None:
        here = collections.Counter(lines for turn, lines in self._seen if turn == self._ticks.count)
        print(f"a turn of {took / 1e6:.0f} ms", file=sys.stderr)
        for lines, count in here.most_common(3):
            print(f"  {count}: {' < '.join(lines)}", file=sys.stderr, flush=True)


class Measured(Controlled):
    """A running `kafkastub serve` that is measured."""

    def __init__(self, *args: str) -> None:
        self._file = tempfile.NamedTemporaryFile()  # noqa: SIM115 - closed with the process
        self._file.write(bytes(8))
        self._file.flush()
        self._kept = mmap.mmap(self._file.fileno(), 8)
        super().__init__(*args)

    def command(self) -> list[str | Path]:
        return [sys.executable, "-m", "tests.hostile.turns", self._file.name]

    def __enter__(self) -> Self:
        super().__enter__()
        self._since = time.perf_counter()
        machine().watch(1)
        for _ in range(2):  # behind these the turn is over in which it got ready
            self.metadata()
        self.longest_ms()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        machine().watch(-1)
        super().__exit__(kind, error, trace)
        self._kept.close()
        self._file.close()

    def longest_ms(self) -> float:
        """The longest turn since this was asked last, in ms of processor time on a machine that does nothing else."""
        (found,) = struct.unpack("q", self._kept)
        took = machine().quiet_ms(self._since, found / 1e6)
        struct.pack_into("q", self._kept, 0, 0)
        self._since = time.perf_counter()
        return took


def main(file: str, *arguments: str) -> int:
    from kafkastub import cli
    from kafkastub.server import loops

    with Path(file).open("r+b") as opened:
        kept = mmap.mmap(opened.fileno(), 8)
    new_event_loop = loops.new_event_loop

    def measured() -> asyncio.AbstractEventLoop:
        loop = new_event_loop()
        Ticks(loop, kept)
        return loop

    loops.new_event_loop = measured
    return cli.main(arguments)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
