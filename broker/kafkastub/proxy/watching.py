"""The seam of journal, metrics, faults and chaos. While all of them are off, nothing of it is there (`Proxy.watch`).

It is to a proxy what `server.watching.observer` is to a broker, and offers the same: whoever has a plan, a journal or
metrics gives it here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kafkastub.journal.redact import may_be_token
from kafkastub.journal.ring import Outcome as Became
from kafkastub.journal.without_contents import WITH_RECORDS, zeroed
from kafkastub.proxy.acting import Faulty
from kafkastub.proxy.sessions import FetchSessions
from kafkastub.server.watching.switches import Switches
from kafkawire.api import ApiKey
from kafkawire.codec import decode_from
from kafkawire.errors import ErrorCode, MalformedMessage
from kafkawire.header import read_request_header

if TYPE_CHECKING:
    from kafkastub.faults import Plan
    from kafkastub.handlers.context import ConnectionInfo
    from kafkastub.journal.without_contents import WithoutContents
    from kafkastub.proxy.routes import Route
    from kafkastub.proxy.under_way import Client, Pending
    from kafkastub.server.watching.faults import Action
    from kafkastub.server.watching.metrics import Metrics

LARGEST_KEPT: Final = 1 << 24
"""Bytes of a frame of which journal and metrics see more than that it was there."""
_LARGEST_TALLIED: Final = 1 << 20
"""Bytes of an answer of which the errors are counted."""
_SHORT: Final = 1 << 10
_MOST_NAMES: Final = 1000


class Context(NamedTuple):
    """What a plan asks of a request beside its body."""

    connection: ConnectionInfo
    client_id: str | None
    broker_ms: int

    @property
    def node_id(self) -> int:
        return self.connection.node_id


class Fired:
    """How often faults have acted, by their names."""

    def __init__(self) -> None:
        self.fired: dict[str, int] = {}

    def count(self, name: str) -> None:
        """One more."""
        if name in self.fired or len(self.fired) < _MOST_NAMES:
            self.fired[name] = self.fired.get(name, 0) + 1


class Watching(Switches):
    """One a proxy. Belongs to the proxy's thread."""

    def __init__(
        self,
        routes: Callable[[], Iterable[Route]],
        now_ms: Callable[[], int],
        switch: Callable[[Watching | None], None],
        learn: Callable[[Route, bytes], None],
        has_sasl: bool,
    ) -> None:
        """`switch` is told whether there is anything to watch; `learn` is given answers to Metadata; `has_sasl`:
        whether clients log in, so that what is no request may be a token.
        """
        super().__init__()
        self._has_sasl = has_sasl
        self._routes = routes
        self._now_ms = now_ms
        self._switch_to = switch
        self._learn = learn
        self.faults = Fired()
        self.sessions = FetchSessions()
        self._follows_sessions = False
        """Whether a rule is about topics or partitions that fetch."""
        self._without: WithoutContents | None = None

    def hide_records(self) -> None:
        """The journal is to have of records how many there were, and not what was in them."""
        from kafkastub.journal.without_contents import WithoutContents

        self._without = WithoutContents()

    def set_plan(self, plan: Plan | None) -> None:
        """These are the fault rules now. A plan that has changed is given again."""
        armed = () if plan is None else plan.rules()
        self._follows_sessions = any(ApiKey.FETCH in one.apis and one.wanted.topical for one in armed)
        super().set_plan(plan)

    def _switch(self) -> None:
        for route in self._routes():
            self.new_route(route)
        watched = self.ring is not None or self.metrics is not None or self.plan is not None
        self._switch_to(self if watched else None)

    def new_route(self, route: Route) -> None:
        """Whether a rule may meet it."""
        route.concerned = (
            self.plan is not None and route.known and route.key is not None and self.plan.concerns(route.key)
        )

    # --- what connections tell

    def keeping(self, size: int) -> list[bytes] | None:
        """Where what passes of a frame of so many bytes is to be kept; None where it is not."""
        wanted = (self.ring is not None or self.metrics is not None) and size <= LARGEST_KEPT
        return [] if wanted else None

    def on_request(
        self, request: Pending, info: ConnectionInfo, data: bytes, start: int, end: int, is_answered: bool
    ) -> None:
        """A request is in `data[start:end]`, without its size."""
        request.started = started = perf_counter_ns()
        if self.metrics is not None:
            self.metrics.bytes_in += 4 + end - start
            if not is_answered and request.route is not None and request.route.known:
                self.metrics.unanswered(request.route, Became.NO_REPLY)  # type: ignore[arg-type]
        ring = self.ring
        if ring is None:
            return
        route = request.route
        if route is None or (not route.known and may_be_token(data[start : start + 8], self._has_sasl)):
            data, start, end = b"", 0, 0
        elif self._without is not None and route.number in WITH_RECORDS:
            data = self._without.request(route.number, route.version, data[start:end])
            start, end = 0, len(data)
        became = Became.PENDING if is_answered else Became.NO_REPLY
        request.raw = raw = [
            data, start, end, None, info, self._now_ms(), started, None if is_answered else started, became, None,
        ]  # fmt: skip
        request.sequence = ring.total
        ring.add(raw)

    def on_answer(self, request: Pending, info: ConnectionInfo, reply: bytes | None) -> None:
        """It was answered by this frame; None where that was too long to be kept."""
        ended, route = perf_counter_ns(), request.route
        if route is None:
            return
        if reply is not None and route.number == ApiKey.METADATA and route.known:
            self._learn(route, reply)
        if request.principal is not None and reply is not None and _is_good(route, reply):
            info.principal = request.principal
        raw, ring = request.raw, self.ring
        if raw is not None:
            kept = reply
            if self._without is not None and reply is not None and route.number in WITH_RECORDS:
                kept = self._without.answer(route.number, route.version, reply)
            raw[3], raw[7], raw[8] = kept, ended, Became.REPLY
            if ring is not None:
                ring.complete(request.sequence, raw)
        if self.metrics is not None and route.known:
            self._count(self.metrics, route, reply, ended - request.started, request.answer)

    def _count(self, metrics: Metrics, route: Route, reply: bytes | None, ns: int, read: Any) -> None:
        metrics.bytes_out += 0 if reply is None else len(reply)
        meter = metrics.meter(route)  # type: ignore[arg-type]
        if read is not None:
            meter.change(read)
        elif reply is None or len(reply) > _LARGEST_TALLIED:
            meter.change_to(None, {})
        else:
            body = reply[9 if route.flexible_answer else 8 :]
            if body == route.last_body and route.last_message is not None and meter.last is route.last_message:
                meter.requests += 1
            else:
                try:
                    message = route.decode_answer(body)
                except (MalformedMessage, ValueError):
                    meter.change_to(None, {})
                else:
                    meter.change(message)
                    if len(body) <= _SHORT:
                        route.last_body, route.last_message = body, message
        meter.add_time(ns)

    def on_no_answer(
        self, request: Pending, became: Became | None = None, sent: bytes | None = None, *, closed: bool = False
    ) -> None:
        """There is no answer, or a part of one: the client has gone, or the broker has closed the connection."""
        if became is None:
            became = Became.CLOSED if closed else Became.DROPPED
        raw = request.raw
        if raw is not None and raw[8] is Became.PENDING:
            kept = sent
            if (
                self._without is not None
                and sent
                and request.route is not None
                and request.route.number in WITH_RECORDS
            ):
                kept = zeroed(sent)  # a part of an answer cannot be read
            raw[3], raw[7], raw[8] = kept, perf_counter_ns(), became
            if self.ring is not None:
                self.ring.complete(request.sequence, raw)
        route = request.route
        if self.metrics is not None and route is not None and route.known:
            self.metrics.bytes_out += len(sent or b"")
            self.metrics.unanswered(route, became)  # type: ignore[arg-type]

    # --- what happens to requests

    def match(self, client: Client, pending: Pending, frame: bytes) -> Faulty | None:
        """What happens to this request, None where nothing does. `frame`: without its size."""
        route, plan = pending.route, self.plan
        if plan is None or route is None or route.key is None:
            return None
        try:
            header = read_request_header(frame, 0, len(frame), route.flexible_request)
            request: Any = decode_from(route.api.request_class(), route.version, frame, header.end)[0]
        except (MalformedMessage, ValueError):
            return None
        context = Context(client.info, header.client_id, self._now_ms())
        if route.key == ApiKey.FETCH:
            again = self.sessions.note_request(client.info.node_id, request) if self._follows_sessions else False
            if again:
                return Faulty(_anew(), route, header, request)
            if self._follows_sessions and request.session_id == 0 and request.session_epoch == 0:
                pending.fetch = partial(self._begun, client.info.node_id, route, request)
        action = plan.match(route, context, request)
        if action is None:
            return None
        self.faults.count(action.fault)
        if pending.raw is not None:
            pending.raw[9] = action.fault
        return Faulty(action, route, header, request)

    def _begun(self, node_id: int, route: Route, request: Any, answer: bytes) -> None:
        at = 8 + route.flexible_answer + 6
        if route.version >= 7 and len(answer) >= at + 4:
            self.sessions.begun(node_id, int.from_bytes(answer[at : at + 4], signed=True), request)


def _anew() -> Action:
    """A session that has begun before the rules: the client is told to begin another one, of which all is known."""
    from kafkastub.faults import Action as Done

    return Done(fault="session", work=False, error=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)


def _is_good(route: Route, reply: bytes) -> bool:
    at = 9 if route.flexible_answer else 8
    return reply[at : at + 2] == b"\0\0"
