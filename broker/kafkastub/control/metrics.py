"""The broker's metrics as Prometheus reads them. docs/control.md lists them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Protocol

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST as CONTENT_TYPE
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from kafkawire.errors import ErrorCode

if TYPE_CHECKING:
    from kafkastub.server.broker import Broker
    from kafkastub.server.watching.metrics import ApiCounts, Metrics

_BOUNDS: Final = range(14, 36, 2)
"""Powers of two in nanoseconds, 16 microseconds to 17 seconds: the upper bounds of the latency histogram."""

_METERS: Final = {
    "offset-commits": ("kafkastub_offset_commits", "Offsets committed (KIP-496), counted per offset."),
    "offset-expirations": ("kafkastub_offset_expirations", "Offsets expired (KIP-496)."),
    "offset-deletions": ("kafkastub_offset_deletions", "Offsets deleted by an administrator (KIP-496)."),
    "group-completed-rebalances": ("kafkastub_group_completed_rebalances", "Rebalances completed (KIP-496)."),
    "consumer-group-rebalances": (
        "kafkastub_consumer_group_rebalances",
        "Epochs that subscriptions and topics have brought to groups of the consumer protocol (KIP-848).",
    ),
    "share-group-rebalances": (
        "kafkastub_share_group_rebalances",
        "Epochs that subscriptions, topics and new state have brought to share groups (KIP-932).",
    ),
    "streams-group-rebalances": (
        "kafkastub_streams_group_rebalances",
        "Epochs that members, topologies and topics have brought to streams groups (KIP-1071).",
    ),
}

_ACKNOWLEDGE_TYPES: Final = ("gap", "accept", "release", "reject", "renew")
"""By their codes in ShareAcknowledge."""


def exposition(broker: Broker) -> bytes:
    """The text of a scrape."""
    return _text(_OfBroker(broker))


def exposition_of_seen(seen: Seen) -> bytes:
    """The same of what has no state of its own."""
    return _text(_OfSeen(seen))


def _text(collector: Collector) -> bytes:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(collector)
    return generate_latest(registry)


class Watched(Protocol):
    """What counts requests."""

    @property
    def metrics(self) -> Metrics | None: ...
    @property
    def faults(self) -> Fired: ...


class Fired(Protocol):
    """What has met faults."""

    fired: dict[str, int]


class Seen(Protocol):
    """Whoever sees requests pass, or serves them."""

    @property
    def observer(self) -> Watched: ...
    @property
    def connections(self) -> tuple[int, int]: ...


class _OfSeen(Collector):
    def __init__(self, seen: Seen) -> None:
        self._seen = seen

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        yield from _of_seen(self._seen)


class _OfBroker(Collector):
    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        broker = self._broker
        for name, count in broker.state.meters().items():
            yield CounterMetricFamily(*_METERS[name], value=count)
        yield from _of_seen(broker)
        yield from _of_state(broker)


def _of_seen(seen: Seen) -> Iterator[Metric]:
    metrics = seen.observer.metrics
    if metrics is not None:
        yield from _of_requests(metrics.apis())
        yield CounterMetricFamily(
            "kafkastub_requests_refused",
            "Frames that were refused: no request that the broker serves.",
            metrics.refused,
        )
        yield CounterMetricFamily("kafkastub_received_bytes", "Bytes of requests.", metrics.bytes_in)
        yield CounterMetricFamily("kafkastub_sent_bytes", "Bytes of answers.", metrics.bytes_out)
    now, ever = seen.connections
    yield GaugeMetricFamily("kafkastub_connections", "Open client connections.", now)
    yield CounterMetricFamily("kafkastub_connections_accepted", "Client connections accepted.", ever)
    fired = CounterMetricFamily("kafkastub_faults_fired", "Requests on which a fault rule fired.", labels=["fault"])
    for fault, times in seen.observer.faults.fired.items():
        fired.add_metric([fault], times)
    yield fired


def _of_requests(apis: list[ApiCounts]) -> Iterator[Metric]:
    requests = CounterMetricFamily("kafkastub_requests", "Requests, answered or not.", labels=["api", "version"])
    errors = CounterMetricFamily(
        "kafkastub_request_errors", "Error codes in answers, NONE included.", labels=["api", "version", "error"]
    )
    unanswered = CounterMetricFamily(
        "kafkastub_requests_unanswered", "Requests without an answer, and why.", labels=["api", "version", "outcome"]
    )
    seconds = HistogramMetricFamily(
        "kafkastub_request_duration_seconds",
        "Seconds from the request's arrival until its answer was sent.",
        labels=["api", "version"],
    )
    for each in apis:
        labels = [each.api, "unknown" if each.version < 0 else str(each.version)]
        requests.add_metric(labels, each.requests)
        for code, times in sorted(each.errors.items()):
            errors.add_metric([*labels, _error_name(code)], times)
        for outcome, times in sorted(each.unanswered.items()):
            unanswered.add_metric([*labels, outcome], times)
        seconds.add_metric(labels, _cumulative(each.buckets), each.seconds)
    yield from (requests, errors, unanswered, seconds)


def _cumulative(buckets: list[int]) -> list[tuple[str, float]]:
    """(upper bound in seconds, how many took at most that long)."""
    found = [(repr(2**bound / 1e9), float(sum(buckets[: bound + 1]))) for bound in _BOUNDS]
    return [*found, ("+Inf", float(sum(buckets)))]


def _of_state(broker: Broker) -> Iterator[Metric]:
    state, clock = broker.state, broker.clock
    groups = GaugeMetricFamily("kafkastub_groups", "Groups by protocol and state.", labels=["protocol", "state"])
    counts = Counter((group.group_type, group.state_name) for group in state.coordinator.groups.values())
    for labels, count in sorted(counts.items()):
        groups.add_metric(labels, count)
    yield groups
    yield from _of_transactions(broker)
    yield from _of_share_groups(broker)
    yield GaugeMetricFamily("kafkastub_offsets", "Committed offsets.", state.coordinator.offsets.count)
    yield GaugeMetricFamily("kafkastub_topics", "Topics.", len(state.cluster.topics))
    yield GaugeMetricFamily(
        "kafkastub_nodes_running", "Running nodes.", sum(node.alive for node in state.cluster.nodes.values())
    )
    yield GaugeMetricFamily("kafkastub_clock_seconds", "Broker time in Unix seconds.", clock.broker_ms() / 1000)
    yield GaugeMetricFamily("kafkastub_clock_frozen", "1 while broker time stands still.", int(clock.frozen))


def _of_transactions(broker: Broker) -> Iterator[Metric]:
    states: Counter[str] = Counter()
    committed = aborted = timed_out = under_way = 0
    if broker.state.has_transactions:
        transactions = broker.state.transactions
        states.update(one.metadata.state.camel for one in transactions.coordinator.transactions.values())
        meters = transactions.coordinator.meters
        committed, aborted, timed_out = meters.committed, meters.aborted, meters.timed_out
        under_way = sum(map(len, transactions.under_way.values()))
    ids = GaugeMetricFamily("kafkastub_transactions", "Transactional ids by their state.", labels=["state"])
    for name, count in sorted(states.items()):
        ids.add_metric([name], count)
    yield ids
    ended = CounterMetricFamily("kafkastub_transactions_ended", "Completed transactions.", labels=["result"])
    ended.add_metric(["committed"], committed)
    ended.add_metric(["aborted"], aborted)
    yield ended
    yield CounterMetricFamily(
        "kafkastub_transactions_timed_out",
        "Transactions aborted by their timeout or by a test.",
        timed_out,
    )
    yield GaugeMetricFamily(
        "kafkastub_transaction_markers", "Partitions to which a marker is being written, or is held.", under_way
    )


def _of_share_groups(broker: Broker) -> Iterator[Metric]:
    acknowledged: Counter[int] = Counter()
    sessions = partitions = in_flight = 0
    letters: Counter[str] = Counter()
    if broker.state.has_share_partitions:
        manager = broker.state.share_partitions
        acknowledged, sessions = manager.acknowledged, manager.sessions
        partitions, in_flight = len(manager.partitions), manager.in_flight()
        letters["written"] = manager.dead_letters.written
        letters["failed"] = manager.dead_letters.failed
    said = CounterMetricFamily("kafkastub_share_acknowledged", "Acknowledged records.", labels=["type"])
    for code, name in enumerate(_ACKNOWLEDGE_TYPES):
        said.add_metric([name], acknowledged[code])
    yield said
    yield GaugeMetricFamily("kafkastub_share_sessions", "Share sessions of members.", sessions)
    yield GaugeMetricFamily("kafkastub_share_partitions", "Share partitions in memory.", partitions)
    yield GaugeMetricFamily(
        "kafkastub_share_records_in_flight", "Records between the start and the end of share partitions.", in_flight
    )
    dead = CounterMetricFamily("kafkastub_share_dead_letters", "Dead letters of share groups.", labels=["result"])
    for result in ("written", "failed"):
        dead.add_metric([result], letters[result])
    yield dead


def _error_name(code: int) -> str:
    try:
        return ErrorCode(code).name
    except ValueError:
        return str(code)


__all__ = ["CONTENT_TYPE", "exposition", "exposition_of_seen"]
