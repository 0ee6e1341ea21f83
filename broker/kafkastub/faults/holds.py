"""Requests that wait until a test lets them go: a rule with `hold`."""

from __future__ import annotations

from collections.abc import Callable
from time import time
from typing import NamedTuple


class HeldRequest(NamedTuple):
    """A request that waits.

    Attributes:
        api: as in "OffsetCommit".
        connection: its connection's number, as the journal has it.
        number: the first that the rule holds is 1, the next 2; who is held anew has another one.
        since: Unix time in seconds, by the machine's clock.
    """

    api: str
    version: int
    connection: int
    client_id: str | None
    number: int
    since: float


class Holds:
    """The requests that one rule holds, in the order in which they came. All of it belongs to the server's thread.

    Args:
        changed: is called when there is one more, or one fewer.
    """

    __slots__ = ("_changed", "_held", "_number")

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._held: dict[int, tuple[HeldRequest, Callable[[], None]]] = {}
        self._number = 0

    def __len__(self) -> int:
        return len(self._held)

    def requests(self) -> list[HeldRequest]:
        """Who waits, in order."""
        return [request for request, _ in self._held.values()]

    def hold(
        self, api: str, version: int, connection: int, client_id: str | None, go: Callable[[], None]
    ) -> Callable[[], None]:
        """Let it wait; `go` is called when it is released. What is given back forgets it: its client has gone."""
        self._number += 1
        number = self._number
        self._held[number] = HeldRequest(api, version, connection, client_id, number, time()), go
        self._changed()

        def forget() -> None:
            if self._held.pop(number, None) is not None:
                self._changed()

        return forget

    def release(self, count: int | None = None, connection: int | None = None) -> int:
        """Let the first `count` of them go, or all, of all connections, or one; gives how many went.

        One after the other: the work of the first is done before the second goes. One that comes meanwhile is not among
        them.
        """
        meant = [number for number, (request, _) in self._held.items() if connection in (None, request.connection)]
        gone = 0
        for number in meant[:count]:
            found = self._held.pop(number, None)  # the work of one may end the connection of another
            if found is not None:
                gone += 1
                found[1]()
        if gone:
            self._changed()
        return gone
