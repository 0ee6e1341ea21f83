"""What is written and not on the disk yet, and who waits for it: one sync serves everybody (group commit).

All of it runs in the broker's one thread, but for the jobs that `Runner.submit` takes elsewhere.

    wrote, created, state_changed    mark what the next round has to bring to the disk
    a round                          syncs what was marked, replaces kafkastub.json where it is stale; one at a time.
                                     That file is put together before, a piece at a time between requests: what
                                     changes meanwhile may be in it or not, and is in the next one for certain
    wait                             is told when the rounds are over that what was marked until now depends on
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, Self

from .directory import DataDirectory, remove_tree, sync_path

Done = Callable[[str | None], None]
"""Is given what went wrong, None where nothing did."""


class Flush(NamedTuple):
    """When written bytes are synced.

    Attributes:
        every_message: before the reply that depends on them.
        interval_ms: every so many milliseconds; None for never.
    """

    every_message: bool = False
    interval_ms: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """`message`, `<N>ms` or `never`. ValueError."""
        if text == "message":
            return cls(every_message=True)
        if text == "never":
            return cls()
        number, ms = text[:-2], text[-2:]
        if ms != "ms" or not number.isdigit() or not 0 < int(number) < 1 << 31:
            raise ValueError(f"{text!r} is none of message, <N>ms and never")
        return cls(interval_ms=int(number))


class Runner(Protocol):
    """How the broker's thread gets things done later or elsewhere."""

    def soon(self, call: Callable[[], None]) -> None:
        """Call when this thread is done with what is at hand."""

    def later(self, ms: int, call: Callable[[], None]) -> None:
        """Call in so many milliseconds."""

    def submit(self, job: Callable[[], None], done: Callable[[BaseException | None], None]) -> None:
        """Run the job in a thread for syncs, one after the other, then call back here with what it raised."""

    def submit_slow(self, job: Callable[[], None], done: Callable[[BaseException | None], None]) -> None:
        """The same in another thread, which may take its time."""


class _Round:
    """What one round brings to the disk.

    Attributes:
        paths: what is synced.
        pieces: of the document, those that were not taken yet; None where it is as it was.
        doomed: what is removed afterwards.
        content: the pieces that were taken.
        submitted: whether it is complete, and being written.
    """

    __slots__ = ("content", "doomed", "paths", "pieces", "submitted")

    def __init__(self, paths: set[Path], pieces: Iterator[bytes] | None, doomed: list[Path]) -> None:
        self.paths = paths
        self.pieces = pieces
        self.doomed = doomed
        self.content: list[bytes] = []
        self.submitted = False


