"""Requests that a rule with `hold` holds until a test releases them."""

from __future__ import annotations

from collections.abc import Callable
from time import time
from typing import NamedTuple


class HeldRequest(NamedTuple):
    """A request that a rule holds.

    Attributes:
        api: the name of the API, "OffsetCommit".
        connection: the number of its connection, as in the journal.
        number: 1 for the first request that the rule holds, then 2. A request that is held again gets another number.
        since: Unix time in seconds, by the machine's clock.
    """

    api: str
    version: int
    connection: int
    client_id: str | None
    number: int
    since: float


class Holds:
    """The requests that one rule holds, in the order of their arrival. Only the server's thread uses it.

    Args:
        changed: called when the number of requests has changed.
    """

    __slots__ = ("_changed", "_held", "_number")

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._held: dict[int, tuple[HeldRequest, Callable[[], None]]] = {}
        self._number = 0

    def __len__(self) -> int:
        return len(self._held)

    def requests(self) -> list[HeldRequest]:
        """The requests that wait, in their order."""
        return [request for request, _ in self._held.values()]

    def hold(
        self, api: str, version: int, connection: int, client_id: str | None, go: Callable[[], None]
    ) -> Callable[[], None]:
        """Hold a request.

        `go` is called on release. Returns a function that drops the request because its client has gone.
        """
        self._number += 1
        number = self._number
        self._held[number] = HeldRequest(api, version, connection, client_id, number, time()), go
        self._changed()

        def forget() -> None:
            if self._held.pop(number, None) is not None:
                self._changed()

        return forget

    def release(self, count: int | None = None, connection: int | None = None) -> int:
        """Release the first `count` requests, or all, of all connections or of one.

        Returns the number of released requests. They are released one by one: the work of the first is done before the
        second is released. A request that comes during the release is not released.
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
