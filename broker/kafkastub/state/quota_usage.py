"""What clients have used of their quotas, and whose channels are muted for it.

All of it goes by timer time; see `layers.quotas` for the way of a request. What a handler has to do itself, because its
work depends on it, it does with `BrokerState.throttle`: Fetch gives nothing to who has to wait, CreateTopics,
DeleteTopics and CreatePartitions refuse.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

from kafkastub.config import BrokerConfig
from kafkastub.security.quota_meters import UNLIMITED, Meters, Rates
from kafkastub.security.quota_rates import TokenBucket, Windows
from kafkastub.security.quotas import (
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    Quotas,
)
from kafkastub.state.deferred import Deferred, as_it_is
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.schema import Message

if TYPE_CHECKING:
    from kafkastub.metadata import Topic

_PERCENT_PER_NS: Final = 100 / 1_000_000_000
_CONTROLLER: Final = 0
"""What is counted there is counted once, whichever node is asked."""
_STRICT_FROM: Final = {ApiKey.CREATE_TOPICS: 6, ApiKey.DELETE_TOPICS: 5, ApiKey.CREATE_PARTITIONS: 3}
_NOTHING: Final = Message()
_FEW: Final = 64


class Usage:
    """What the request at hand of one connection uses. Only while there are quotas."""

    __slots__ = ("began", "muted", "size", "took")

    def __init__(self) -> None:
        self.size = 0
        """Bytes of its frame, without the size."""
        self.began = 0
        """When its handler began, in nanoseconds of any clock."""
        self.took = 0
        """Nanoseconds, -1 as long as the handler runs."""
        self.muted: Deferred | None = None
        """After its answer the connection is not listened to until this is complete."""


class Channel(Protocol):
    """The connection that a request came in on."""

    @property
    def usage(self) -> Usage | None: ...


class Request(Protocol):
    """As much of a request as its quotas depend on; a handler's `RequestContext` is one."""

    @property
    def api_key(self) -> ApiKey: ...

    @property
    def api_version(self) -> int: ...

    @property
    def node_id(self) -> int: ...

    @property
    def principal(self) -> str: ...

    @property
    def client_id(self) -> str | None: ...

    @property
    def connection(self) -> Channel: ...


class MutedChannels:
    """Connections that are not listened to, by when they are again."""

    def __init__(self, mark_dirty: Callable[[], None]) -> None:
        self._mark_dirty = mark_dirty
        self._ends: list[tuple[int, int, Deferred]] = []
        self._count = 0
        self._most = _FEW

    def mute(self, until_ms: int) -> Deferred:
        """It is complete at that timer time."""
        if len(self._ends) >= self._most:
            self._ends = [one for one in self._ends if not one[2].abandoned]
            heapq.heapify(self._ends)
            self._most = max(_FEW, 2 * len(self._ends))
        muted = Deferred(as_it_is)
        self._count += 1
        heapq.heappush(self._ends, (until_ms, self._count, muted))
        self._mark_dirty()
        return muted

    def next_deadline(self) -> int | None:
        """Timer time (ms) of the next one that ends."""
        return self._ends[0][0] if self._ends else None

    def expire(self, timer_ms: int) -> None:
        """Listen to whoever has waited long enough."""
        while self._ends and self._ends[0][0] <= timer_ms:
            heapq.heappop(self._ends)[2].complete(_NOTHING)


