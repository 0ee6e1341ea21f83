"""Counters of requests: how many, of which version, with which errors, how long they took. No format for them here.

Errors are counted as Kafka counts them (`ErrorsPerSec`): every error code in an answer, NONE included. Handlers give
the same answer object again where nothing has changed, so that most answers are counted by looking at one object.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from kafkastub.handlers.outcome import CLOSE, NO_REPLY, Silence
from kafkastub.journal.extract import Tally, error_tally
from kafkastub.journal.ring import Outcome
from kafkastub.server.dispatch import Route
from kafkawire.api import ApiKey
from kafkawire.schema import Message

_WORDS: Final[dict[object, str]] = {CLOSE: "closed", NO_REPLY: "no_reply"}

BUCKETS: Final = 64
"""Bucket n of a latency histogram holds what took less than 2**n ns, and at least half of that."""


class Meter:
    """Of one version of one API."""

    __slots__ = (
        "_codes", "_errors", "_keeps", "_requests", "_tally", "api", "buckets", "last", "now", "same", "total_ns",
        "version",
    )  # fmt: skip

    def __init__(self, api: str, version: int, tally: Tally, keeps: bool) -> None:
        self.api = api
        self.version = version
        self._tally = tally
        self._keeps = keeps
        """Whether answers are short enough to be kept for being looked at once."""
        self._requests = 0
        self._errors: Counter[int] = Counter()
        self.buckets = [0] * BUCKETS
        self.total_ns = 0
        self.last: Message | None = None
        """The last answer, where it may come again."""
        self._codes: dict[int, int] = {}
        """Its errors."""
        self.same = 0
        """How often it was given since it was last looked at."""
        self.now = 0
        """Answers that are not on their way yet: how long they took is not known."""

    def change(self, response: Message) -> None:
        """An answer other than the last."""
        self.settle()
        self._codes = self._tally(response)
        self.last = response if self._keeps else None
        self.same = 1

    def took(self, ns: int, times: int) -> None:
        """So long until the answer was on its way."""
        self.total_ns += ns * times
        self.buckets[ns.bit_length()] += times

    def settle(self) -> None:
        """Count what was only noted."""
        same = self.same
        if same:
            self._requests += same
            for code, times in self._codes.items():
                self._errors[code] += times * same
            self.same = 0

    @property
    def requests(self) -> int:
        """Answered ones."""
        self.settle()
        return self._requests

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
        self.touched: list[Meter] = []
        """Those that wait to be told how long it took."""
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
            version = 0 if route.straight is None else route.version
            tally = error_tally(route.api.response_class(), version)
            meter = self._meters[name] = Meter(*name, tally, route.key != ApiKey.FETCH)
        return meter

    def served(self, ns: int, bytes_in: int, bytes_both: int) -> None:
        """What was counted since the last time took so long, and had so many bytes, requests and answers together."""
        self.bytes_in += bytes_in
        self.bytes_out += bytes_both - bytes_in
        for meter in self.touched:
            meter.took(ns, meter.now)
            meter.now = 0
        self.touched.clear()

    def answered(self, route: Route, response: Message, ns: int) -> None:
        """A reply that had been deferred."""
        meter = self.meter(route)
        meter.change(response)
        meter.took(ns, 1)

    def unanswered(self, route: Route, became: Outcome | Silence) -> None:
        """A request has got no reply."""
        self._unanswered.setdefault(_name(route), Counter())[_WORDS.get(became, became.name.lower())] += 1

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


def _name(route: Route) -> tuple[str, int]:
    return route.key.camel, -1 if route.straight is None else route.version
