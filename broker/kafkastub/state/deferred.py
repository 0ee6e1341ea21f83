"""Replies that are not there yet."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any, TypeVar

from kafkastub.steps import a_part
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.schema import Message

R = TypeVar("R")


def as_it_is(reply: Message) -> Message:
    """For a `Deferred` that is completed with its reply."""
    return reply


def _let_go(value: Any) -> Message:
    raise RuntimeError("the reply was made, or nobody waits for it any more")


class Deferred:
    """A reply that waits for somebody else: another member's request, a timer, new records, the disk.

    Whoever completes it gives a value; `lower` makes it this request's answer. The connection is held back until then,
    as Kafka mutes a channel: its replies leave in the order of its requests.

    One that is over lets go of everything. Who waits and what is waited for refer to each other, and only the garbage
    collector would find them, which does not look at what it spares (`server.collector`).
    """

    __slots__ = ("_wake", "abandoned", "done", "goes_on", "hold", "lower", "on_abandon", "reply")

    def __init__(self, lower: Callable[[Any], Message]) -> None:
        self.lower = lower
        self.done = False
        self.abandoned = False
        """Whether the connection has gone; completing is then harmless and useless."""
        self.goes_on = False
        """Whether nobody else is waited for: it is being worked on, or written to the disk."""
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
        if self.done:
            return
        if left is not None:
            left()
        self.lower, self.hold, self._wake = _let_go, None, None

    def complete(self, value: Any = None) -> None:
        """Lower `value` and release the reply. Raises RuntimeError when it was completed before."""
        if self.done:
            raise RuntimeError("a deferred reply was completed twice")
        self.done = True
        if self.abandoned:
            return
        lower, hold = self.lower, self.hold
        self.lower, self.hold, self.on_abandon = _let_go, None, None
        reply = lower(value)
        if hold is None:
            self.release(reply)
        else:
            hold(reply)

    def release(self, reply: Message) -> None:
        """This is the reply; it can be sent."""
        self.reply = reply
        wake, self._wake = self._wake, None
        if wake is not None:
            wake(reply)

    def when_done(self, wake: Callable[[Message], None]) -> None:
        """The server's hook: called once with the reply, at once if it is there already."""
        if self.reply is not None:
            wake(self.reply)
        else:
            self._wake = wake


def then(outcome: Any, change: Callable[[Any], Message]) -> Any:
    """What a handler has given, with its reply changed, be it there already or not."""
    if not isinstance(outcome, Deferred):
        return change(outcome)
    lower = outcome.lower
    outcome.lower = lambda value: change(lower(value))
    return outcome


Steps = Generator[int, None, Message | Deferred]
"""Work that is done piece by piece: gives how much each piece was, in the end the reply, or one that is not there yet.
"""


def in_parts(
    steps: Steps,
    at_once: int,
    in_turns: Callable[[Iterator[None]], None],
    failed: Callable[[ErrorCode], Message],
    *,
    for_nobody: bool = True,
) -> Message | Deferred:
    """Serve a request that may be a large one: after every `at_once` of its work the others have their turn.

    Args:
        in_turns: goes on with work, part by part.
        failed: the reply to an error behind the first part; before, it is raised.
        for_nobody: whether it goes on when the client has gone, as what changes something does.
    """
    reply = _part(steps, at_once)
    if reply is not None:
        return reply
    deferred = Deferred(as_it_is)
    deferred.goes_on = True

    def parts() -> Iterator[None]:
        code = ErrorCode.UNKNOWN_SERVER_ERROR
        found: Message | Deferred | None = None
        try:
            while found is None:
                yield
                if deferred.abandoned and not for_nobody:
                    return
                found = _part(steps, at_once)
        except KafkaError as error:
            code = error.code
        finally:  # whatever happens, somebody waits for an answer
            if isinstance(found, Deferred):
                _pass_on(found, deferred)
            elif not (deferred.done or deferred.abandoned):
                deferred.complete(failed(code) if found is None else found)

    work = parts()
    next(work)
    in_turns(work)
    return deferred


def _pass_on(found: Deferred, deferred: Deferred) -> None:
    """What the one is completed with, the other is."""
    deferred.on_abandon, deferred.goes_on = found.abandon, found.goes_on
    if deferred.abandoned:
        found.abandon()
    else:
        found.when_done(deferred.complete)


def _part(steps: Steps, limit: int) -> Message | Deferred | None:
    """Work off so much; the reply, if that was all."""
    found = a_part(steps, limit)
    return None if found is None else found[0]
