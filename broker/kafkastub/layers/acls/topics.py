"""Guards of the APIs about topics and what is in them; see `guards`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import CLOSE, Outcome
from kafkastub.handlers.registry import Handler, Registration
from kafkastub.layers.split import about, once_each, split
from kafkastub.metadata import CLUSTER_METADATA, INTERNAL_TOPICS, Topic, invalid_topic_name
from kafkastub.security import Operation, ResourceType
from kafkastub.security.access import Access
from kafkastub.security.operations import TOPIC_OPERATIONS
from kafkastub.state.deferred import then
from kafkawire.api import ApiKey
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.create_topics_request import CreateTopicsRequest
from kafkawire.messages.create_topics_response import CreatableTopicResult
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kafkawire.messages.delete_topics_response import DeletableTopicResult
from kafkawire.messages.produce_request import ProduceRequest
from kafkawire.schema import ZERO_UUID

_REFUSED: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_TOPIC_IDS_FROM: Final = 13


def _produce(api: Registration) -> Handler:
    """Write on each topic; for transactional records Write on the transactional id, which has to be named."""
    from kafkastub.handlers.k00_produce import is_transactional, whole_error  # with the first guard for it

    handler = api.handler

    def guard(ctx: RequestContext, request: ProduceRequest) -> Outcome:
        access, by_id = ctx.access, ctx.api_version >= _TOPIC_IDS_FROM
        transactional_id = request.transactional_id
        try:
            transactional = any(map(is_transactional, _records(request)))
        except KafkaError as error:  # nothing else is looked at then
            return whole_error(request, error.code, error.message) if request.acks else CLOSE
        if transactional and (
            transactional_id is None or not access.to(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id)
        ):
            code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
            return api.error_response(request, code, ctx.api_version) if request.acks else CLOSE
        cluster = ctx.state.cluster

        def allowed(data: Any) -> bool:
            if not by_id:
                return access.to_topic(Operation.WRITE, data.name)
            topic = cluster.topic_by_id(data.topic_id)
            return topic is None or access.to_topic(Operation.WRITE, topic.name)

        mine, refused = split(request.topic_data, allowed, ctx.pace)
        if not refused:
            return handler(ctx, request)
        failed: Any = api.error_response(ProduceRequest(topic_data=refused), _REFUSED, ctx.api_version)

        def both(answer: Any) -> Any:
            answer.responses = [*answer.responses, *failed.responses]
            return answer

        outcome = handler(ctx, about(request, topic_data=mine)) if mine else failed
        if not request.acks:
            return CLOSE
        return then(outcome, both) if mine else outcome

    return guard


def _records(request: ProduceRequest) -> Iterator[bytes]:
    for topic in request.topic_data:
        for partition in topic.partition_data:
            yield partition.records or b""


def _by_name(operation: Operation, *, together: bool = False, or_cluster: Operation | None = None) -> Any:
    """For requests about `topics` by name: the refused ones are answered behind the others; `together`, where Kafka
    tells of a topic once that is named several times.
    """

    def make(api: Registration) -> Handler:
        handler = api.handler

        def guard(ctx: RequestContext, request: Any) -> Outcome:
            access = ctx.access
            if or_cluster is not None and access.to_cluster(or_cluster):
                return handler(ctx, request)
            mine, refused = split(request.topics, lambda topic: access.to_topic(operation, _name(topic)), ctx.pace)
            if not refused:
                return handler(ctx, request)
            failed: Any = api.error_response(about(request, topics=refused), _REFUSED, ctx.api_version)
            if together:
                failed.topics = once_each(failed.topics, _name)
            if not mine:  # what else may be wrong with the request, Kafka does not look at then
                return failed  # type: ignore[no-any-return]

            def both(answer: Any) -> Any:
                answer.topics = [*answer.topics, *failed.topics]
                return answer

            return then(handler(ctx, about(request, topics=mine)), both)  # type: ignore[no-any-return]

        return guard

    return make


def _name(topic: Any) -> str:
    """Some requests call a topic's name its topic."""
    name: str = topic.name if hasattr(topic, "name") else topic.topic
    return name


