"""A second client, whose waits tell what somebody else's requests cost the others."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from tests.hostile.machine import machine, watching
from tests.rawclient import RawClient

LONGEST_MS = 200.0
"""So long may a client wait because of another one's requests."""


class Prober:
    """A connection of its own that asks for ApiVersions again and again, from its own thread.

    `longest_ms` is the longest that an answer took so far; `rounds` how many there were. What client and broker were
    ready to run for, and had no processor, does not count, nor does what `tests.hostile.machine` saw meanwhile: that is
    what else the machine does. With `returns` it connects again where the broker has closed, and has waited since it
    asked.
    """

    def __init__(self, servers: str, returns: bool = False) -> None:
        self.longest_ms = 0.0
        self._servers, self._returns = servers, returns
        self.rounds = 0
        self._client = RawClient(servers)
        self._broker = delay_file(_listener(int(servers.rpartition(":")[2])))
        self._over = threading.Event()
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        own = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
        files = [file for file in (own, self._broker) if file is not None and file.exists()]
        try:
            while not self._over.is_set():
                delayed, begin = delayed_ms(files), time.perf_counter()
                self._ask()
                took = 1000 * (time.perf_counter() - begin) - (delayed_ms(files) - delayed)
                if took > self.longest_ms:
                    self.longest_ms = max(self.longest_ms, machine().quiet_ms(begin, took))
                self.rounds += 1
                self._over.wait(0.001)
        except BaseException as error:
            self._failed = error

    def _ask(self) -> None:
        while True:
            try:
                self._client.exchange(18, 0, b"")
                return
            except ConnectionError:
                if not self._returns:
                    raise
                self._client.close()
                self._client = RawClient(self._servers)

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
def probing(servers: str, returns: bool = False) -> Iterator[Prober]:
    """A prober at work while the block runs; what it measured is there behind the block."""
    prober = Prober(servers, returns)
    with watching():
        prober.start()
        try:
            yield prober
        finally:
            prober.stop()


def delayed_ms(files: list[Path]) -> float:
    """For how long these threads were ready to run, and did not (the second number of Linux's schedstat, in ns)."""
    return sum(int(file.read_text().split()[1]) for file in files) / 1e6


def delay_file(pid: int | None) -> Path | None:
    return None if pid is None else Path(f"/proc/{pid}/task/{pid}/schedstat")


def _listener(port: int) -> int | None:
    """The process among our children that listens on the port; None where nobody can tell."""
    wanted = f":{port:04X}"
    with contextlib.suppress(OSError):
        sockets = {
            f"socket:[{columns[9]}]"
            for table in ("tcp", "tcp6")
            if (file := Path("/proc/net", table)).exists()
            for columns in map(str.split, file.read_text().splitlines()[1:])
            if columns[1].endswith(wanted) and columns[3] == "0A"
        }
        for children in Path("/proc/self/task").glob("*/children"):
            for pid in children.read_text().split():
                with contextlib.suppress(OSError):
                    if any(str(link.readlink()) in sockets for link in Path("/proc", pid, "fd").iterdir()):
                        return int(pid)
    return None