class Disk:
    """One data directory in use.

    Attributes:
        failed: why nothing can be written any more, in one sentence; None as long as all is well. It stays: what a
            failed sync has lost is not known (Kafka takes a failed log directory offline as well).
        state: gives the contents of kafkastub.json, in pieces that are made while they are taken.
        on_failure: is called when writing has failed, between two requests, and before anybody is told who waits.
    """

    def __init__(self, directory: DataDirectory, flush: Flush, runner: Runner, log: Any) -> None:
        self.directory = directory
        self.flush = flush
        self.runner = runner
        self.log = log
        self.failed: str | None = None
        self.state: Callable[[], Iterable[bytes]] = tuple
        self.on_failure: Callable[[], None] = _nothing
        self._unsynced: set[Path] = set()
        self._stale = False
        """Of kafkastub.json."""
        self._doomed: list[Path] = []
        """What goes once kafkastub.json is written."""
        self._waiting: list[Done] = []
        self._running: list[Done] | None = None
        """Who waits for the round under way; None while there is none."""
        self._holds_replies = False
        """Whether somebody may have to wait for the round under way."""
        self._armed = False
        self._again = False
        """Whether a round was due while another was under way."""
        self._closed = False
        self._round_at_hand = _Round(set(), None, [])
        """What the round brings to the disk that is being put together."""

    # -- marking -------------------------------------------------------------------------------------------------

    def wrote(self, path: Path) -> None:
        """Bytes were appended to a file."""
        if self.flush == _NEVER:
            return
        self._unsynced.add(path)
        if not self._armed:
            self._armed = True
            if self.flush.interval_ms is None:
                self.runner.soon(self._round)
            else:
                self.runner.later(self.flush.interval_ms, self._round)

    def created(self, directory: Path) -> None:
        """A directory has got a new entry; what is written to it makes itself heard."""
        if self.flush != _NEVER:
            self._unsynced.add(directory)

    def state_changed(self) -> None:
        """kafkastub.json is to be written anew."""
        if not self._stale:
            self._stale = True
            self.runner.soon(self._round)

    def doom(self, path: Path) -> None:
        """Remove a directory once kafkastub.json knows of it."""
        self._doomed.append(path)
        self.state_changed()

    @property
    def closed(self) -> bool:
        """Whether no job begins any more."""
        return self._closed

    # -- waiting -------------------------------------------------------------------------------------------------

    @property
    def pending(self) -> bool:
        """Whether there is something to wait for."""
        if self.failed is not None:
            return False
        marked = self._stale or (self.flush.every_message and bool(self._unsynced))
        return marked or (self._holds_replies and self._running is not None)

    def wait(self, done: Done) -> bool:
        """Whether there is something to wait for; then `done` is called when that is on the disk, or cannot be."""
        if not self.pending:
            return False
        if self._stale or (self.flush.every_message and self._unsynced) or self._running is None:
            self._waiting.append(done)
        else:
            self._running.append(done)
        return True

    def _round(self) -> None:
        """Begin a round, unless one is under way: then the next follows it."""
        if self._running is not None:
            self._again = True
            return
        self._again = False
        if self._closed or self.failed is not None or not (self._stale or self._unsynced):
            return
        self._running, self._waiting = self._waiting, []
        self._holds_replies = self._stale or self.flush.every_message
        self._round_at_hand = self._marked()
        self._put_together()

    def _marked(self) -> _Round:
        """What was marked until now, which is marked no more."""
        paths, self._unsynced, self._armed = self._unsynced, set(), False
        pieces, doomed = None, []
        if self._stale:
            self._stale = False
            pieces = iter(self.state())
            doomed, self._doomed = self._doomed, []
        return _Round(paths, pieces, doomed)

    def _put_together(self) -> None:
        """The next pieces of the round's document, or its job once there are no more."""
        this = self._round_at_hand
        if self._closed:
            return
        if self.failed is not None:
            self._done(None)
            return
        size = 0
        for piece in this.pieces or ():
            this.content.append(piece)
            size += len(piece)
            if size > _AT_ONCE:
                self.runner.soon(self._put_together)
                return
        this.submitted = True
        self.runner.submit(self._job(this), self._done)

    def _job(self, this: _Round) -> Callable[[], None]:
        """The round as it is written, in another thread."""

        def run() -> None:
            for unsynced in this.paths:
                sync_path(unsynced)
            if this.pieces is not None:
                self.directory.replace_state(b"".join(this.content), sync=self.flush != _NEVER)
            for gone in this.doomed:
                remove_tree(gone)

        return run

    def _done(self, error: BaseException | None) -> None:
        waiting, self._running = self._running or [], None
        if error is not None:
            self.fail("syncing failed", error)
        if self.failed is not None:
            self._waiting = waiting + self._waiting
            self._give_up()
            return
        for done in waiting:
            done(None)
        if self._again:
            self._round()

    def write_now(self) -> None:
        """Bring what is marked to the disk and wait for it: before anybody is served. OSError."""
        if self._stale:
            self._write(self._marked())

    def _write(self, this: _Round) -> None:
        this.content += this.pieces or ()
        self._job(this)()

    # -- the end -------------------------------------------------------------------------------------------------

    def fail(self, what: str, error: BaseException) -> None:
        """Nothing can be written from now on; reading goes on."""
        if self.failed is not None:
            return
        why = getattr(error, "strerror", None) or error
        self.failed = f"the data directory {self.directory.root} takes no more writes: {what}: {why}"
        with contextlib.suppress(OSError):  # the log may go to the very disk that is full
            self.log.error(self.failed)
        if self._running is None:  # else its end does
            self.runner.soon(self._give_up)

    def _give_up(self) -> None:
        """Who is told that something failed finds it taken back: that comes first."""
        try:
            if not self._closed:
                self.on_failure()
        except Exception:
            self.log.exception("what could not be written cannot be taken back")
        waiting, self._waiting = self._waiting, []
        for done in waiting:
            done(self.failed)

    def abandon(self) -> None:
        """Let others use the directory; nothing more is written."""
        self._closed = True
        self.directory.release()

    def wind_up(self) -> None:
        """No job begins any more; what is left is for `close`."""
        self._closed = True
        this = self._round_at_hand
        if this.pieces is not None and not this.submitted:  # it was being put together
            self._unsynced |= this.paths
            self._doomed += this.doomed
            self._stale = True

    def close(self) -> None:
        """Bring what is left to the disk, and let others use the directory. No job may be running any more."""
        self._closed = True
        try:
            if self.failed is None:
                self._write(self._marked())
        except OSError as error:
            self.fail("the last sync failed", error)
        finally:
            self.directory.release()


_NEVER: Final = Flush()
_AT_ONCE: Final = 1 << 15
"""Bytes of the document that are made before others have their turn; some milliseconds, where they are partitions."""


def _nothing() -> None:
    pass
