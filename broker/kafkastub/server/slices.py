"""Large requests, a slice at a time.

A request of more than `dispatch.LARGE` bytes is served in a greenlet of its own. It sleeps wherever its slice is over
(in the decoder, in a handler's loop, in the encoder), and goes on when the others have had their turn. All of it is
done in the loop's thread, and a request calls `pace` only where it has left the state whole.

What a request takes once it is decoded is many times what it was in its frame. So only some are begun at the same
time; the others wait as they came, first in, first out. Requests of about a size have a lane of their own, and lanes
take turns: no request waits for others that are much longer.
"""

from __future__ import annotations

import asyncio
import sys
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
_LANES: Final = (
    (0, 0),
    (1 << 14, 1 << 18),
    (1 << 16, 1 << 20),
    (1 << 18, 1 << 21),
    (1 << 20, 1 << 22),
    (1 << 22, 1 << 22),
    (sys.maxsize, 0),
)
"""Bytes of the longest request of each lane, and how many its requests have together that are begun; one is begun
whatever its size. The first lane is for answers, all of which are begun."""


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
        "size",
    )  # fmt: skip

    def __init__(self, state: BrokerState, size: int, serve: Callable[[], Any], finish: Callable[[Any], None]) -> None:
        from greenlet import getcurrent, greenlet

        self.size = size
        self._state = state
        self._current = getcurrent
        self._loop_greenlet: greenlet = getcurrent()
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

    def drop(self) -> None:
        """Let go of all of it where nothing of it was done yet: its client has gone."""
        if not self._asleep_since:
            self._greenlet = self._finish = None

    @property
    def is_dropped(self) -> bool:
        """Whether nobody wants it any more."""
        return self._greenlet is None

    def go_on(self, until: int) -> bool:
        """One slice, which ends at this time; whether that was the last one. Raises what serving raises."""
        state = self._state
        assert self._greenlet is not None
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
                self._loop_greenlet.switch()


class _Lane:
    """Requests of about a size.

    Attributes:
        longest: bytes of the longest one.
        waiting: those that are not begun, in the order in which they came.
        sleeping: those that are, in the order in which they have slept.
    """

    def __init__(self, longest: int, most: int) -> None:
        self.longest = longest
        self.waiting: deque[_Sliced] = deque()
        self.sleeping: deque[_Sliced] = deque()
        self._most = most
        self._begun = 0
        """Bytes of those that are begun."""

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
        self._lanes = [_Lane(*one) for one in _LANES]
        self._turns = deque(self._lanes)
        """The same, in the order of their turns."""
        self._scheduled = False

    def __len__(self) -> int:
        """How many are begun and not done."""
        return sum(len(lane.sleeping) for lane in self._lanes)

    def run(self, state: BrokerState, size: int, serve: Callable[[], Any], finish: Callable[[Any], None]) -> _Sliced:
        """Have `serve` called, and then `finish` with what it gives: at once if nothing else is under way and it is
        soon done, or later. `size`: bytes of the request; 0 for the answer to one, which waits for no other.

        Gives it, to be dropped where its client goes. `serve` must not raise.
        """
        request = _Sliced(state, size, serve, finish)
        lane = self._lane(size)
        if lane.waiting or not lane.begins(request):
            lane.waiting.append(request)
            self._waits(size)
            return request
        if not self and self._go_on(lane, request, perf_counter_ns() + _SLICE_NS):
            request.finish()
            return request
        lane.sleeping.append(request)
        collector.rest()
        self._schedule()
        return request

    def stop(self) -> None:
        """End all requests that wait or sleep, where they are: their connections are dropped."""
        for lane in self._lanes:
            while lane.waiting:
                request = lane.waiting.popleft()
                self._waits(-request.size)
                request.end()
            while lane.sleeping:
                request = lane.sleeping.popleft()
                lane.ends(request)
                request.end()
        self._rest()

    def _lane(self, size: int) -> _Lane:
        return next(lane for lane in self._lanes if size <= lane.longest)

    def _go_on(self, lane: _Lane, request: _Sliced, until: int) -> bool:
        """A slice of it; whether it is done. Then another one of its lane is begun."""
        is_done = True
        try:
            is_done = request.is_dropped or request.go_on(until)
        finally:
            if is_done:
                lane.ends(request)
                while lane.waiting and lane.begins(lane.waiting[0]):
                    following = lane.waiting.popleft()
                    self._waits(-following.size)
                    lane.sleeping.append(following)
        return is_done

    def _rest(self) -> None:
        if not self:
            collector.resume()

    def _schedule(self) -> None:
        if self and not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._next)

    def _next(self) -> None:
        """A slice of the lane whose turn it is, and of the next ones where that one needs less."""
        self._scheduled = False
        until = perf_counter_ns() + _SLICE_NS
        try:
            while (lane := self._whose_turn()) is not None:
                request = lane.sleeping.popleft()
                if not self._go_on(lane, request, until):
                    lane.sleeping.append(request)
                    break
                request.finish()
                if perf_counter_ns() >= until:
                    break
        finally:
            self._rest()
            self._schedule()

    def _whose_turn(self) -> _Lane | None:
        """The next lane that has something to do; None where none has."""
        for _ in self._lanes:
            self._turns.rotate(-1)
            if self._turns[0].sleeping:
                return self._turns[0]
        return None
