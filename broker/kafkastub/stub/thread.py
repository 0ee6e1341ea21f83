"""A broker in a separate thread, on a separate event loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from kafkastub.server.broker import Broker
from kafkastub.server.loops import new_event_loop
from kafkastub.stub.errors import CLOSED, NOT_RUNNING, StubError

T = TypeVar("T")


class BrokerThread:
    """Runs a broker and the calls to it; an `AsyncRunner`. Its methods are called from other threads.

    Attributes:
        broker: the broker that runs; None before and after.
        loop: its event loop; None before and after.
    """

    def __init__(
        self,
        start: Callable[[], Coroutine[Any, Any, Broker]],
        opened: Callable[[Broker], Coroutine[Any, Any, None]],
        closing: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        """The coroutines run in the thread.

        `start` returns a broker that clients can connect to, `opened` is called with it, and `closing` is called before
        its end.
        """
        self._start_broker = start
        self._opened = opened
        self._closing = closing
        self._thread: threading.Thread | None = None
        self._stop: asyncio.Event | None = None
        self._calls: set[concurrent.futures.Future[Any]] = set()
        """The calls that the thread has received and not finished."""
        self.broker: Broker | None = None
        self.loop: asyncio.AbstractEventLoop | None = None

    @property
    def is_started(self) -> bool:
        return self._thread is not None

    @property
    def is_here(self) -> bool:
        """Whether the caller runs in this thread."""
        return threading.current_thread() is self._thread

    def start(self) -> None:
        """Start and wait until the broker runs. Raises what `start` and `opened` raise; then nothing is left of it."""
        started: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._thread = threading.Thread(target=self._run, args=(started,), name="kafkastub", daemon=True)
        self._thread.start()
        try:
            started.result()
        except BaseException:
            self._thread.join()
            self._thread = None
            raise

    def stop(self) -> None:
        """Stop. When this returns, thread, loop and sockets are gone. A second call has no effect."""
        thread, loop, stop = self._thread, self.loop, self._stop
        if thread is None or loop is None or stop is None:
            return
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        self._thread = self._stop = self.broker = self.loop = None

    def running(self) -> Broker:
        """Return the broker. Raises StubError if none runs."""
        if self.broker is None:
            raise StubError(NOT_RUNNING)
        return self.broker

    def call(self, work: Callable[[], T]) -> T:
        """Run `work` in the thread, between two requests, and wait until its changes are on the disk.

        Raises what it raises, and StubError, also if the disk is full.
        """
        self.running()
        loop = self.loop
        if loop is None:
            raise StubError(CLOSED)
        if threading.current_thread() is self._thread:
            return work()
        result: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._calls.add(result)

        def run() -> None:
            try:
                found = work()
            except BaseException as error:
                result.set_exception(error)
            if self.broker is not None:
                self.broker.rearm()
                if not result.done():
                    self.broker.when_kept(lambda failure: kept(found, failure))
            elif not result.done():
                result.set_result(found)

        def kept(found: T, failure: str | None) -> None:
            if result.done():
                return
            if failure is None:
                result.set_result(found)
            else:
                result.set_exception(StubError(failure))

        try:
            loop.call_soon_threadsafe(run)
            return result.result()
        except RuntimeError:
            if result.done():
                raise
            raise StubError(CLOSED) from None
        finally:
            self._calls.discard(result)

    def call_async(self, work: Callable[[Broker], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine on the loop and wait for it."""
        broker, loop = self.running(), self.loop
        assert loop is not None
        done = asyncio.run_coroutine_threadsafe(work(broker), loop)
        self._calls.add(done)
        try:
            return done.result()
        finally:
            self._calls.discard(done)

    def _run(self, started: concurrent.futures.Future[None]) -> None:
        loop = new_event_loop()
        try:
            loop.run_until_complete(self._serve(loop, started))
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)  # whatever it was: who started it must not wait for ever
        finally:
            loop.close()
            for call in list(self._calls):
                if not call.done():
                    call.set_exception(StubError(CLOSED))

    async def _serve(self, loop: asyncio.AbstractEventLoop, started: concurrent.futures.Future[None]) -> None:
        stop = asyncio.Event()
        broker = await self._start_broker()
        try:
            self.loop, self.broker, self._stop = loop, broker, stop
            await self._opened(broker)
        except BaseException:
            self.loop = self.broker = self._stop = None
            await broker.stop()
            raise
        started.set_result(None)
        await stop.wait()
        await self._closing()
        await self.running().stop()  # a reset may have put another in its place
