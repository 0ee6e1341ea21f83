"""Large requests, a slice at a time.

A request of more than `dispatch.LARGE` bytes is served in a greenlet of its own. It sleeps wherever its slice is over
(in the decoder, in a handler's loop, in the encoder), and goes on when the others have had their turn. All of it is
done in the loop's thread, and a request calls `pace` only where it has left the state whole.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final

from kafkastub.server import collector
from kafkastub.state.pace import no_pause

if TYPE_CHECKING:
    from greenlet import greenlet

    from kafkastub.state.broker_state import BrokerState

_SLICE_NS: Final = 3_000_000
"""Nanoseconds that one slice takes."""
_UNITS: Final = 32
"""Work between two looks at the clock."""


class _Sliced:
    """One request that is served so. Its bound method `pace` is the state's pace while it runs."""

    __slots__ = (
        "_asleep_since",
        "_current",
        "_finish",
        "_greenlet",
        "_left",
        "_loop_greenlet",
        "_result",
        "_slept",
        "_state",
        "_until",
    )  # fmt: skip

    def __init__(self, state: BrokerState, serve: Callable[[], Any], finish: Callable[[Any], None]) -> None:
        from greenlet import getcurrent, greenlet

        self._state = state
        self._current = getcurrent
        self._loop_greenlet: greenlet = getcurrent()
        self._left = _UNITS
        self._until = 0
        self._asleep_since = self._slept = 0
        self._finish: Callable[[Any], None] | None = finish
        self._result: Any = None
        self._greenlet: greenlet = greenlet(serve)

    def end(self) -> None:
        """Never go on."""
        self._finish = None
        self._greenlet.throw()

    def go_on(self) -> bool:
        """One slice; whether that was the last one. Raises what serving raises."""
        state = self._state
        now = perf_counter_ns()
        if self._asleep_since:
            self._slept += now - self._asleep_since
        self._until = now + _SLICE_NS
        state.pace, state.slept_ns = self.pace, self._slept
        try:
            result = self._greenlet.switch()
        finally:
            state.pace, state.slept_ns = no_pause, 0
        self._asleep_since = perf_counter_ns()
        if not self._greenlet.dead:
            return False
        self._result = result
        return True

    def finish(self) -> None:
        """Hand over what serving gave. What it refers to may refer to `pace`: they let go of each other."""
        finish, result = self._finish, self._result
        self._finish = self._result = None
        assert finish is not None
        finish(result)

    def pace(self, amount: int = 1) -> None:
        """So much was done: sleep if the slice is over."""
        self._left -= amount
        if self._left <= 0:
            self._left = _UNITS
            # What is left of a request can be done within another one, which does not expect others in between.
            if perf_counter_ns() > self._until and self._current() is self._greenlet:
                self._loop_greenlet.switch()


class Slices:
    """The large requests of one server."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._sleeping: deque[_Sliced] = deque()
        self._scheduled = False

    def __len__(self) -> int:
        return len(self._sleeping)

    def run(self, state: BrokerState, serve: Callable[[], Any], finish: Callable[[Any], None]) -> None:
        """Have `serve` called, and then `finish` with what it gives: at once if it is soon done, or later.

        `serve` must not raise.
        """
        request = _Sliced(state, serve, finish)
        if request.go_on():
            request.finish()
            return
        self._sleeping.append(request)
        collector.rest()
        self._schedule()

    def stop(self) -> None:
        """End all requests that sleep, where they are: their connections are dropped."""
        while self._sleeping:
            self._sleeping.popleft().end()
        self._rest()

    def _rest(self) -> None:
        if not self._sleeping:
            collector.work_again()

    def _schedule(self) -> None:
        if self._sleeping and not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._next)

    def _next(self) -> None:
        """A slice of the request that slept longest."""
        self._scheduled = False
        if not self._sleeping:
            return
        request = self._sleeping.popleft()
        try:
            if request.go_on():
                request.finish()
            else:
                self._sleeping.append(request)
        finally:
            self._rest()
            self._schedule()