def _create_partitions(api: Registration) -> Handler:
    """Alter on each topic; one that is named twice is refused for that."""
    handler = api.handler

    def guard(ctx: RequestContext, request: Any) -> Outcome:
        access = ctx.access
        counts = Counter(topic.name for topic in request.topics)
        mine, refused = split(
            request.topics,
            lambda topic: counts[topic.name] > 1 or access.to_topic(Operation.ALTER, topic.name),
            ctx.pace,
        )
        if not refused:
            return handler(ctx, request)
        failed: Any = api.error_response(about(request, topics=refused), _REFUSED, ctx.api_version)
        answer: Any = handler(ctx, about(request, topics=mine))
        answer.results = [*answer.results, *failed.results]
        return answer  # type: ignore[no-any-return]

    return guard


def _create_topics(api: Registration) -> Handler:
    """Create on the cluster or on each topic; its configuration is told with DescribeConfigs on the topic."""
    handler = api.handler

    def guard(ctx: RequestContext, request: CreateTopicsRequest) -> Outcome:
        access = ctx.access
        all_of_them = access.to_cluster(Operation.CREATE)
        counts = Counter(topic.name for topic in request.topics)
        mine, refused = split(
            request.topics,
            lambda topic: (
                all_of_them
                or counts[topic.name] > 1
                or topic.name == CLUSTER_METADATA
                or access.to_topic(Operation.CREATE, topic.name)
            ),
            ctx.pace,
        )
        answer: Any = handler(ctx, about(request, topics=mine))
        for topic in answer.topics:
            if not topic.error_code and not access.to_topic(Operation.DESCRIBE_CONFIGS, topic.name):
                topic.topic_config_error_code = _REFUSED
                topic.num_partitions = topic.replication_factor = -1
                topic.configs = ()
        answer.topics = [
            *answer.topics,
            *(CreatableTopicResult(name=one.name, error_code=_REFUSED, error_message=_NOT_ALLOWED) for one in refused),
        ]
        return answer  # type: ignore[no-any-return]

    return guard


_NOT_ALLOWED: Final = "Authorization failed."


def _delete_topics(api: Registration) -> Handler:
    """Delete on the cluster or on each topic; without Describe not even an id's name is told."""
    handler = api.handler

    def guard(ctx: RequestContext, request: DeleteTopicsRequest) -> Outcome:
        access = ctx.access
        if not ctx.state.config["delete.topic.enable"] or access.to_cluster(Operation.DELETE):
            return handler(ctx, request)
        refused: list[DeletableTopicResult] = []
        names = Counter([*request.topic_names, *(topic.name for topic in request.topics)])
        ids = Counter(topic.topic_id for topic in request.topics)

        def named(name: str) -> bool:
            if names[name] > 1 or (
                access.to_topic(Operation.DESCRIBE, name)
                and (access.to_topic(Operation.DELETE, name) or ctx.state.cluster.topic(name) is None)
            ):
                return True
            refused.append(_not_deleted(name, ZERO_UUID))
            return False

        def given(asked: DeleteTopicState) -> bool:
            if asked.name is not None:
                return asked.topic_id != ZERO_UUID or named(asked.name)
            topic = ctx.state.cluster.topic_by_id(asked.topic_id)
            if topic is None or ids[asked.topic_id] > 1 or access.to_topic(Operation.DELETE, topic.name):
                return True
            seen = access.to_topic(Operation.DESCRIBE, topic.name)
            refused.append(_not_deleted(topic.name if seen else None, asked.topic_id))
            return False

        by_name = [name for name in request.topic_names if named(name)]
        mine = [asked for asked in request.topics if given(asked)]

        def both(answer: Any) -> Any:
            answer.responses = [*answer.responses, *refused]
            return answer

        return then(handler(ctx, about(request, topic_names=by_name, topics=mine)), both)  # type: ignore[no-any-return]

    return guard


