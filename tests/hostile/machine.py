"""What else the machine does while something is measured: a process that does a known piece of work again and again.

Two processors of a virtual machine are shared with others. For a tenth of a second they give nothing now and then, and
for minutes they give half. A broker cannot be blamed for either, and none of it shows in the broker's own figures:
its processor time goes on while the machine below it stands still. So a second process, which does little, is measured
at the same time. How long its longest pause was is taken off, and by how much its work was slower is divided by.

A turn of the broker that is really long leaves the second process as it is, so it is found all the same.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import mmap
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

WORK_MS: Final = 0.8
"""The work on a quiet machine of this project's CI, in ms of processor time."""
MOST_SLOWER: Final = 4.0
"""A machine on which all takes longer than that tells nothing; what is measured there may fail."""
_REST_SECONDS: Final = 0.005
_WAIT_SECONDS: Final = 1.0
_WATCHED = struct.Struct("q")
_COUNT = struct.Struct("q")
_SAMPLE = struct.Struct("qdd")
_SAMPLES: Final = 1 << 15
_HEAD: Final = _WATCHED.size + _COUNT.size


class Noise(NamedTuple):
    """What the machine did beside.

    Attributes:
        longest_ms: the longest pause that a process had which was ready to run, or wanted to be woken.
        slower: how many times as long as on a quiet machine the same work took.
    """

    longest_ms: float
    slower: float

    def without(self, ms: float) -> float:
        """What of this measured time would be left on a quiet machine."""
        return max(0.0, ms - self.longest_ms) / self.slower


_SHORT_MS: Final = 10.0
"""What is shorter is told as it is."""
QUIET: Final = Noise(0.0, 1.0)


class Machine:
    """The second process. While nobody watches it sleeps."""

    def __init__(self) -> None:
        with tempfile.NamedTemporaryFile() as file:
            file.truncate(_HEAD + _SAMPLES * _SAMPLE.size)
            self._kept = mmap.mmap(file.fileno(), 0)
            self._process = subprocess.Popen(
                [sys.executable, __file__, file.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            assert self._process.stdout is not None
            self._process.stdout.readline()
        atexit.register(self.close)

    @property
    def pid(self) -> int:
        return self._process.pid

    def samples(self, since: float) -> int:
        """How many there were since this `time.perf_counter()`."""
        return sum(1 for _ in self._samples(since))

    def watch(self, more: int) -> None:
        """`more` watchers: 1 when one comes, -1 when it goes."""
        (watched,) = _WATCHED.unpack_from(self._kept, 0)
        _WATCHED.pack_into(self._kept, 0, watched + more)

    def noise(self, since: float) -> Noise:
        """The longest pause since this `time.perf_counter()`, and how slow it was then and in the second before."""
        self._wait_for_a_sample()
        samples = list(self._samples(since - 1))
        if not samples:
            return QUIET
        slower = statistics.median(work for _, _, work in samples) / WORK_MS
        pauses = [pause for ended, pause, _ in samples if ended >= since]
        return Noise(max(pauses, default=0.0), min(MOST_SLOWER, max(1.0, slower)))

    def quiet_ms(self, since: float, ms: float) -> float:
        """What of a time that was measured since this `time.perf_counter()` is left without the noise."""
        return self.noise(since).without(ms) if ms > _SHORT_MS else ms

    def _wait_for_a_sample(self) -> None:
        """A pause of the whole machine is seen when the second process runs again, and that is a moment later."""
        before = self._count()
        until = time.perf_counter() + _WAIT_SECONDS
        while self._count() <= before + 1 and time.perf_counter() < until:
            time.sleep(0.001)

    def _count(self) -> int:
        (count,) = _COUNT.unpack_from(self._kept, _WATCHED.size)
        return count  # type: ignore[no-any-return]

    def _samples(self, since: float) -> Iterator[tuple[float, float, float]]:
        count = self._count()
        for number in range(max(0, count - _SAMPLES + 1), count):
            ended_ns, pause, work = _SAMPLE.unpack_from(self._kept, _place(number))
            if ended_ns >= since * 1e9:
                yield ended_ns / 1e9, pause, work

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@functools.cache
def machine() -> Machine:
    """The one of this process."""
    return Machine()


@contextlib.contextmanager
def watching() -> Iterator[Machine]:
    """The machine is watched while the block runs."""
    watched = machine()
    watched.watch(1)
    try:
        yield watched
    finally:
        watched.watch(-1)


def _place(number: int) -> int:
    return _HEAD + number % _SAMPLES * _SAMPLE.size


def _work() -> None:
    made = {}
    for number in range(4000):
        made[number] = (number, str(number))


def main(path: str) -> None:
    with Path(path).open("r+b") as file:
        kept = mmap.mmap(file.fileno(), 0)
    print("ready", flush=True)
    count, parent = 0, os.getppid()
    while os.getppid() == parent:  # pytest may be killed
        began = time.perf_counter()
        time.sleep(_REST_SECONDS)
        if not _WATCHED.unpack_from(kept, 0)[0]:
            continue
        late_ms = 1000 * (time.perf_counter() - began - _REST_SECONDS)
        begin = time.thread_time()
        _work()
        work_ms = 1000 * (time.thread_time() - begin)
        pause_ms = max(late_ms, work_ms - WORK_MS * MOST_SLOWER, 0.0)
        _SAMPLE.pack_into(kept, _place(count), time.perf_counter_ns(), pause_ms, work_ms)
        count += 1
        _COUNT.pack_into(kept, _WATCHED.size, count)


if __name__ == "__main__":
    main(*sys.argv[1:])
