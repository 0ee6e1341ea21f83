"""Which processors the load generator and a server run on.

Left to the scheduler, a server that answers in microseconds sometimes shares the client's processor and sometimes has
to be woken on an idle one, which costs several times what the answer costs: the same server then measures 9 us or 70.
So both are measured, on purpose:

- *together*: client and server on one processor. No wake-ups; what is left is the work of the server and of the
  system's sockets. Steady.
- *apart*: the server on all processors but the client's, as a scheduler with time to think would have it.

Where the system cannot place (not Linux, one processor only, a server that is not placed), both are the same.
"""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Iterator
from pathlib import Path

from bench.contestants import Contestant

TOGETHER, APART = "together", "apart"


def _allowed() -> set[int]:
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """This process on one processor, the last one that it may use, and without garbage collection."""
    allowed = _allowed()
    if len(allowed) > 1:
        os.sched_setaffinity(0, {max(allowed)})
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        if len(allowed) > 1:
            os.sched_setaffinity(0, allowed)


@contextlib.contextmanager
def placed(contestant: Contestant, placement: str) -> Iterator[None]:
    """`undisturbed`, and the server where the placement wants it; a JVM with its many threads stays everywhere."""
    allowed = _allowed()
    process = contestant.process
    with undisturbed():
        if process is None or len(allowed) < 2:
            yield
            return
        client = {max(allowed)}
        _move(process.pid, client if placement == TOGETHER else allowed - client)
        try:
            yield
        finally:
            _move(process.pid, allowed)


def _move(pid: int, processors: set[int]) -> None:
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
            os.sched_setaffinity(int(thread.name), processors)
