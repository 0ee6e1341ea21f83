"""What has changed since somebody looked, subject by subject, for pages that are kept up to date.

Nobody who changes something knows of this: while pages are open, a few figures are looked at four times a second, and
where one is another one, the page asks for what it shows. While no page is open, nothing is looked at. Where there is
so much that looking takes long, it is done less often: it never takes more than a fiftieth of the time.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from kafkastub.control.hosted import Hosted

if TYPE_CHECKING:
    from kafkastub.server.broker import Broker

EVERY_SECONDS: Final = 0.25
_SHARE: Final = 50
"""Of the time, what one part of may be spent on looking."""

_GROUP_APIS: Final = frozenset(
    (
        "JoinGroup", "SyncGroup", "LeaveGroup", "OffsetCommit", "TxnOffsetCommit", "OffsetDelete", "DeleteGroups",
        "ConsumerGroupHeartbeat", "ShareGroupHeartbeat", "StreamsGroupHeartbeat", "ShareFetch", "ShareAcknowledge",
    )
)  # fmt: skip
_TRANSACTION_APIS: Final = frozenset(
    ("InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn", "WriteTxnMarkers")
)
_ADMIN_APIS: Final = frozenset(
    ("CreateAcls", "DeleteAcls", "AlterClientQuotas", "AlterConfigs", "IncrementalAlterConfigs", "UpdateFeatures")
)


def _topics(hosted: Hosted, broker: Broker) -> Any:
    return broker.state.metadata_offset, len(broker.state.cluster.topics), broker.state.logs.extent


def _groups(hosted: Hosted, broker: Broker) -> Any:
    groups = broker.state.coordinator.groups
    states = Counter(group.state_name for group in groups.values())
    return len(groups), states, broker.state.meters(), _asked(broker, _GROUP_APIS)


def _transactions(hosted: Hosted, broker: Broker) -> Any:
    if not broker.state.has_transactions:
        return _asked(broker, _TRANSACTION_APIS)
    found = broker.state.transactions
    meters = found.coordinator.meters
    there = found.coordinator.transactions
    under_way = sum(map(len, found.under_way.values()))
    return len(there), under_way, meters.committed, meters.aborted, _asked(broker, _TRANSACTION_APIS)


def _nodes(hosted: Hosted, broker: Broker) -> Any:
    nodes = broker.state.cluster.nodes
    return broker.state.metadata_offset, {node: one.alive for node, one in nodes.items()}, broker.bootstrap_servers


def _journal(hosted: Hosted, broker: Broker) -> Any:
    """An entry without an answer changes when it gets one, or when its client goes."""
    ring, metrics = broker.observer.ring, broker.observer.metrics
    return ring and (ring.total, ring.first), metrics and metrics.bytes_out, broker.connections


def _faults(hosted: Hosted, broker: Broker) -> Any:
    return [(fault.id, fault.hits, fault.matched, len(fault.held)) for fault in hosted.faults]


def _chaos(hosted: Hosted, broker: Broker) -> Any:
    return hosted.chaos.running, hosted.chaos.seed, hosted.chaos.level, len(hosted.chaos.acts)


def _settings(hosted: Hosted, broker: Broker) -> Any:
    return broker.state.metadata_offset, _asked(broker, _ADMIN_APIS)


def _metrics(hosted: Hosted, broker: Broker) -> Any:
    metrics = broker.observer.metrics
    return broker.connections, metrics and (metrics.bytes_in, metrics.bytes_out)


Look = Callable[[Hosted, "Broker"], Any]

SUBJECTS: Final[dict[str, Look]] = {
    "topics": _topics,
    "groups": _groups,
    "share-groups": _groups,
    "streams-groups": _groups,
    "transactions": _transactions,
    "nodes": _nodes,
    "journal": _journal,
    "faults": _faults,
    "chaos": _chaos,
    "clock": lambda hosted, broker: broker.clock.moved(),
    "snapshots": lambda hosted, broker: list(hosted.snapshots),
    "quotas": _settings,
    "acls": _settings,
    "config": _settings,
    "metrics": _metrics,
}
"""By name, what is another one when the subject has changed; often it is as well when it has not."""


def _asked(broker: Broker, apis: frozenset[str]) -> int:
    metrics = broker.observer.metrics
    return 0 if metrics is None else metrics.request_count(apis)


class Versions:
    """Looked at by many, worked out once for all of them."""

    def __init__(self, hosted: Hosted, subjects: Mapping[str, Look] | None = None) -> None:
        """`subjects`: what is looked at, where that is not what a broker has."""
        self._hosted = hosted
        self._subjects = SUBJECTS if subjects is None else subjects
        self._wanted: Counter[str] = Counter()
        """The subjects by how many look at them."""
        self._seen: dict[str, Any] = {}
        self._numbers: Counter[str] = Counter()
        self._moved = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_looking(self) -> bool:
        """Whether anything is looked at."""
        return self._timer is not None

    def begin(self, subjects: Iterable[str]) -> None:
        """Somebody wants to know of these from now on, until `end`."""
        self._wanted.update(subjects)
        self._seen |= self._as_it_is(subject for subject in subjects if subject not in self._seen)
        if self._timer is None:
            self._wait(EVERY_SECONDS)

    def end(self, subjects: Iterable[str]) -> None:
        """Somebody does not want to know any more."""
        self._wanted.subtract(subjects)
        self._wanted = +self._wanted
        for subject in [subject for subject in self._seen if subject not in self._wanted]:
            del self._seen[subject]
        if not self._wanted and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def numbers(self, subjects: Iterable[str]) -> dict[str, int]:
        """How often each has changed so far, as far as somebody looked."""
        return {subject: self._numbers[subject] for subject in subjects}

    def moved(self) -> asyncio.Event:
        """Set when the next subject has changed, whichever it is; then another one takes its place."""
        return self._moved

    def _wait(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._look)

    def _look(self) -> None:
        began = perf_counter()
        now = self._as_it_is(self._seen)
        changed = [subject for subject, before in self._seen.items() if now[subject] != before]
        self._seen = now
        self._numbers.update(changed)
        if changed:
            moved, self._moved = self._moved, asyncio.Event()
            moved.set()
        self._wait(max(EVERY_SECONDS, _SHARE * (perf_counter() - began)))

    def _as_it_is(self, subjects: Iterable[str]) -> dict[str, Any]:
        """What several subjects have in common is looked at once."""
        of = {subject: self._subjects[subject] for subject in subjects}
        looks = {look: self._look_at(look) for look in set(of.values())}
        return {subject: looks[look] for subject, look in of.items()}

    def _look_at(self, look: Look) -> Any:
        broker = self._hosted.broker
        if broker is None:
            return None
        return id(getattr(broker, "state", broker)), self._hosted.changes, look(self._hosted, broker)
