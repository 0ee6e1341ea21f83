"""What the broker remembers of the clients that report metrics (KIP-714; Kafka: ``ClientMetricsManager``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from kafkastub.config import definition
from kafkastub.config.kafka_table import CLIENT_METRICS
from kafkastub.handlers.context import RequestContext
from kafkastub.metadata import uuid_text
from kafkawire.errors import ErrorCode
from kafkawire.java_order import string_map_order
from kafkawire.records.checksum import crc32c

RESERVED_IDS: Final = frozenset((bytes(16), bytes(15) + b"\x01"))
DEFAULT_INTERVAL_MS: Final = 300_000
ALL_METRICS: Final = "*"
_MOST_INSTANCES: Final = 16_384
_SHORTEST_MEMORY_MS: Final = 60_000
_LONG_AGO: Final = -(1 << 62)


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


class Telemetry:
    """The client instances, the least recently seen first; at most 16,384 of them."""

    def __init__(self) -> None:
        self._instances: dict[bytes, Instance] = {}
        self._version = 0

    def subscriptions_changed(self) -> None:
        """A client metrics subscription was altered: what is known of an instance no longer holds."""
        self._version += 1

    def knows(self, instance_id: bytes) -> bool:
        return instance_id in self._instances

    def instance(self, ctx: RequestContext, instance_id: bytes) -> Instance:
        """That instance as it is subscribed now; forgotten ones, and those not seen yet, begin anew."""
        found = self._instances.pop(instance_id, None)
        if found is None or found.version < self._version or found.forgotten_ms <= ctx.timer_ms:
            found = self._subscribed(ctx, instance_id)
        self._instances[instance_id] = found
        found.forgotten_ms = ctx.timer_ms + max(_SHORTEST_MEMORY_MS, 3 * found.interval_ms)
        if len(self._instances) > _MOST_INSTANCES:
            del self._instances[next(iter(self._instances))]
        return found

    def _subscribed(self, ctx: RequestContext, instance_id: bytes) -> Instance:
        interval_ms = DEFAULT_INTERVAL_MS
        wanted: dict[str, None] = {}
        about = _attributes(ctx, instance_id)
        for texts in ctx.state.cluster.client_metrics_configs.values():
            values = _typed(texts)
            if _matches(values["match"], about):
                wanted.update(dict.fromkeys(values["metrics"]))
                interval_ms = min(interval_ms, values["interval.ms"])
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


def _typed(texts: Mapping[str, str]) -> dict[str, Any]:
    return {
        name: definition.parse(name, row, texts[name]) if name in texts else row[1]
        for name, row in CLIENT_METRICS.items()
    }


def _attributes(ctx: RequestContext, instance_id: bytes) -> dict[str, str | None]:
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


def _matches(patterns: Iterable[str], about: Mapping[str, str | None]) -> bool:
    """All of ``name=expression`` fit the whole attribute; no pattern fits everybody."""
    for pattern in patterns:
        name, _, expression = pattern.partition("=")
        value = about.get(name.strip())
        if value is None or re.fullmatch(expression.strip(), value) is None:
            return False
    return True