class Throttle:
    """What is used of all quotas, while there are any."""

    def __init__(
        self,
        quotas: Quotas,
        config: BrokerConfig,
        muted: MutedChannels,
        timer_ms: Callable[[], int],
        nanos: Callable[[], int],
    ) -> None:
        """`timer_ms` is timer time; `nanos` measures how long handlers take."""
        windows = Windows(config["quota.window.num"], config["quota.window.size.seconds"] * 1000)
        controllers = Windows(
            config["controller.quota.window.num"], config["controller.quota.window.size.seconds"] * 1000
        )
        self.produce = Rates(quotas, PRODUCER_BYTE_RATE, windows)
        self.fetch = Rates(quotas, CONSUMER_BYTE_RATE, windows)
        self.request = Rates(quotas, REQUEST_PERCENTAGE, windows)
        self.mutation = Meters(quotas, CONTROLLER_MUTATION_RATE, controllers, TokenBucket)
        self._muted = muted
        self.now = timer_ms
        self.nanos = nanos

    def request_ms(self, ctx: Request) -> int:
        """Count the time that the request took; how long its client has to wait for it, at most one window."""
        if not self.request.enabled:
            return 0
        usage = ctx.connection.usage
        took = 0 if usage is None else usage.took if usage.took >= 0 else self.nanos() - usage.began
        wait = self.request.record(ctx.node_id, *_client(ctx), took * _PERCENT_PER_NS, self.now())
        return min(wait, self.request.windows.size_ms)

    def produce_ms(self, ctx: Request) -> int:
        """Count the request's bytes; how long its client has to wait for them."""
        usage = ctx.connection.usage
        return self.produce.record(ctx.node_id, *_client(ctx), 0 if usage is None else usage.size, self.now())

    def fetch_ms(self, ctx: Request, size: int) -> int:
        """Count the answer's bytes; how long its client has to wait; then they are kept back, and do not count."""
        who, now = _client(ctx), self.now()
        asked = self.request_ms(ctx)
        wait = self.fetch.record(ctx.node_id, *who, size, now)
        if asked or wait:
            self.fetch.take_back(ctx.node_id, *who, size, now)
        return max(asked, wait)

    def most_fetched(self, ctx: Request) -> int:
        """Bytes that a client can be given at once without having to wait for certain."""
        most = self.fetch.most_at_once(ctx.node_id, *_client(ctx), self.now())
        return 0x7FFFFFFF if most == UNLIMITED or most != most else int(min(most, 0x7FFFFFFF))

    def mutations(self, ctx: Request) -> Mutations:
        """For the partitions that one request makes or deletes."""
        return Mutations(self, ctx)

    def created(self, ctx: Request, create: Callable[[], Topic | None]) -> Topic | None:
        """What is created, and counted, where the client has not made too many before."""
        bucket, limit = self.mutation.of(_CONTROLLER, *_client(ctx), self.now())
        if self.mutation.enabled and limit != UNLIMITED and bucket.over(limit, self.now()):
            return None
        topic = create()
        if topic is not None:
            self.mutations(ctx).count(len(topic.partitions))
        return topic

    def mute(self, usage: Usage, ms: int) -> None:
        """Once it is answered, do not listen to the connection for so long."""
        usage.muted = self._muted.mute(self.now() + ms)


class Mutations:
    """One request's partitions that are made or deleted (KIP-599). Old versions are not refused, only slowed down."""

    def __init__(self, throttle: Throttle, ctx: Request) -> None:
        self._throttle = throttle
        self._strict = ctx.api_version >= _STRICT_FROM.get(ctx.api_key, 0)
        self._who = _client(ctx)
        self.ms = 0
        """How long the client has to wait."""

    def count(self, partitions: int) -> None:
        """So many more. Raises THROTTLING_QUOTA_EXCEEDED where there were too many before."""
        meters, now = self._throttle.mutation, self._throttle.now()
        if not meters.enabled:
            return
        bucket, limit = meters.of(_CONTROLLER, *self._who, now)
        if limit == UNLIMITED:
            return
        if self._strict:
            wait = bucket.over(limit, now)
            if wait:
                self.ms = wait
                raise KafkaError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        bucket.record(partitions, limit, now)
        if not self._strict:
            self.ms = bucket.over(limit, now)


def _client(ctx: Request) -> tuple[str, str]:
    """The user's name, and the client id."""
    return ctx.principal.partition(":")[2], ctx.client_id or ""
