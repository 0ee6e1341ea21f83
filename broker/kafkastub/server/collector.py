"""What a broker process asks of Python's garbage collector. Only `kafkastub serve` does: it is alone in its process.

Nearly all that a broker has is given back by counting references; the collector finds nothing. But it looks through
everything again and again, and everybody waits: 60,000 groups are 700,000 objects, and take it 0.2 s. So what has lived
through two looks, and is much, is not looked at any more: it is spared. What of it refers to itself and dies later, as
what a connection had that was open at that moment, stays until everything is looked through, which seldom happens.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any, Final

_YOUNG: Final = 20_000
"""Objects more than before after which the young ones are looked through: 1 ms."""
_LOOKS: Final = 2
"""Such looks after which all that lived through them are looked through again: 5 ms."""
_SELDOM: Final = 100
_MUCH: Final = 0.003
"""Seconds of such a look from which on what it has left is spared."""
_MOST: Final = 200
"""Times that something is spared before everything is looked through once."""

Soon = Callable[[Callable[[], object]], object]
"""Calls what it is given behind everything else; any thread may ask it to."""


class _Sparing:
    def __init__(self, soon: Soon, most: int) -> None:
        self._soon, self._most = soon, most
        self._begin = 0.0
        self._times = 0

    def look(self, phase: str, info: dict[str, Any]) -> None:
        """The collector begins to look, or has looked."""
        if not info["generation"]:
            return
        if phase == "start":
            self._begin = time.thread_time()
        elif time.thread_time() - self._begin >= _MUCH:
            self.spare()

    def spare(self) -> None:
        gc.freeze()
        self._times += 1
        if self._times == self._most:  # while the collector looks it cannot be asked to
            self._soon(self._look_through_all)

    def _look_through_all(self) -> None:
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        self._times = 0


_sparing: _Sparing | None = None


def spare_large_states(soon: Soon, most: int = _MOST) -> None:
    """Spare what is loaded now, and from now on whatever there is much of."""
    global _sparing
    _sparing = _Sparing(soon, most)
    gc.freeze()
    gc.set_threshold(_YOUNG, _LOOKS, _SELDOM)
    gc.callbacks.append(_sparing.look)


def spare_what_is_loaded() -> None:
    """Spare what was loaded meanwhile, where large states are spared."""
    if _sparing is not None:
        gc.freeze()


def rest() -> None:
    """Look through nothing: a large request makes hundreds of thousands of objects, and none of them is garbage.

    Where the collector is somebody else's, too, nothing happens.
    """
    if _sparing is not None:
        gc.disable()


def resume() -> None:
    """The large request is served. What it has left is spared, where it is much."""
    if _sparing is not None and not gc.isenabled():
        if gc.get_count()[0] > 2 * _YOUNG:
            _sparing.spare()
        gc.enable()
