"""A second client, whose waits tell what somebody else's requests cost the others."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

from tests.rawclient import RawClient

LONGEST_MS = 200.0
"""So long may a client wait because of another one's requests, on a busy machine too."""


class Prober:
    """A connection of its own that asks for ApiVersions again and again, from its own thread.

    `longest_ms` is the longest that an answer took so far; `rounds` how many there were.
    """

    def __init__(self, servers: str) -> None:
        self.longest_ms = 0.0
        self.rounds = 0
        self._client = RawClient(servers)
        self._over = threading.Event()
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        try:
            while not self._over.is_set():
                begin = time.perf_counter()
                self._client.exchange(18, 0, b"")
                self.longest_ms = max(self.longest_ms, 1000 * (time.perf_counter() - begin))
                self.rounds += 1
                self._over.wait(0.001)
        except BaseException as error:
            self._failed = error

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends with the last answer. Raises what the prober met: a closed connection, say."""
        self._over.set()
        self._thread.join()
        self._client.close()
        if self._failed is not None:
            raise self._failed


@contextlib.contextmanager
def probing(servers: str) -> Iterator[Prober]:
    """A prober at work while the block runs; what it measured is there behind the block."""
    prober = Prober(servers)
    prober.start()
    try:
        yield prober
    finally:
        prober.stop()
