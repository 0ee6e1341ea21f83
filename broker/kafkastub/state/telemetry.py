"""What the broker remembers of the clients that report metrics (KIP-714; Kafka: ``ClientMetricsManager``)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import Final, Protocol

from kafkastub.config import InvalidValue, definition
from kafkastub.config.kafka_table import CLIENT_METRICS
from kafkastub.config.other import match_patterns
from kafkastub.config.patterns import Pattern
from kafkastub.metadata import uuid_text
from kafkawire.errors import ErrorCode
from kafkawire.java_order import string_map_order
from kafkawire.records.checksum import crc32c

RESERVED_IDS: Final = frozenset((bytes(16), bytes(15) + b"\x01"))
DEFAULT_INTERVAL_MS: Final = 300_000
ALL_METRICS: Final = "*"
_MOST_INSTANCES: Final = 16_384
_SHORTEST_MEMORY_MS: Final = 60_000
MOST_PLACES: Final = 4_000
"""Of the patterns of all subscriptions: each new client is compared with them, and the others wait meanwhile."""
_LONG_AGO: Final = -(1 << 62)


class Channel(Protocol):
    """The connection that a report comes in on: who the client says that it is, and where it comes from."""

    @property
    def software_name(self) -> str: ...

    @property
    def software_version(self) -> str: ...

    @property
    def client_host(self) -> str: ...

    @property
    def peer(self) -> str: ...


class Request(Protocol):
    """As much of a request as subscriptions depend on; a handler's `RequestContext` is one."""

    @property
    def client_id(self) -> str | None: ...

    @property
    def timer_ms(self) -> int: ...

    @property
    def connection(self) -> Channel: ...


class Instance:
    """One client instance: what it is asked for, and when it last came (timer time, ms)."""

    __slots__ = (
        "forgotten_ms", "instance_id", "interval_ms", "last_error", "last_get_ms", "last_push_ms", "metrics",
        "subscription_id", "terminating", "version",
    )  # fmt: skip

    def __init__(self, instance_id: bytes, metrics: list[str], interval_ms: int, version: int) -> None:
        self.instance_id = instance_id
        self.metrics = metrics
        self.interval_ms = interval_ms
        self.version = version
        self.subscription_id = subscription_id(metrics, interval_ms, instance_id)
        self.last_get_ms = self.last_push_ms = _LONG_AGO
        self.last_error = ErrorCode.NONE
        self.terminating = False
        self.forgotten_ms = 0

    def may_get(self, now_ms: int) -> bool:
        """Whether the push interval has passed; the request counts if so."""
        if now_ms - max(self.last_get_ms, self.last_push_ms) < self.interval_ms:
            return False
        self.last_get_ms = now_ms
        return True

    def may_push(self, now_ms: int) -> bool:
        """The first push after the subscriptions were asked for may come at any time; it counts if allowed."""
        if self.last_get_ms <= self.last_push_ms and now_ms - self.last_push_ms < self.interval_ms:
            return False
        self.last_push_ms = now_ms
        return True


