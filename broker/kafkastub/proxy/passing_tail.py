"""The end of a long answer, in which brokers may be named, found while the answer passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkastub.proxy import naming
from kafkastub.proxy.walking import TailFinder

if TYPE_CHECKING:
    from kafkastub.proxy.routes import Route


class PassingTail:
    """A long answer that may name brokers at its end: it keeps its size, whatever they are called."""

    __slots__ = ("_finder", "_head", "_tail", "_told")

    def __init__(self, route: Route, told: naming.Told) -> None:
        self._finder = TailFinder(route.number, route.version)
        self._told = told
        self._head = 9
        """Bytes in front of the body that are left: size, correlation id, no tags."""
        self._tail = b""

    def feed(self, data: bytes, is_last: bool) -> bytes:
        """What may be sent."""
        at = min(self._head, len(data))
        self._head -= at
        if not self._finder.found:
            at += self._finder.feed(memoryview(data)[at:])
        if at == len(data) and not is_last:
            return data
        self._tail += data[at:]
        if not is_last:
            return data[:at]
        tail, is_field = self._tail, self._finder.is_field
        if naming.names_brokers(tail, is_field):
            tail = naming.tail_with_addresses(tail, is_field, self._told, len(tail))
        return data[:at] + tail