def _not_deleted(name: str | None, topic_id: bytes) -> DeletableTopicResult:
    return DeletableTopicResult(name=name, topic_id=topic_id, error_code=_REFUSED, error_message=default_text(_REFUSED))


def _describe_producers(api: Registration) -> Handler:
    """Read on each topic; an impossible name is refused for that."""
    handler = api.handler

    def guard(ctx: RequestContext, request: Any) -> Outcome:
        access, asked = ctx.access, request.topics
        mine, refused = split(
            asked,
            lambda topic: invalid_topic_name(topic.name) is not None or access.to_topic(Operation.READ, topic.name),
            ctx.pace,
        )
        if not refused:
            return handler(ctx, request)
        failed: Any = api.error_response(about(request, topics=refused), _REFUSED, ctx.api_version)
        for topic in failed.topics:
            for partition in topic.partitions:
                partition.error_message = default_text(_REFUSED)
        answer: Any = handler(ctx, about(request, topics=mine))
        answer.topics = in_order(asked, mine, answer.topics, failed.topics)
        return answer  # type: ignore[no-any-return]

    return guard


def in_order(asked: Sequence[Any], mine: Sequence[Any], found: Sequence[Any], failed: Sequence[Any]) -> list[Any]:
    """Answers to `mine` and to the others, each in their order, in the order in which they were `asked`."""
    kept = {id(one) for one in mine}
    yes, no = iter(found), iter(failed)
    return [next(yes) if id(one) in kept else next(no) for one in asked]


def _init_producer_id(api: Registration) -> Handler:
    """Write on the transactional id; without one IdempotentWrite on the cluster, or Write on any topic (KIP-679)."""
    handler = api.handler

    def guard(ctx: RequestContext, request: Any) -> Outcome:
        access, transactional_id = ctx.access, request.transactional_id
        if transactional_id is not None:
            if not access.to(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id):
                return api.error_response(request, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, ctx.api_version)
        elif not access.to_cluster(Operation.IDEMPOTENT_WRITE) and not access.to_some_topic(Operation.WRITE):
            return api.error_response(request, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ctx.api_version)
        return handler(ctx, request)

    return guard


def would_create(ctx: RequestContext, access: Access, names: Sequence[str], may_create: bool) -> set[str]:
    """Those of the names that would be created by being asked for, and may not be."""
    if not may_create or not ctx.state.config["auto.create.topics.enable"] or access.to_cluster(Operation.CREATE):
        return set()
    missing = [name for name in names if ctx.state.cluster.topic(name) is None]
    return {name for name in missing if not access.to_topic(Operation.CREATE, name)}


def topic_operations(access: Access, name: str) -> int:
    """What may be done with a topic, as a bit field."""
    return access.operations(TOPIC_OPERATIONS, ResourceType.TOPIC, name)


def is_internal(topic: Topic | str) -> bool:
    """Whether it is a topic of Kafka's own, existing or not."""
    return (topic if isinstance(topic, str) else topic.name) in INTERNAL_TOPICS


GUARDS: Final[Mapping[ApiKey, Callable[[Registration], Handler]]] = {
    ApiKey.PRODUCE: _produce,
    ApiKey.LIST_OFFSETS: _by_name(Operation.DESCRIBE),
    ApiKey.CREATE_TOPICS: _create_topics,
    ApiKey.DELETE_TOPICS: _delete_topics,
    ApiKey.DELETE_RECORDS: _by_name(Operation.DELETE, together=True),
    ApiKey.INIT_PRODUCER_ID: _init_producer_id,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: _by_name(Operation.DESCRIBE, or_cluster=Operation.CLUSTER_ACTION),
    ApiKey.CREATE_PARTITIONS: _create_partitions,
    ApiKey.DESCRIBE_PRODUCERS: _describe_producers,
}