class Subscription:
    """A client metrics subscription as it is configured."""

    __slots__ = ("interval_ms", "metrics", "patterns")

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Raises InvalidValue."""
        values = {
            name: definition.parse(name, row, texts[name]) if name in texts else row[1]
            for name, row in CLIENT_METRICS.items()
        }
        self.metrics: list[str] = values["metrics"]
        self.interval_ms: int = values["interval.ms"]
        self.patterns: dict[str, Pattern] = match_patterns(values["match"])

    @property
    def places(self) -> int:
        """What its patterns cost."""
        return sum(pattern.places for pattern in self.patterns.values())

    def concerns(self, about: Mapping[str, str | None]) -> bool:
        """All patterns fit the whole attribute; no pattern fits everybody."""
        for name, pattern in self.patterns.items():
            value = about[name]
            if value is None or not pattern.fullmatch(value):
                return False
        return True


class Telemetry:
    """The client instances, the least recently seen first; at most 16,384 of them."""

    def __init__(self) -> None:
        self._instances: dict[bytes, Instance] = {}
        self._version = 0
        self._subscriptions: dict[str, Subscription] | None = None
        """By name, once they were read."""
        self._places = 0
        """Of all their patterns."""

    def has_room(self, configs: Mapping[str, Mapping[str, str]], name: str, texts: Mapping[str, str]) -> bool:
        """Whether the subscription may become this, for the sake of those who wait while patterns are tried.

        `configs` is what all of them are now. Raises InvalidValue.
        """
        before = self._read(configs).get(name)
        return self._places - (before.places if before else 0) + Subscription(texts).places <= MOST_PLACES

    def altered(self, configs: Mapping[str, Mapping[str, str]], name: str) -> None:
        """A client metrics subscription was altered: what is known of an instance no longer holds."""
        self._version += 1
        subscriptions = self._read(configs)
        before = subscriptions.pop(name, None)
        self._places -= before.places if before else 0
        if name in configs:
            self._add(subscriptions, name, configs[name])

    def all_altered(self) -> None:
        """Any subscription may be another one now."""
        self._version += 1
        self._subscriptions = None
        self._places = 0

    def knows(self, instance_id: bytes) -> bool:
        return instance_id in self._instances

    def instance(self, ctx: Request, configs: Mapping[str, Mapping[str, str]], instance_id: bytes) -> Instance:
        """That instance as it is subscribed now; forgotten ones, and those not seen yet, begin anew.

        `configs` is what all subscriptions are now.
        """
        found = self._instances.pop(instance_id, None)
        if found is None or found.version < self._version or found.forgotten_ms <= ctx.timer_ms:
            found = self._subscribed(ctx, configs, instance_id)
        self._instances[instance_id] = found
        found.forgotten_ms = ctx.timer_ms + max(_SHORTEST_MEMORY_MS, 3 * found.interval_ms)
        if len(self._instances) > _MOST_INSTANCES:
            del self._instances[next(iter(self._instances))]
        return found

    def _read(self, configs: Mapping[str, Mapping[str, str]]) -> dict[str, Subscription]:
        if self._subscriptions is None:
            self._subscriptions = {}
            for name, texts in configs.items():
                self._add(self._subscriptions, name, texts)
        return self._subscriptions

    def _add(self, subscriptions: dict[str, Subscription], name: str, texts: Mapping[str, str]) -> None:
        with contextlib.suppress(InvalidValue):  # kept by an older release, which took more patterns
            subscriptions[name] = Subscription(texts)
            self._places += subscriptions[name].places

    def _subscribed(self, ctx: Request, configs: Mapping[str, Mapping[str, str]], instance_id: bytes) -> Instance:
        interval_ms = DEFAULT_INTERVAL_MS
        wanted: dict[str, None] = {}
        about = _attributes(ctx, instance_id)
        for subscription in self._read(configs).values():
            if subscription.concerns(about):
                wanted.update(dict.fromkeys(subscription.metrics))
                interval_ms = min(interval_ms, subscription.interval_ms)
        if ALL_METRICS in wanted:
            wanted = {ALL_METRICS: None}
        metrics = string_map_order(wanted)
        return Instance(instance_id, metrics, interval_ms, self._version)


def subscription_id(metrics: Iterable[str], interval_ms: int, instance_id: bytes) -> int:
    """Kafka: ClientMetricsManager.computeSubscriptionId; a signed 32-bit number."""
    crc = crc32c(f"[{', '.join(metrics)}]{interval_ms}".encode())
    words = (int.from_bytes(instance_id[at : at + 4], "big") for at in range(0, 16, 4))
    for word in words:
        crc ^= word
    return crc - (1 << 32) if crc >> 31 else crc


def _attributes(ctx: Request, instance_id: bytes) -> dict[str, str | None]:
    """What a subscription's patterns may look at (Kafka: ClientMetricsInstanceMetadata)."""
    connection = ctx.connection
    return {
        "client_instance_id": uuid_text(instance_id),
        "client_id": ctx.client_id,
        "client_software_name": connection.software_name,
        "client_software_version": connection.software_version,
        "client_source_address": connection.client_host.removeprefix("/"),
        "client_source_port": connection.peer.rpartition(":")[2],
    }
