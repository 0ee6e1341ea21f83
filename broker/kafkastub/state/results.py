"""Computations that take too long for one turn of the loop: they are done a slice at a time, others are served between.

A coordinator asks for a result (`Results.of` of `kafkastub.coordinator.turn`) before it has changed anything. Where the
result is not there, the request is given up, and made again when it is. Meanwhile the group may have changed; then what
the result was computed from is not what is asked for, and it is computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from kafkastub.coordinator.turn import NotYet
from kafkastub.steps import Pace

R = TypeVar("R")

_SLICE: Final = 400
"""The work of one slice, as it is told to `pace`: some milliseconds."""


class NoResults:
    """A `Results` of a request that is made first."""

    __slots__ = ()

    def of(self, inputs: Any, compute: Callable[[Pace], R]) -> R:
        """See `Results`."""
        return ComputedResults().of(inputs, compute)

    def go_on(self) -> bool:
        """See `Results`."""
        return True


NO_RESULTS: Final = NoResults()


class ComputedResults:
    """A `Results`: the result of one computation at a time, the last one that was asked for."""

    __slots__ = ("_inputs", "_result", "_slices")

    def __init__(self) -> None:
        self._inputs: Any = None
        self._slices: Iterator[None] | None = None
        self._result: Callable[[], Any] | None = None

    def of(self, inputs: Any, compute: Callable[[Pace], R]) -> R:
        """See `Results`. What takes no more than a slice is there at once."""
        if self._result is None or self._inputs != inputs:
            self._inputs, self._result = inputs, None
            self._slices = self._computed(compute)
            self.go_on()
        if self._result is None:
            raise NotYet(self)
        found: R = self._result()
        return found

    def go_on(self) -> bool:
        """See `Results`."""
        if self._slices is not None and next(self._slices, self) is self:
            self._slices = None
        return self._slices is None

    def _computed(self, compute: Callable[[Pace], Any]) -> Iterator[None]:
        from greenlet import getcurrent, greenlet

        left = _SLICE

        def pace(amount: int = 1) -> None:
            nonlocal left
            left -= amount
            if left <= 0 and getcurrent() is own:
                left = _SLICE
                own.parent.switch()

        def run() -> Callable[[], Any]:
            try:
                found = compute(pace)
            except Exception as error:
                return _raising(error)
            return lambda: found

        own = greenlet(run)
        while True:
            own.parent = getcurrent()  # a slice may be computed within a large request, which is a greenlet too
            result = own.switch()
            if own.dead:
                self._result = result
                return
            yield


def _raising(error: Exception) -> Callable[[], Any]:
    def result() -> Any:
        raise error

    return result
