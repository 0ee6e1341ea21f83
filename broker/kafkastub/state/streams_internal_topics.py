"""The topics that a streams group lacks are created by the broker that it asks, as the member that asks.

Kafka: KafkaApis.handleStreamsGroupHeartbeat, DefaultAutoTopicCreationManager.createStreamsInternalTopics,
ExpiringErrorCache. The heartbeat that finds them missing says so and sets off their creation; the next one finds them.
What speaks against the creation of a topic is told by the heartbeats behind, and as long as it is known nobody tries
again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from heapq import heappop, heappush
from itertools import islice
from typing import TYPE_CHECKING, Final, Protocol

from kafkastub.coordinator.streams.configured import ConfiguredInternalTopic, InternalTopics
from kafkastub.coordinator.streams.statuses import Status
from kafkastub.metadata import CLUSTER_METADATA
from kafkastub.security.access import Access
from kafkastub.security.acls import Operation
from kafkastub.state.quota_usage import Request
from kafkastub.state.topic_creation import planned
from kafkastub.state.topics import create_planned
from kafkawire.error_texts import default_text
from kafkawire.errors import KafkaError
from kafkawire.java_order import string_map_order
from kafkawire.messages.create_topics_request import CreatableTopic, CreatableTopicConfig
from kafkawire.messages.streams_group_heartbeat_response import Status as ToldStatus

if TYPE_CHECKING:
    from kafkastub.state.broker_state import BrokerState

MOST_ERRORS: Final = 1_000
_TOLD: Final = 3
"""Errors that a heartbeat tells; of more it is said how many."""
_PROHIBITED: Final = f"Creation of internal topic {CLUSTER_METADATA} is prohibited."


_THROTTLED: Final = "The throttling quota has been exceeded."
"""The only error without a text of its own: clients who create topics are told it without one."""


class Asking(Request, Protocol):
    """The heartbeat of who asks; a handler's `RequestContext` is one."""

    @property
    def access(self) -> Access: ...


class CreationErrors:
    """Why topics could not be created, by name, each for a while. Kafka: ExpiringErrorCache.

    Args:
        most: those that are over first go when there are more.
    """

    __slots__ = ("_count", "_ends", "_errors", "_most")

    def __init__(self, most: int = MOST_ERRORS) -> None:
        self._most = most
        self._count = 0
        self._errors: dict[str, tuple[int, int, str]] = {}
        """When it is over, a number that nothing else has, and the text."""
        self._ends: list[tuple[int, int, str]] = []
        """When it is over, the number, and the name; of some that have been replaced too."""

    def put(self, name: str, text: str, ttl_ms: int, broker_ms: int) -> None:
        """A topic could not be created: known for so long."""
        self._count += 1
        self._errors[name] = broker_ms + ttl_ms, self._count, text
        heappush(self._ends, (broker_ms + ttl_ms, self._count, name))
        while self._ends and (self._ends[0][0] <= broker_ms or len(self._errors) > self._most):
            _, number, gone = heappop(self._ends)
            if gone in self._errors and self._errors[gone][1] == number:
                del self._errors[gone]

    def of(self, names: Iterable[str], broker_ms: int) -> dict[str, str]:
        """What is known of these topics, in the order of Kafka's map."""
        known = ((name, self._errors[name]) for name in names if name in self._errors)
        found = {name: text for name, (end_ms, _, text) in known if end_ms > broker_ms}
        return {name: found[name] for name in string_map_order(found)}


def create_missing(
    state: BrokerState,
    ctx: Asking,
    errors: CreationErrors,
    topics: InternalTopics,
    requested: set[str],
    told: Sequence[ToldStatus],
    ttl_ms: int,
    broker_ms: int,
) -> None:
    """Create what a heartbeat has found missing, unless it is known that this fails; its answer says why it does.

    Args:
        topics: what is missing.
        requested: those of them that have been asked for before, which nobody asks for again; it gets the others.
        told: the statuses of the answer, of which one says that they are missing.
        ttl_ms: how long an error is known: two heartbeats.
    """
    status = next((one for one in told if one.status_code == Status.MISSING_INTERNAL_TOPICS), None)
    refused = _refused(state, ctx, topics)
    if refused:
        _add(status, f"Unauthorized to CREATE on topics {', '.join(refused)}.")
        return
    known = errors.of(topics, broker_ms)
    wanted = [topic for name, topic in topics.items() if name not in known and name not in requested]
    requested.update(topic.name for topic in wanted)
    for name, text in _create(state, ctx, wanted):
        errors.put(name, text, ttl_ms, broker_ms)
    if known:
        _add(status, f"Creation failed: {_summary(known)}.")


def _refused(state: BrokerState, ctx: Asking, names: Collection[str]) -> list[str]:
    """Those that the principal may not create."""
    if state.authorizer is None or ctx.access.to_cluster(Operation.CREATE):
        return []
    return [name for name in names if not ctx.access.to_topic(Operation.CREATE, name)]


def _add(status: ToldStatus | None, text: str) -> None:
    if status is not None:
        status.status_detail = f"{status.status_detail}; {text}"


def _summary(known: dict[str, str]) -> str:
    more = len(known) - _TOLD
    text = ", ".join(f"{name} ({why})" for name, why in islice(known.items(), _TOLD))
    return f"{text} and {more} more" if more > 0 else text


def _create(state: BrokerState, ctx: Asking, topics: list[ConfiguredInternalTopic]) -> list[tuple[str, str]]:
    """The topics that could not be created, and why. Nobody else's request stands between what is checked and done."""
    if not topics or not state.is_writable:
        return []
    failed = [(topic.name, _PROHIBITED) for topic in topics if topic.name == CLUSTER_METADATA]
    asked = [_creatable(topic) for topic in topics if topic.name != CLUSTER_METADATA]
    counted = None if state.throttle is None else state.throttle.mutations(ctx)
    try:
        outcomes = planned(state, asked, counted)
    except KafkaError as error:
        return [(topic.name, _text(error)) for topic in topics]
    with state.log_dirs.together():
        for topic, outcome in zip(asked, outcomes, strict=True):
            try:
                if isinstance(outcome, KafkaError):
                    raise outcome
                create_planned(state, outcome)
            except KafkaError as error:
                failed.append((topic.name, _text(error)))
    return failed


def _creatable(topic: ConfiguredInternalTopic) -> CreatableTopic:
    """As Kafka asks its controller for it. Kafka: InternalTopicManager.toCreatableTopic."""
    return CreatableTopic(
        name=topic.name,
        num_partitions=topic.number_of_partitions,
        replication_factor=-1 if topic.replication_factor is None else topic.replication_factor,
        configs=[CreatableTopicConfig(name, value) for name, value in topic.topic_configs],
    )


def _text(error: KafkaError) -> str:
    """The error's own text, else that of its code."""
    return error.message or default_text(error.code) or _THROTTLED
