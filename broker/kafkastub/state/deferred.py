"""Replies that are not there yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafkawire.schema import Message


def as_it_is(reply: Message) -> Message:
    """For a `Deferred` that is completed with its reply."""
    return reply


class Deferred:
    """A reply that waits for somebody else: another member's request, a timer, new records, the disk.

    Whoever completes it gives a value; `lower` makes it this request's answer. The connection is held back until then,
    as Kafka mutes a channel: its replies leave in the order of its requests.
    """

    __slots__ = ("_wake", "abandoned", "done", "hold", "lower", "on_abandon", "reply")

    def __init__(self, lower: Callable[[Any], Message]) -> None:
        self.lower = lower
        self.done = False
        self.abandoned = False
        """Whether the connection has gone; completing is then harmless and useless."""
        self.on_abandon: Callable[[], None] | None = None
        """The hook of whoever keeps it: is called once when the connection goes before the reply is there."""
        self.hold: Callable[[Message], None] | None = None
        """The server's hook: is given the reply, and calls `release` when its time has come."""
        self.reply: Message | None = None
        self._wake: Callable[[Message], None] | None = None

    def abandon(self) -> None:
        """The server's: the connection has gone, nobody waits for the reply any more."""
        self.abandoned = True
        left, self.on_abandon = self.on_abandon, None
        if left is not None and not self.done:
            left()

    def complete(self, value: Any = None) -> None:
        """Lower `value` and release the reply. Raises RuntimeError when it was completed before."""
        if self.done:
            raise RuntimeError("a deferred reply was completed twice")
        self.done = True
        if self.abandoned:
            return
        reply = self.lower(value)
        if self.hold is None:
            self.release(reply)
        else:
            self.hold(reply)

    def release(self, reply: Message) -> None:
        """This is the reply; it can be sent."""
        self.reply = reply
        if self._wake is not None:
            self._wake(reply)

    def when_done(self, wake: Callable[[Message], None]) -> None:
        """The server's hook: called once with the reply, at once if it is there already."""
        if self.reply is not None:
            wake(self.reply)
        else:
            self._wake = wake
