"""What a fault makes of a request that is to pass: `server.watching.faults` explains the action and its order.

Its connection is muted from the start until the client has its answer, so that it is always the last one under way.
"""

from __future__ import annotations

import asyncio
import copy
from functools import partial
from typing import TYPE_CHECKING, Any

from kafkastub.journal.ring import Outcome as Became
from kafkawire.codec import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkastub.proxy.routes import Route
    from kafkastub.proxy.under_way import Client, Pending
    from kafkastub.server.watching.faults import Action
    from kafkawire.header import RequestHeader


class Faulty:
    """A request that met a rule, or chaos."""

    def __init__(self, action: Action, route: Route, header: RequestHeader, request: Any) -> None:
        self._action = action
        self._route = route
        self._header = header
        self._request = request
        self.is_local = not action.work or action.later is not None
        self._client: Client
        self._pending: Pending
        self._frame = b""
        self._is_answered = True
        self._begun = False
        """Whether it is no longer delayed or held before its work."""
        self._done = False
        self._timer: asyncio.TimerHandle | None = None
        self._forget: Callable[[], None] | None = None
        self.taken = 0
        """Room of the request: until its end, for what is decided about it may hold it."""
        self._taken_by_answer = 0

    def begin(self, client: Client, pending: Pending, frame: bytes, is_answered: bool, taken: int) -> None:
        self._client, self._pending, self._frame, self._is_answered = client, pending, frame, is_answered
        self.taken = taken
        action = self._action
        client.pending.append(pending)
        if action.later is not None:
            action.later(client.owner.arriving(client.info.node_id, frame))
        if action.hold == "before":
            self._hold(self._work)
        elif action.before_ms > 0:
            self._wait(action.before_ms, self._work)
        else:
            self._work()

    def _hold(self, go: Callable[[], None]) -> None:
        assert self._action.holds is not None
        info = self._client.info
        self._forget = self._action.holds.hold(
            self._name, self._route.version, info.id, self._header.client_id, partial(self._released, go)
        )

    def _released(self, go: Callable[[], None]) -> None:
        self._forget = None
        go()

    def _wait(self, ms: int, go: Callable[[], None]) -> None:
        self._timer = self._client.owner.loop.call_later(ms / 1000, go)

    @property
    def _name(self) -> str:
        assert self._route.key is not None
        return self._route.key.camel

    def _work(self) -> None:
        self._begun = True
        if self._done:
            return
        if self.is_local:
            if self._client.pending[0] is self._pending:
                self.reached()
            return
        frame, narrow = self._frame, self._action.narrow
        if narrow is not None:
            head = frame[4 : self._header.end + 4]
            body = encode(narrow(self._request), self._route.version)
            frame = (len(head) + len(body)).to_bytes(4) + head + body
        self._client.send(frame)
        self._frame = b""
        if not self._is_answered and self._client.pending[0] is self._pending:
            self.reached()

    def reached(self) -> None:
        if not self._begun or self._done:
            return
        if self.is_local:
            self._answer(None)
        elif not self._is_answered and self._action.ending != "silence":
            self._end(None)

    def worked(self, answer: bytes, taken: int) -> None:
        self._taken_by_answer = taken
        self._answer(answer)

    def _give(self) -> int:
        """Give back the room of the request; gives that of the answer."""
        (request, answer), self.taken, self._taken_by_answer = (self.taken, self._taken_by_answer), 0, 0
        if request:
            self._client.owner.room.give(request)
        return answer

    def abandon(self) -> None:
        self._done = True
        if answer := self._give():
            self._client.owner.room.give(answer)
        if self._timer is not None:
            self._timer.cancel()
        if self._forget is not None:
            self._forget()

    def _answer(self, answer: bytes | None) -> None:
        """The work is done, or was not to be done: send what the action makes of it, when its time has come."""
        action = self._action
        if action.ending == "silence":
            return
        try:
            reply = self._changed(answer)
        except Exception:
            self._client.owner.log.exception("a fault failed", fault=action.fault, api=self._name)
            reply = None
        if action.hold == "after":
            self._hold(partial(self._end, reply))
        elif action.after_ms > 0:
            self._wait(action.after_ms, partial(self._end, reply))
        else:
            self._end(reply)

    def _changed(self, answer: bytes | None) -> bytes | None:
        """None where nothing is to be sent."""
        action, route = self._action, self._route
        if not self._is_answered:
            return None
        message: Any = None
        if action.error is not None:
            registration = route.api.registration
            assert registration is not None
            message = registration.error_response(self._request, action.error, route.version)
        elif answer is None:
            return None
        elif action.rewrite is not None or action.throttle_ms is not None:
            message = route.decode_answer(answer[9 if route.flexible_answer else 8 :])
        if message is None:
            return answer
        if action.rewrite is not None:
            message = action.rewrite(message)
        if action.throttle_ms is not None and hasattr(message, "throttle_time_ms"):
            message = copy.copy(message)
            message.throttle_time_ms = action.throttle_ms
        body = encode(message, route.version)
        head = self._header.correlation_id.to_bytes(4, signed=True) + (b"\0" if route.flexible_answer else b"")
        return (len(head) + len(body)).to_bytes(4) + head + body

    def _end(self, reply: bytes | None) -> None:
        if self._done:
            return
        self._done = True
        client, pending, action = self._client, self._pending, self._action
        taken = self._give()
        if client.pending and client.pending[0] is pending:
            client.pending.popleft()
        ending, watch = action.ending, client.owner.watch
        if ending == "answer" and not self._is_answered and action.error is None:
            if watch is not None:
                watch.on_no_answer(pending, Became.NO_REPLY)
            client.unmute()
            return
        if ending == "answer" and reply is not None:
            client.deliver(reply, taken)
            if watch is not None:
                watch.on_answer(pending, client.info, reply)
            client.unmute()
            return
        sent = reply[: action.cut_at] if ending == "cut" and reply is not None else b""
        client.deliver(sent, taken)
        if watch is not None:
            watch.on_no_answer(pending, Became.CLOSED if ending == "answer" else Became.DROPPED, sent or None)
        client.transport.close()


class Closing:
    """Not a fault: the connection ends when all in front is answered."""

    is_local = True
    taken = 0

    def __init__(self, client: Client) -> None:
        self._client = client

    def begin(self, client: Client, pending: Pending, frame: bytes, is_answered: bool, taken: int) -> None:
        """It was there before."""

    def reached(self) -> None:
        self._client.transport.close()

    def worked(self, answer: bytes, taken: int) -> None:
        """Nothing was asked."""

    def abandon(self) -> None:
        """Nothing is left of it."""
