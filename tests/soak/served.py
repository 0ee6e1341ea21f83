"""`kafkastub serve` whose process also counts what it holds: python -m tests.soak.served FD serve …

For each byte that comes on the socket FD, a thread answers with a line of JSON. The broker knows nothing of it.
"""

from __future__ import annotations

import asyncio
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
from tests.process.serving import Controlled

OURS = ("kafkastub", "kafkawire")


def counts() -> dict[str, Any]:
    """What is there now.

    `blocks` are those that Python's allocator has given away: where they stay, and the process grows, it is the free
    places between them. `objects` are those that the garbage collector knows, `tasks` those of asyncio that have not
    ended, `timers` the deadlines of coordinators that are armed. `kinds` has the number of objects of each of our
    types, without those that the collector does not look at any more.
    """
    found = gc.get_objects()
    kinds: Counter[type] = Counter(map(type, found))
    timers = sum(one.at is not None for one in found if type(one) is Deadline)
    tasks = sum(not one.done() for one in found if isinstance(one, asyncio.Task))
    return {
        "blocks": sys.getallocatedblocks(),
        "objects": len(found) + gc.get_freeze_count(),
        "tasks": tasks,
        "timers": timers,
        "kinds": {
            f"{kind.__module__}.{kind.__qualname__}": count
            for kind, count in kinds.items()
            if kind.__module__.startswith(OURS) or count > 1000
        },
    }


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


if __name__ == "__main__":
    threading.Thread(target=answer, args=[socket.socket(fileno=int(sys.argv[1]))], daemon=True).start()
    sys.exit(main(sys.argv[2:]))
