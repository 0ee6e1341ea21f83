"""Columns that only grow at their end, and two that share what they had when they parted."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Final, Generic, TypeVar, overload

T = TypeVar("T")

COPIED_UP_TO: Final = 1024
"""Rows that are copied sooner than shared: reading what is shared takes longer."""
_MOST_PARTS: Final = 16
"""Parts that are looked through; with more of them all become one."""


class SharedRows(Generic[T]):
    """Rows of which the first ones are in lists that others have as well, and nobody changes; the last are its own.

    Attributes:
        append: add a row; as fast as a list's.
    """

    __slots__ = ("_own", "_parts", "_starts", "append")

    def __init__(self, parts: tuple[list[T], ...], own: list[T]) -> None:
        if len(parts) > _MOST_PARTS:
            parts = ([row for part in parts for row in part],)
        self._parts = parts
        self._own = own
        self._starts = [0]
        """Where each part begins, and where what is its own does."""
        for part in parts:
            self._starts.append(self._starts[-1] + len(part))
        self.append: Callable[[T], None] = own.append

    def __len__(self) -> int:
        return self._starts[-1] + len(self._own)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> list[T]: ...

    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return self._slice(*index.indices(len(self)))
        if index < 0:
            index += len(self)
        starts = self._starts
        if index >= starts[-1]:
            return self._own[index - starts[-1]]
        part = bisect_right(starts, index) - 1
        if part < 0:
            raise IndexError("there is no such row")
        return self._parts[part][index - starts[part]]

    def _slice(self, start: int, stop: int, step: int) -> list[T]:
        found: list[T] = []
        for first, part in zip(self._starts, (*self._parts, self._own), strict=True):
            if first < stop and first + len(part) > start:
                found += part[max(0, start - first) : stop - first]
        return found if step == 1 else found[::step]

    def __iter__(self) -> Iterator[T]:
        for part in self._parts:
            yield from part
        yield from self._own

    def split(self) -> SharedRows[T]:
        """The same rows, of which few are its own: what are many is shared from now on, and not to be appended to."""
        if len(self._own) <= COPIED_UP_TO:
            return self
        return SharedRows((*self._parts, self._own), [])

    def copy(self) -> SharedRows[T]:
        """Others with the same rows."""
        return SharedRows(self._parts, self._own.copy())


Rows = list[T] | SharedRows[T]


def split(rows: Rows[T]) -> Rows[T]:
    """The same rows in a form that is cheap to copy, however many they are. It takes the place of `rows`."""
    if isinstance(rows, SharedRows):
        return rows.split()
    return rows if len(rows) <= COPIED_UP_TO else SharedRows((rows,), [])
