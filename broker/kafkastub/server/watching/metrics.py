"""Counters of requests: how many, of which version, with which errors, how long they took. No format for them here.

Errors are counted as Kafka counts them (`ErrorsPerSec`): every error code in an answer, NONE included. Handlers give
the same answer object again where nothing has changed, so that most answers are counted by looking at one object; so do
fast paths, or all answers of one have the same errors, so that one of them is looked at.

Requests are counted one by one in front of their handlers; how long they took is learnt for all that were read
together, behind them: it belongs to those that were counted and not timed.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Container
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final

from kafkastub.handlers.context import ConnectionInfo, RequestContext
from kafkastub.handlers.outcome import CLOSE, NO_REPLY, Deferred, Outcome, Silence
from kafkastub.handlers.registry import Handler
from kafkastub.journal.extract import Tally, error_steps, error_tally
from kafkastub.journal.ring import Outcome as Became
from kafkastub.layers.fast_paths.contract import FastPath, Memory
from kafkastub.layers.fast_paths.table import FAST_PATHS
from kafkastub.server.routes import Exchange, Route
from kafkastub.state.pace import Pace, no_pause
from kafkastub.steps import Steps, a_part
from kafkawire.api import ApiKey
from kafkawire.codec import Parts, decode_from
from kafkawire.schema import Message

_WORDS: Final[dict[object, str]] = {CLOSE: "closed", NO_REPLY: "no_reply"}

_AT_ONCE: Final = 256
"""Things of a large answer that are counted between two pauses, an eighth of a microsecond each."""

_MOST_ANSWERS: Final = 128
"""Answers of a fast path whose errors are remembered: with several groups they take turns."""

_LONGEST_ANSWER: Final = 1 << 14
"""Bytes of such an answer."""
BUCKETS: Final = 64
"""Bucket n of a latency histogram holds what took less than 2**n ns, and at least half of that."""


class Meter:
    """Of one version of one API."""

    __slots__ = (
        "_codes", "_errors", "_keeps", "_settled", "_steps", "api", "buckets", "known", "last", "requests", "tally",
        "timed", "total_ns", "version",
    )  # fmt: skip

    def __init__(
        self,
        api: str,
        version: int,
        tally: Tally,
        keeps: bool,
        steps: Callable[[], Callable[[Message], Steps[dict[int, int]]]],
    ) -> None:
        self.api = api
        self.version = version
        self.tally = tally
        """Counts the errors in an answer."""
        self._steps = steps
        """Gives what counts them piece by piece."""
        self._keeps = keeps
        """Whether answers are short enough to be kept for being looked at once."""
        self.requests = 0
        """Answered ones."""
        self.timed = 0
        """Those of them of which is known how long they took."""
        self._settled = 0
        """Those of them whose errors are counted."""
        self._errors: Counter[int] = Counter()
        self.buckets = [0] * BUCKETS
        self.total_ns = 0
        self.last: Message | bytes | FastPath | None = None
        """The last answer, where it may come again, or the fast path that gave it."""
        self.known: dict[int, dict[int, int]] = {}
        """The errors of long answers that a fast path has learnt, by the hash of the answer's body."""
        self._codes: dict[int, int] = {}
        """The errors of the last answer, and of all that are not settled."""

    def change(self, response: Message, pace: Pace = no_pause) -> None:
        """An answer other than the last."""
        codes = self.tally(response) if pace is no_pause else self._counted(response, pace)
        self.change_to(response if self._keeps else None, codes)

    def _counted(self, response: Message, pace: Pace) -> dict[int, int]:
        steps = self._steps()(response)
        while (found := a_part(steps, _AT_ONCE)) is None:
            pace(_AT_ONCE // 8)
        return found[0]

    def change_to(self, last: Message | bytes | FastPath | None, codes: dict[int, int]) -> None:
        """The same, where its errors are known."""
        self.settle()
        self._codes = codes
        self.last = last
        self.requests += 1

    def add_time(self, ns: int) -> None:
        """So long until those that were not timed were on their way."""
        times = self.requests - self.timed
        self.timed = self.requests
        self.total_ns += ns * times
        self.buckets[ns.bit_length()] += times

    def settle(self) -> None:
        """Count what was only noted."""
        same = self.requests - self._settled
        if same:
            for code, times in self._codes.items():
                self._errors[code] += times * same
            self._settled = self.requests

    @property
    def errors(self) -> dict[int, int]:
        """Error code -> how often it stood in an answer."""
        self.settle()
        return dict(self._errors)


@dataclass(frozen=True)
class ApiCounts:
    """What one version of one API has come to."""

    api: str
    version: int
    requests: int
    """Answered or not."""
    errors: dict[int, int]
    unanswered: dict[str, int]
    """"no_reply", "closed", "dropped" -> how many."""
    seconds: float
    """Of all answered ones together."""
    buckets: list[int]
    """As `BUCKETS` says, answered ones only."""


class Metrics:
    """Of one broker."""

    def __init__(self) -> None:
        self._meters: dict[tuple[str, int], Meter] = {}
        """Bounded by the versions that exist, ApiVersions of unknown versions together."""
        self._unanswered: dict[tuple[str, int], Counter[str]] = {}
        self._by_key: dict[bytes, Meter] = {}
        """By the bytes of key and version, as a request begins."""
        self.refused = 0
        """Requests that were none that could be served."""
        self.bytes_in = 0
        """Of requests."""
        self.bytes_out = 0
        """Of answers."""

    def meter(self, route: Route) -> Meter:
        """The route's."""
        name = _name(route)
        meter = self._meters.get(name)
        if meter is None:
            version = 0 if route.fast_decode is None else route.version
            tally = error_tally(route.api.response_class(), version)
            steps = partial(error_steps, route.api.response_class(), version)
            meter = self._meters[name] = Meter(*name, tally, route.key != ApiKey.FETCH, steps)
            self._by_key[_key_version(route.key, route.version)] = meter
        return meter

    def counted(self, route: Route, lowered: Callable[[Exchange, Exception], Outcome]) -> Handler:
        """The route's handler, with its outcomes counted. `lowered` makes an answer of what it raises."""
        meter, inner, unanswered = self.meter(route), route.handler, self.unanswered

        def handle(context: RequestContext, request: Any) -> Outcome:
            try:
                outcome = inner(context, request)
            except Exception as error:
                outcome = lowered(Exchange(route, context, request), error)
            if outcome is meter.last:
                meter.requests += 1
            elif isinstance(outcome, Message):
                meter.change(outcome, context.pace)
            elif not isinstance(outcome, Deferred):
                unanswered(route, outcome)
            return outcome

        handle.inner = inner  # type: ignore[attr-defined]
        return handle

    def counted_fast_path(self, route: Route, inner: FastPath) -> FastPath:
        """The route's fast path, with its answers counted."""
        meter, response_class, version = self.meter(route), route.api.response_class(), route.version
        alike, known = FAST_PATHS[route.key].alike, meter.known

        @lru_cache(maxsize=_MOST_ANSWERS)
        def errors_in(answer: bytes) -> dict[int, int]:
            return meter.tally(decode_from(response_class, version, answer, 0)[0])

        def fast_path(
            info: ConnectionInfo, data: bytes, body: int, end: int, broker_ms: int, timer_ms: int
        ) -> bytes | None:
            found = inner(info, data, body, end, broker_ms, timer_ms)
            if found is not None:
                answer = inner if alike else found
                if meter.last is answer:
                    meter.requests += 1
                elif len(found) <= _LONGEST_ANSWER:
                    meter.change_to(answer, errors_in(found))
                else:
                    codes = known.get(hash(found))  # which is computed once for an answer that comes again
                    meter.change_to(answer, errors_in.__wrapped__(found) if codes is None else codes)
            return found

        return fast_path

    def counted_memory(self, route: Route, inner: Memory) -> Memory:
        """The route's memory. The errors in what it learns are counted in the message, not in its bytes: to decode
        those takes ten times as long, at once.
        """
        return _CountedMemory(self.meter(route), inner)

    def served(self, key: bytes, count: int, ns: int, bytes_in: int, bytes_out: int) -> None:
        """So many requests, of which the first begins with `key`, took so long together, and had so many bytes."""
        self.bytes_in += bytes_in
        self.bytes_out += bytes_out
        meter = self._by_key.get(key)
        if meter is not None and meter.requests - meter.timed == count:
            meter.timed = meter.requests  # as `add_time`
            meter.total_ns += ns * count
            meter.buckets[ns.bit_length()] += count
            return
        for meter in self._meters.values():  # they were of several APIs
            meter.add_time(ns)

    def count_deferred(self, route: Route, response: Message, ns: int, pace: Pace) -> None:
        """A reply that had been deferred."""
        meter = self.meter(route)
        meter.change(response, pace)
        meter.add_time(ns)

    def unanswered(self, route: Route, became: Became | Silence) -> None:
        """A request has got no reply."""
        self._unanswered.setdefault(_name(route), Counter())[_WORDS.get(became, became.name.lower())] += 1

    def request_count(self, apis: Container[str]) -> int:
        """How often these APIs were asked, answered or not yet: cheap, for those who look again and again."""
        return sum(meter.requests for (api, _), meter in self._meters.items() if api in apis)

    def apis(self) -> list[ApiCounts]:
        """By API and version."""
        counts = []
        for name in sorted({*self._meters, *self._unanswered}):
            meter, unanswered = self._meters.get(name), self._unanswered.get(name, Counter[str]())
            requests = sum(unanswered.values()) + (0 if meter is None else meter.requests)
            errors: dict[int, int] = {} if meter is None else meter.errors
            seconds = 0.0 if meter is None else meter.total_ns / 1e9
            buckets = [0] * BUCKETS if meter is None else list(meter.buckets)
            counts.append(ApiCounts(*name, requests, errors, dict(unanswered), seconds, buckets))
        return counts


class _CountedMemory:
    """A `Memory`."""

    def __init__(self, meter: Meter, inner: Memory) -> None:
        self._meter = meter
        self._inner = inner

    @property
    def token(self) -> object:
        return self._inner.token

    def keep(self, info: ConnectionInfo, raw: bytes, request: Any, answer: Any, token: object, body: Parts) -> None:
        self._inner.keep(info, raw, request, answer, token, body)
        if sum(map(len, body)) > _LONGEST_ANSWER:
            known = self._meter.known
            if len(known) >= _MOST_ANSWERS:
                known.clear()
            known[hash(b"".join(body))] = self._meter.tally(answer)


_key_version = struct.Struct(">hh").pack


def _name(route: Route) -> tuple[str, int]:
    return route.key.camel, -1 if route.fast_decode is None else route.version
