"""`kafkastub serve` whose process also counts what it holds: python -m tests.soak.served FD serve …

For each byte that comes on the socket FD, a thread answers with a line of JSON. The broker knows nothing of it.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import os
import signal
import socket
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kafkastub.cli import main
from kafkastub.deadlines import Deadline
from kafkastub.state.share_coordinator import topic as shares
from kafkastub.state.transaction_coordinator import topic as transactions
from tests.process.serving import Controlled

OURS = ("kafkastub", "kafkawire")
HISTORY = 500
"""Records of an internal topic that are kept though newer ones of their keys follow."""


def counts() -> dict[str, Any]:
    """What is there now.

    `blocks` are those that Python's allocator has given away: where they stay, and the process grows, it is the free
    places between them. `allocated_mb` and `free_mb` are of the C library's allocator. `objects` are those that the
    garbage collector knows, `tasks` those of asyncio that have not ended, `timers` the deadlines of coordinators that
    are armed. `kinds` has the number of objects of each of our types, without those that the collector does not look
    at any more.
    """
    found = gc.get_objects()
    kinds: Counter[type] = Counter(map(type, found))
    timers = sum(one.at is not None for one in found if type(one) is Deadline)
    tasks = sum(not one.done() for one in found if isinstance(one, asyncio.Task))
    return {
        "blocks": sys.getallocatedblocks(),
        **_of_the_c_library(),
        "objects": len(found) + gc.get_freeze_count(),
        "tasks": tasks,
        "timers": timers,
        "kinds": {
            f"{kind.__module__}.{kind.__qualname__}": count
            for kind, count in kinds.items()
            if str(kind.__module__).startswith(OURS) or count > 1000
        },
    }


class _MallInfo(ctypes.Structure):
    """glibc's struct mallinfo2, from 2.33 on."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    ]  # fmt: skip


def _of_the_c_library() -> dict[str, float]:
    try:
        ask = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return {}
    ask.restype = _MallInfo
    found = ask()
    return {"allocated_mb": (found.uordblks + found.hblkhd) / 2**20, "free_mb": found.fordblks / 2**20}


def answer(asked: socket.socket) -> None:
    """Until the other end is closed, which ends the process: it survives none who has started it."""
    while asked.recv(1):
        asked.sendall(json.dumps(counts()).encode() + b"\n")
    os.kill(os.getpid(), signal.SIGTERM)


class Served(Controlled):
    """The process, with its control port."""

    def __init__(self, *args: str) -> None:
        self._socket, self._theirs = socket.socketpair()
        self._theirs.set_inheritable(True)
        super().__init__(*args)
        self._theirs.close()
        self._answers = self._socket.makefile("r")

    def command(self) -> Sequence[str | Path]:
        return [sys.executable, "-m", "tests.soak.served", str(self._theirs.fileno())]

    def inherited(self) -> tuple[int, ...]:
        return (self._theirs.fileno(),)

    def counts(self) -> dict[str, Any]:
        """As `counts` has them."""
        self._socket.sendall(b"?")
        found: dict[str, Any] = json.loads(self._answers.readline())
        return found

    def __exit__(self, *raised: Any) -> None:
        super().__exit__(*raised)
        self._answers.close()
        self._socket.close()


def remember_little() -> None:
    """Let histories be full within minutes that are full within an hour otherwise."""
    transactions._HISTORY = shares._HISTORY = HISTORY  # type: ignore[misc]


if __name__ == "__main__":
    remember_little()
    threading.Thread(target=answer, args=[socket.socket(fileno=int(sys.argv[1]))], daemon=True).start()
    sys.exit(main(sys.argv[2:]))
