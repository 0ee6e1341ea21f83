"""Nodes, topics, records, faults and transactions as tables."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Final

from kafkastub.stub.inventory.tables import Row, Table, cell, content, message, moment, places, some

if TYPE_CHECKING:
    from kafkastub.metadata import Topic
    from kafkastub.server.broker import Broker
    from kafkastub.stub.faults import StubFaults
    from kafkastub.views.records import LogRecord, Stretch

_MOST_TOPICS: Final = 300
_MOST_PARTITIONS: Final = 600
_MOST_READ: Final = 100
"""Partitions of which records are shown."""
_LAST: Final = 5
"""Records of each."""
_TO_DECODE: Final = 1.0
"""Seconds that it may take to decode them all."""


def nodes(broker: Broker) -> Table:
    """Asked in the broker's thread, as the next ones are."""
    from kafkastub.server.nodes import address_text

    cluster = broker.state.cluster
    led: dict[int, int] = {}
    for topic in cluster.topics.values():
        for partition in topic.partitions:
            led[partition.leader] = led.get(partition.leader, 0) + 1
    found, more = some(cluster.nodes.items(), 100)
    rows = tuple(
        (
            str(node_id), "running" if node.alive else "stopped", cell(node.rack), str(led.get(node_id, 0)),
            ", ".join(f"{name} {address_text(*address)}" for name, address in node.endpoints.items()),
        )
        for node_id, node in found
    )  # fmt: skip
    return Table("nodes", ("node", "state", "rack", "leads", "addresses"), rows, more)


def topics(broker: Broker) -> list[Table]:
    """Topics, and their partitions."""
    found, more = some(broker.state.cluster.topics.values(), _MOST_TOPICS)
    rows = tuple((cell(one.name), str(len(one.partitions)), cell(one.internal), message(one.configs)) for one in found)
    partitions = list(islice(_partitions(broker, found), _MOST_PARTITIONS))
    count = sum(len(one.partitions) for one in broker.state.cluster.topics.values() if not one.internal)
    columns = "partition", "leader", "epoch", "replicas", "in sync", "start", "last stable", "end"
    return [
        Table("topics", ("topic", "partitions", "internal", "configured"), rows, more),
        Table("partitions", columns, tuple(partitions), count - len(partitions)),
    ]


def _partitions(broker: Broker, found: Iterable[Topic]) -> Iterator[Row]:
    """The broker's own topics have many, and say nothing to a test."""
    for topic in found:
        for one in topic.partitions if not topic.internal else ():
            log = broker.state.logs.log(topic.topic_id, one.index)
            offsets = ("", "", "")
            if log is not None:
                offsets = str(log.log_start_offset), str(log.last_stable_offset), str(log.log_end_offset)
            yield (
                places([(topic.name, one.index)]), str(one.leader), str(one.leader_epoch),
                " ".join(map(str, one.replicas)), " ".join(map(str, one.isr)), *offsets,
            )  # fmt: skip


def last_stretches(broker: Broker) -> tuple[list[Stretch], int]:
    """The ends of the logs that have something, and how many logs more have; to be decoded in any thread."""
    from kafkastub.views.records import stretch

    def ends() -> Iterator[tuple[str, int, int]]:
        for topic in islice(broker.state.cluster.topics.values(), _MOST_TOPICS):
            for one in topic.partitions if not topic.internal else ():
                log = broker.state.logs.look(topic.topic_id, one.index)
                if log is not None and log.high_watermark > log.log_start_offset:
                    # Markers of transactions have offsets, too.
                    yield topic.name, one.index, max(log.log_start_offset, log.high_watermark - 2 * _LAST)

    first, more = some(ends(), _MOST_READ)
    read = [stretch(broker.state, *place, committed=False) for place in first]
    return read, more


def records(found: tuple[list[Stretch], int]) -> Table:
    """The last records of each partition."""
    from kafkastub.views.records import decoded

    until = monotonic() + _TO_DECODE
    rows: list[Row] = []
    stretches, more = found
    for number, one in enumerate(stretches):
        if monotonic() > until:
            more += len(stretches) - number
            break
        rows += map(_record, deque(decoded(one, committed=False), maxlen=_LAST))
    columns = "partition", "offset", "timestamp", "key", "value", "headers", "transaction"
    return Table(f"records, the last {_LAST} of each partition", columns, tuple(rows), -1 if more else 0)


def _record(one: LogRecord) -> Row:
    headers = ", ".join(f"{cell(name)}={content(value)}" for name, value in one.headers[:10])
    return (
        places([(one.topic, one.partition)]), str(one.offset), moment(one.timestamp), content(one.key),
        content(one.value), headers, cell(one.transaction),
    )  # fmt: skip


def faults(found: StubFaults) -> list[Table]:
    """The rules, and the requests that they hold."""
    first, more = some(found.list(), 200)
    rules = tuple((cell(one.id), str(one.matched), str(one.hits), message(one.rule.to_dict())) for one in first)
    held = [(one.id, request) for one in first for request in one.held]
    waiting = tuple(
        (cell(rule), f"{one.api} v{one.version}", cell(one.client_id), str(one.connection)) for rule, one in held[:200]
    )
    hit = tuple("fault" if one.hits else "" for one in first)
    return [
        Table("faults", ("fault", "matched", "hit", "rule"), rules, more, hit),
        Table("held requests", ("fault", "request", "client", "connection"), waiting, max(0, len(held) - 200)),
    ]  # fmt: skip


def transactions(broker: Broker) -> list[Table]:
    """Transactional ids, and transactions that nobody is going to end."""
    from kafkastub.views.transactions import hanging, view

    state = broker.state
    known = state.transactions if state.has_transactions else None
    if known is not None and known.loading is not None:
        return []
    ids, more = ([], 0) if known is None else some(known.coordinator.transactions, 200)
    seen = [found for found in (view(known, one) for one in ids) if found is not None] if known is not None else []
    rows = tuple(
        (
            cell(one.transactional_id), one.state, f"{one.producer_id}/{one.producer_epoch}", moment(one.start_ms),
            str(one.timeout_ms), places(one.partitions), places(one.pending_markers), "held" if one.held else "",
        )
        for one in seen
    )  # fmt: skip
    columns = "transactional id, state, producer, began, timeout ms, partitions, markers under way, held"
    hang = tuple(
        (places([(one.topic, one.partition)]), f"{one.producer_id}/{one.producer_epoch}", str(one.start_offset),
         moment(one.last_timestamp_ms)) for one in hanging(state, known)[:200]
    )  # fmt: skip
    return [
        Table("transactions", tuple(columns.split(", ")), rows, more),
        Table("hanging transactions", ("partition", "producer", "from offset", "last record"), hang),
    ]
