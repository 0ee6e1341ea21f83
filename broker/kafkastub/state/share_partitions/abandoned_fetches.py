"""Share fetches that go on waiting though their clients have gone.

Kafka does not read from a connection whose request is being served (Selector.mute), so it does not notice that the
client has gone before it has answered. Until then the member has its session; what is acquired for it meanwhile is
given back once the answer cannot be sent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

MOST: Final = 10_000
"""Fetches and the partitions that they wait for, together: clients that come and go must not make it more."""


class AbandonedFetches:
    """Those of a broker."""

    __slots__ = ("_size",)

    def __init__(self) -> None:
        self._size = 0

    def begin(self, partitions: int, gone: Callable[[], None] | None) -> Callable[[], None] | None:
        """One more, of so many partitions; `gone` is what the end of its connection brings.

        Returns what has to be called, once, when the fetch is over. None where there are too many: nothing is put off.
        """
        size = partitions + 1
        if self._size + size > MOST:
            return None
        self._size += size

        def over() -> None:
            self._size -= size
            if gone is not None:
                gone()

        return over
