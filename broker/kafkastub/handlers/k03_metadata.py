"""Metadata (key 3), versions 0-13.

MD-1   No topic list (null; empty in version 0) means all topics; from version 1 on an empty list means none.
                                                                                   Kafka: MetadataRequest.isAllTopics
MD-2   A name that does not exist answers UNKNOWN_TOPIC_OR_PARTITION, an invalid one INVALID_TOPIC_EXCEPTION; neither
       has partitions, and they follow the existing ones.                          Kafka: KafkaApis.getTopicMetadata
MD-3   With allow_auto_topic_creation (versions 0-3: always) and auto.create.topics.enable, a missing valid name is
       created with num.partitions and default.replication.factor. The created topic is in this very answer; Kafka says
       UNKNOWN_TOPIC_OR_PARTITION once and has it at the next request.             Kafka: AutoTopicCreationManager
MD-4   Where such a creation is bound to fail (colliding name, more replicas than nodes, __cluster_metadata) the answer
       stays UNKNOWN_TOPIC_OR_PARTITION; invalid names come before these.    Kafka: AutoTopicCreationManager
MD-5   Versions 12+: topics by id; an unknown id answers UNKNOWN_TOPIC_ID with a null name, before the others. Where
       one id is given, all names in the request are ignored.                      KIP-516
MD-6   Versions 10-11 with a null name or a topic id: every topic INVALID_REQUEST, no brokers, no controller.
MD-7   Versions 12+: a null name without any id: every topic UNKNOWN_SERVER_ERROR, as 4.3.1 does.
MD-8   A topic named twice is answered once.
MD-9   Internal topics are flagged, existing or not (version 1+).
MD-10  Versions 8+: the operations of a topic where asked for, else the lowest int32; versions 8-10: the cluster's too.
                                                                                   KIP-430
MD-11  Brokers, cluster id, controller (a broker), leader epochs: of the cluster.
MD-12  Internal topics are created on demand with their own configuration, by name as well.
MD-13  A partition without leader answers LEADER_NOT_AVAILABLE, one whose leader has no address on the client's listener
       LISTENER_NOT_FOUND (below version 6 LEADER_NOT_AVAILABLE); replicas of stopped nodes are offline (version 5+) and
       in version 0 left out, with REPLICA_NOT_AVAILABLE.                          Kafka: KRaftMetadataCache
MD-14  Under a controller_mutation_rate the partitions of topics that are created so are counted; for who has made too
       many before none is created.                                               KIP-599
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import INTERNAL_TOPICS, PartitionState, Topic, invalid_topic_name
from kafkastub.security.operations import CLUSTER_OPERATIONS, TOPIC_OPERATIONS
from kafkastub.state.deferred import Steps, in_parts
from kafkastub.state.pace import paced
from kafkastub.state.topics import auto_create
from kafkawire.api import ApiKey
from kafkawire.codec import encoder_of
from kafkawire.errors import ErrorCode
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafkawire.rows import Shared
from kafkawire.schema import ZERO_UUID

FIRST_BY_ID: Final = 12
_AT_ONCE: Final = 2000
"""Partitions after which others have their turn."""
_SOME: Final = 500


def error_response(request: MetadataRequest, code: ErrorCode, version: int) -> MetadataResponse:
    """The code at every topic asked for (and on top in version 13+), nothing about the cluster."""
    topics = [
        MetadataResponseTopic(error_code=code, name=topic.name or "", topic_id=topic.topic_id)
        for topic in request.topics or ()
    ]
    return MetadataResponse(topics=topics, cluster_id=None, error_code=code)


@handles(ApiKey.METADATA, 0, 13, error_response=error_response)
def metadata(ctx: RequestContext, request: MetadataRequest) -> Outcome:
    version = ctx.api_version
    if version < FIRST_BY_ID and any(
        topic.name is None or topic.topic_id != ZERO_UUID for topic in request.topics or ()
    ):
        return error_response(request, ErrorCode.INVALID_REQUEST, version)
    topics = _topics(ctx, request)
    if topics is None:
        return error_response(request, ErrorCode.UNKNOWN_SERVER_ERROR, version)
    if version >= 8 and request.include_topic_authorized_operations:
        for topic in topics:
            if topic.name is not None:
                topic.topic_authorized_operations = TOPIC_OPERATIONS
    cluster = ctx.state.cluster
    answer = MetadataResponse(
        brokers=[
            MetadataResponseBroker(node.node_id, node.host, node.port, node.rack)
            for node in cluster.seen_from(ctx.listener)
        ],
        cluster_id=cluster.cluster_id,
        controller_id=cluster.controller_id,
        topics=topics,
    )
    if 8 <= version <= 10 and request.include_cluster_authorized_operations:
        answer.cluster_authorized_operations = CLUSTER_OPERATIONS
    by_id = cluster.topic_by_id
    existing = [(one, found) for one in topics if not one.error_code and (found := by_id(one.topic_id)) is not None]
    if sum(len(found.partitions) for _, found in existing) > _AT_ONCE:
        failed = partial(error_response, request, version=version)
        return in_parts(_filled(ctx, answer, existing), _AT_ONCE, ctx.state.turns.add, failed, for_nobody=False)
    for one, found in existing:
        one.partitions = _partitions(ctx, found.partitions)
    return answer


def _topics(ctx: RequestContext, request: MetadataRequest) -> list[MetadataResponseTopic] | None:
    """What is answered about topics; None for a request that names neither a topic nor an id somewhere."""
    cluster = ctx.state.cluster
    asked = request.topics
    if asked is None or (not asked and ctx.api_version == 0):
        return [_existing(topic) for topic in paced(list(cluster.topics.values()), ctx.pace)]
    ids = dict.fromkeys(topic.topic_id for topic in paced(asked, ctx.pace) if topic.topic_id != ZERO_UUID)
    if ids:
        found = {topic_id: cluster.topic_by_id(topic_id) for topic_id in paced(ids, ctx.pace)}
        unknown = [
            MetadataResponseTopic(error_code=ErrorCode.UNKNOWN_TOPIC_ID, name=None, topic_id=topic_id)
            for topic_id, topic in paced(found.items(), ctx.pace)
            if topic is None
        ]
        return unknown + [_existing(topic) for topic in paced(found.values(), ctx.pace) if topic is not None]
    names = dict.fromkeys(topic.name for topic in asked)
    if None in names:
        return None
    return _by_name(ctx, [name for name in names if name is not None], request.allow_auto_topic_creation)


def _created(ctx: RequestContext, name: str) -> Topic | None:
    state = ctx.state
    if state.throttle is None:
        return auto_create(state, name)
    return state.throttle.created(ctx, lambda: auto_create(state, name))


def _by_name(ctx: RequestContext, names: Sequence[str], may_create: bool) -> list[MetadataResponseTopic]:
    state = ctx.state
    may_create = may_create and state.config["auto.create.topics.enable"]
    if may_create and len(names) > 1:
        with state.log_dirs.together():  # Kafka asks its controller for all of them at once
            return _sorted_out(ctx, names, may_create)
    return _sorted_out(ctx, names, may_create)


def _sorted_out(ctx: RequestContext, names: Iterable[str], may_create: bool) -> list[MetadataResponseTopic]:
    state = ctx.state
    existing, missing = [], []
    for name in paced(names, ctx.pace):
        topic = state.cluster.topic(name)
        code = ErrorCode.NONE
        if topic is None:
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            if invalid_topic_name(name) is not None:
                code = ErrorCode.INVALID_TOPIC_EXCEPTION
            elif may_create:
                topic = _created(ctx, name)
        if topic is not None:
            existing.append(_existing(topic))
        else:
            missing.append(MetadataResponseTopic(error_code=code, name=name, is_internal=name in INTERNAL_TOPICS))
    if may_create:  # what can never be there is sorted out before the creation of the rest is tried
        missing.sort(key=lambda one: one.error_code != ErrorCode.INVALID_TOPIC_EXCEPTION)
    return existing + missing


def _existing(topic: Topic) -> MetadataResponseTopic:
    """A topic that is there; its partitions follow."""
    return MetadataResponseTopic(name=topic.name, topic_id=topic.topic_id, is_internal=topic.internal)


def _partitions(ctx: RequestContext, found: Iterable[PartitionState]) -> list[MetadataResponsePartition]:
    cluster = ctx.state.cluster
    partitions = [
        MetadataResponsePartition(
            partition_index=partition.index,
            leader_id=partition.leader,
            leader_epoch=partition.leader_epoch,
            replica_nodes=partition.replicas,
            isr_nodes=partition.isr,
        )
        for partition in found
    ]
    if len(cluster.nodes) > 1 or not cluster.seen_from(ctx.listener):
        _hide_what_cannot_be_reached(ctx, partitions)
    return partitions


def _filled(
    ctx: RequestContext, answer: MetadataResponse, existing: Iterable[tuple[MetadataResponseTopic, Topic]]
) -> Steps:
    """The answer with the partitions of these topics, very many, made and encoded bit by bit."""
    encode = encoder_of(MetadataResponse, "topics.partitions", ctx.api_version)
    for one, topic in existing:
        partitions, rows = list(topic.partitions), Shared[MetadataResponsePartition]()
        for first in range(0, len(partitions), _SOME):
            some = _partitions(ctx, partitions[first : first + _SOME])
            rows.add(some, encode)
            yield len(some)
        one.partitions = rows
    return answer


def _hide_what_cannot_be_reached(ctx: RequestContext, partitions: list[MetadataResponsePartition]) -> None:
    """Kafka: KRaftMetadataCache.getPartitionMetadata."""
    cluster, version = ctx.state.cluster, ctx.api_version
    reachable = {node.node_id for node in cluster.seen_from(ctx.listener)}
    for one in partitions:
        one.offline_replicas = [node_id for node_id in one.replica_nodes if node_id not in reachable]
        if one.leader_id not in reachable:
            fault = ErrorCode.LEADER_NOT_AVAILABLE
            if one.leader_id in cluster.nodes and version >= 6:
                fault = ErrorCode.LISTENER_NOT_FOUND
            one.error_code, one.leader_id = fault, -1
        if version == 0 and one.offline_replicas:  # only there are replicas that cannot be reached left out
            one.replica_nodes = [node_id for node_id in one.replica_nodes if node_id in reachable]
            one.isr_nodes = [node_id for node_id in one.isr_nodes if node_id in reachable]
            one.error_code = one.error_code or ErrorCode.REPLICA_NOT_AVAILABLE
