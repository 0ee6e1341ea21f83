"""Large requests, a slice at a time.

A request of more than `dispatch.LARGE` bytes is served in a greenlet of its own. It sleeps wherever its slice is over
(in the decoder, in a handler's loop, in the encoder), and goes on when the others have had their turn. All of it is
done in the loop's thread, and a request calls `pace` only where it has left the state whole.

What a request takes once it is decoded is many times what it was in its frame. So only some are begun at the same
time; the others wait as they came, first in, first out, and longer ones do not wait in front of shorter ones.
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
_SHORT: Final = 1 << 16
"""Bytes of a request up to which it is among the shorter ones."""
_MOST_SHORT: Final = 1 << 20
"""Bytes that shorter requests have together that are begun,"""
_MOST_LONG: Final = 1 << 22
"""and longer ones; one is begun whatever its size."""


class _Sliced:
    """One request that is served so. Its bound method `pace` is the state's pace while it runs."""

    __slots__ = (
        "_asleep_since",
        "_current",
        "_finish",
        "_greenlet",
        "_left",
        "_loop",
        "_result",
        "_slept",
        "_state",
        "_until",
        "size",
    )  # fmt: skip

    def __init__(self, state: BrokerState, size: int, serve: Callable[[], Any], finish: Callable[[Any], None]) -> None:
        from greenlet import getcurrent, greenlet

        self.size = size
        self._state = state
        self._current = getcurrent
        self._loop: greenlet | None = None
        self._left = _UNITS
        self._until = 0
        self._asleep_since = self._slept = 0
        self._finish: Callable[[Any], None] | None = finish
        self._result: Any = None
        self._greenlet: greenlet | None = greenlet(serve)

    def end(self) -> None:
        """Never go on."""
        self._finish = None
        if self._greenlet is not None:
            self._greenlet.throw()

    def drop(self) -> bool:
        """Let go of all of it where nothing of it was done yet; gives whether that is so."""
        if self._greenlet is None or self._asleep_since:
            return False
        self._greenlet = self._finish = None
        return True

    @property
    def is_dropped(self) -> bool:
        """Whether nobody wants it any more."""
        return self._greenlet is None

    def go_on(self, until: int) -> bool:
        """One slice, which ends at this time; whether that was the last one. Raises what serving raises."""
        state = self._state
        assert self._greenlet is not None
        self._loop = self._current()
        if self._asleep_since:
            self._slept += perf_counter_ns() - self._asleep_since
        self._until = until
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
        if finish is not None:
            finish(result)

    def pace(self, amount: int = 1) -> None:
        """So much was done: sleep if the slice is over."""
        self._left -= amount
        if self._left <= 0:
            self._left = _UNITS
            # What is left of a request can be done within another one, which does not expect others in between.
            if perf_counter_ns() > self._until and self._current() is self._greenlet:
                self._loop.switch()  # type: ignore[union-attr]


class _Lane:
    """Requests of about a size, in the order in which they came."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._begun = 0
        """Bytes of those that are begun."""
        self.waiting: deque[_Sliced] = deque()

    def begins(self, request: _Sliced) -> bool:
        """Whether there is room for it now, which it takes."""
        if self._begun and self._begun + request.size > self._most:
            return False
        self._begun += request.size
        return True

    def ends(self, request: _Sliced) -> None:
        """Give back what it took."""
        self._begun -= request.size


def _nobody(size: int) -> None:
    """Where nobody has to know."""


class Slices:
    """The large requests of one server."""

    def __init__(self, loop: asyncio.AbstractEventLoop, waits: Callable[[int], None] = _nobody) -> None:
        """`waits` is told how many bytes of complete requests wait more than before, or fewer."""
        self._loop = loop
        self._waits = waits
        self._sleeping: deque[_Sliced] = deque()
        self._short, self._long = _Lane(_MOST_SHORT), _Lane(_MOST_LONG)
        self._scheduled = False

    def __len__(self) -> int:
        """How many are begun and not done."""
        return len(self._sleeping)

    def run(self, state: BrokerState, size: int, serve: Callable[[], Any], finish: Callable[[Any], None]) -> _Sliced:
        """Have `serve` called, and then `finish` with what it gives: at once if nothing else is under way and it is
        soon done, or later. `size`: bytes of the request; 0 for the answer to one, which waits for no other.

        Gives what `drop` takes. `serve` must not raise.
        """
        request = _Sliced(state, size, serve, finish)
        if size:
            lane = self._lane(request)
            if lane.waiting or not lane.begins(request):
                lane.waiting.append(request)
                self._waits(size)
                return request
        if not self._sleeping and self._go_on(request, perf_counter_ns() + _SLICE_NS):
            self._end(request)
            return request
        self._sleeping.append(request)
        collector.rest()
        self._schedule()
        return request

    def drop(self, request: _Sliced) -> None:
        """Its client has gone: it is not begun, if it is not begun yet."""
        request.drop()

    def stop(self) -> None:
        """End all requests that wait or sleep, where they are: their connections are dropped."""
        for lane in (self._short, self._long):
            while lane.waiting:
                request = lane.waiting.popleft()
                self._waits(-request.size)
                request.end()
        while self._sleeping:
            request = self._sleeping.popleft()
            self._lane(request).ends(request)
            request.end()
        self._rest()

    def _lane(self, request: _Sliced) -> _Lane:
        return self._short if request.size <= _SHORT else self._long

    def _go_on(self, request: _Sliced, until: int) -> bool:
        try:
            return request.is_dropped or request.go_on(until)
        except BaseException:
            self._begin_the_next(request)
            raise

    def _end(self, request: _Sliced) -> None:
        self._begin_the_next(request)
        request.finish()

    def _begin_the_next(self, request: _Sliced) -> None:
        """In the place of one that is done."""
        lane = self._lane(request)
        lane.ends(request)
        while lane.waiting and lane.begins(lane.waiting[0]):
            following = lane.waiting.popleft()
            self._waits(-following.size)
            self._sleeping.append(following)

    def _rest(self) -> None:
        if not self._sleeping:
            collector.work_again()

    def _schedule(self) -> None:
        if self._sleeping and not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._next)

    def _next(self) -> None:
        """A slice of the request that slept longest, and of the next ones where it needs less than that."""
        self._scheduled = False
        until = perf_counter_ns() + _SLICE_NS
        try:
            while self._sleeping:
                request = self._sleeping.popleft()
                if not self._go_on(request, until):
                    self._sleeping.append(request)
                    break
                self._end(request)
                if perf_counter_ns() >= until:
                    break
        finally:
            self._rest()
            self._schedule()
