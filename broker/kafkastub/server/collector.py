"""What a broker process asks of Python's garbage collector. Only `kafkastub serve` does: it is alone in its process.

Nearly all that a broker has is given back by counting references; the collector finds nothing. But it looks through
everything again and again, and everybody waits: 60,000 groups are 700,000 objects, and take it 0.2 s. So what has lived
through two looks, and is much, is not looked at any more. What of it refers to itself and dies later stays: what a
connection had that was open at that moment, some kilobytes, until very much has come since.
"""

from __future__ import annotations

import gc
import time
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


is_ours = False
"""Whether the collector is nobody else's: then it rests while a large request is served, which makes no garbage."""


class _Sparing:
    def __init__(self) -> None:
        self._begin = 0.0
        self._times = 0

    def __call__(self, phase: str, info: dict[str, Any]) -> None:
        if not info["generation"]:
            return
        if phase == "start":
            self._begin = time.thread_time()
        elif time.thread_time() - self._begin >= _MUCH:
            self._times += 1
            if self._times % _MOST:
                gc.freeze()
            else:
                gc.unfreeze()


def spare_large_states() -> None:
    """Spare what is loaded now, and from now on whatever there is much of."""
    global is_ours
    is_ours = True
    gc.freeze()
    gc.set_threshold(_YOUNG, _LOOKS, _SELDOM)
    gc.callbacks.append(_Sparing())
