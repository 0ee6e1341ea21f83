"""A broker's data directory, from its start to its end, and the threads that write and sync."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from kafkastub.config import BrokerConfig
from kafkastub.metadata import Node
from kafkastub.server.clock import Clock
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.loading import load
from kafkastub.state.persistence import Persistence
from kafkastub.storage.disk import DataDirectory, DataDirError, Disk, DiskLogs, Flush
from kafkastub.storage.disk.restored import finish, write

if TYPE_CHECKING:
    from kafkastub.state.snapshots.saved import SavedState


class Threads:
    """A `Runner` on an event loop: one thread for syncs, one for cleaning; each begins with its first job."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._syncs = ThreadPoolExecutor(1, "kafkastub-sync")
        self._cleaning = ThreadPoolExecutor(1, "kafkastub-clean")
        self._timers: set[asyncio.TimerHandle] = set()

    def soon(self, call: Callable[[], None]) -> None:
        self._loop.call_soon(call)

    def later(self, ms: int, call: Callable[[], None]) -> None:
        def fire() -> None:
            self._timers.discard(timer)
            call()

        timer = self._loop.call_later(ms / 1000, fire)
        self._timers.add(timer)

    def submit(self, job: Callable[[], None], done: Callable[[BaseException | None], None]) -> None:
        self._submit(self._syncs, job, done)

    def submit_slow(self, job: Callable[[], None], done: Callable[[BaseException | None], None]) -> None:
        self._submit(self._cleaning, job, done)

    def _submit(
        self, threads: ThreadPoolExecutor, job: Callable[[], None], done: Callable[[BaseException | None], None]
    ) -> None:
        def finished(future: Future[None]) -> None:
            self._loop.call_soon_threadsafe(done, future.exception())

        threads.submit(job).add_done_callback(finished)

    async def close(self) -> None:
        """Wait for the jobs under way, and for everybody who is told."""
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        for threads in (self._syncs, self._cleaning):
            threads.shutdown(wait=True)
        await asyncio.sleep(0)


_AT_ONCE_MS: Final = 150
"""For so long coordinators are loaded before the broker listens: in most directories that is all of them."""
_SLICE_MS: Final = 10


class BrokerDirectory:
    """A broker's data directory: taken into use, read, and left."""

    def __init__(self, path: str | os.PathLike[str], config: BrokerConfig, log: Any, clock: Clock) -> None:
        """Raises DataDirError."""
        self._config = config
        self._log = log
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._directory = DataDirectory(path, config["node.id"])
        self._threads = Threads(self._loop)
        self._disk = Disk(self._directory, Flush.parse(config["kafkastub.flush"]), self._threads, log)
        self._state: BrokerState
        self._closed = False
        self.was_new = self._directory.is_new
        """Whether there was nothing in it."""

    def restored(self, nodes: Sequence[Node]) -> BrokerState:
        """The state that the last run left; of a new directory a new one. Raises DataDirError, and lets go then."""
        try:
            finish(self._directory.root)
            state = self._read(nodes)
            state.cleaning.begin(self._clock.broker_ms())
            self._load_for(_AT_ONCE_MS)
        except OSError as error:
            self._disk.abandon()
            raise self._unwritable(error) from None
        except BaseException:
            self._disk.abandon()
            raise
        return state

    def _read(self, nodes: Sequence[Node], held: Iterable[str] = ()) -> BrokerState:
        self._state = state = BrokerState(self._config, nodes, self._log, wall_ms=self._clock.wall_ms, disk=self._disk)
        for transactional_id in held:
            state.transactions.hold_markers(transactional_id)
        state.persistence = persistence = Persistence(state, self._disk, self._clock)
        if self._directory.is_new:
            self._directory.initialise(state.cluster.cluster_id)
        persistence.restore()
        persistence.restore_coordinators()
        return state

    async def write(self, saved: SavedState, clock: tuple[int, int | None]) -> None:
        """Bring a snapshot to the disk, as what the directory says from now on. DataDirError; then all is as it was.

        `go_over` has to follow.
        """
        from kafkastub.state.snapshots.for_directory import parts

        root, sync = self._directory.root, self._disk.flush != Flush()
        if self._disk.failed is not None:
            raise DataDirError(self._disk.failed)
        try:
            await self._loop.run_in_executor(None, lambda: write(root, parts(saved, clock), sync=sync))
        except OSError as error:
            raise self._unwritable(error) from None

    async def go_over(self, nodes: Sequence[Node], held: Iterable[str]) -> BrokerState:
        """The state that was brought to the disk; nothing is written any more for the one before. DataDirError."""
        before = self._disk
        before.wind_up()
        await self._threads.close()
        if isinstance(self._state.logs, DiskLogs):
            self._state.logs.close()
        try:
            finish(self._directory.root)
            self._threads = Threads(self._loop)
            self._disk = Disk(self._directory, self._disk.flush, self._threads, self._log)
            state = self._read(nodes, held)
            load(state, self._clock.both)
            self._disk.write_now()
        except OSError as error:
            before.fail("a restore was not brought to its end: the next start does it", error)
            raise self._unwritable(error) from None
        return state

    def keep(self) -> None:
        """Have on the disk what the start itself has changed, before anybody is told that it is over. DataDirError."""
        try:
            self._disk.write_now()
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> DataDirError:
        return DataDirError(f"{error.filename or self._directory.root} cannot be written: {error.strerror or error}")

    def go_on_loading(self, loaded: Callable[[], None]) -> None:
        """Load what is left between requests, then call."""
        if self._closed or self._load_for(_SLICE_MS):
            loaded()
        else:
            self._loop.call_soon(self.go_on_loading, loaded)

    def _load_for(self, ms: int) -> bool:
        until = self._clock.timer_ms() + ms
        return load(self._state, self._clock.both, lambda: self._clock.timer_ms() >= until)

    async def close(self) -> None:
        """Bring everything to the disk."""
        self._closed = True
        self._disk.wind_up()  # a job that ends now must not begin another, for which there is no thread any more
        await self._threads.close()
        logs = self._state.logs
        if isinstance(logs, DiskLogs):
            logs.leave()
        self._disk.close()
        if isinstance(logs, DiskLogs):
            logs.close()
