"""CreateTopics (key 19), versions 2-7.

CT-1   A created topic answers NONE; it is there, with its logs, when the answer is.   KIP-4
CT-2   INVALID_TOPIC_EXCEPTION for an invalid name and for one that collides with an existing topic ('.' and '_'),
       TOPIC_ALREADY_EXISTS for that of an existing topic.     Kafka: ReplicationControlManager.validateNewTopicNames
CT-3   A name given twice answers INVALID_REQUEST once, behind the others, and creates nothing. Kafka: ControllerApis
CT-4   __cluster_metadata answers INVALID_REQUEST.
CT-5   Partitions 0 and below -1: INVALID_PARTITIONS; -1 is num.partitions.             KIP-464
CT-6   Replication factor 0 and below -1, or above the number of nodes: INVALID_REPLICATION_FACTOR; -1 is
       default.replication.factor.
CT-7   Assignments: with counts other than -1 INVALID_REQUEST; a partition twice, a gap, an empty list, an unknown or
       doubled node, lists of different lengths INVALID_REPLICA_ASSIGNMENT.
CT-8   Configurations: null values, unknown names, values that Kafka refuses, contradictions: INVALID_CONFIG, before
       counts are looked at.                                         Kafka: ControllerConfigurationValidator
CT-9   validate_only checks all of this and creates nothing.
CT-10  Versions 5+: partitions, replication factor and the effective configuration with its sources.   KIP-525
CT-11  Version 7: the topic's id (validate_only: an id that is never used).              KIP-516
CT-12  More than 10,000 partitions, or records to write, in a request: every topic POLICY_VIOLATION.
CT-13  A timeout of 0 or less: every topic REQUEST_TIMED_OUT, nothing is created. Where every name is given twice, CT-3
       goes first.
CT-14  Under a controller_mutation_rate the partitions of each topic are counted, of validate_only too. Versions 6+: a
       topic for which too many were counted before answers THROTTLING_QUOTA_EXCEEDED; older ones only wait.   KIP-599
Not done: create.topic.policy.class.name.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import CLUSTER_METADATA, random_uuid
from kafkastub.state.configs.entries import created_topic_configs
from kafkastub.state.pace import Pace, no_pause, paced
from kafkastub.state.topic_creation import planned
from kafkastub.state.topics import TopicPlan, create_planned
from kafkawire.api import ApiKey
from kafkawire.error_texts import default_text, text_of
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafkawire.messages.create_topics_response import CreatableTopicResult, CreateTopicsResponse

if TYPE_CHECKING:
    from kafkastub.state.broker_state import BrokerState
    from kafkastub.state.quota_usage import Mutations


def error_response(request: CreateTopicsRequest, code: ErrorCode, version: int) -> CreateTopicsResponse:
    """The code at every topic."""
    return _all_refused(request, KafkaError(code, default_text(code)), no_pause)


@handles(ApiKey.CREATE_TOPICS, 2, 7, error_response=error_response)
def create_topics(ctx: RequestContext, request: CreateTopicsRequest) -> Outcome:
    counts = Counter(topic.name for topic in request.topics)
    asked = [topic for topic in request.topics if counts[topic.name] == 1 and topic.name != CLUSTER_METADATA]
    counted = None if ctx.state.throttle is None else ctx.state.throttle.mutations(ctx)
    try:
        with ctx.state.log_dirs.together():
            results = _create(ctx.state, asked, request, counted, ctx.pace)
    except KafkaError as error:
        return _all_refused(request, error, ctx.pace)
    for name, times in paced(counts.items(), ctx.pace):
        if times > 1:
            results.append(_refused(name, ErrorCode.INVALID_REQUEST, "Duplicate topic name."))
        elif name == CLUSTER_METADATA:
            message = f"Creation of internal topic {CLUSTER_METADATA} is prohibited."
            results.append(_refused(name, ErrorCode.INVALID_REQUEST, message))
    return CreateTopicsResponse(throttle_time_ms=counted.ms if counted is not None else 0, topics=results)


def _create(
    state: BrokerState,
    asked: list[CreatableTopic],
    request: CreateTopicsRequest,
    counted: Mutations | None,
    pace: Pace,
) -> list[CreatableTopicResult]:
    """The answers to topics that were not refused out of hand. Raises KafkaError for the request as a whole."""
    if not asked:
        return []
    if request.timeout_ms <= 0:
        # without a text: the deadline has passed before Kafka's controller looks at the request
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT)
    outcomes = planned(state, asked, counted, pace)
    return [
        _created(state, outcome, request.validate_only)
        if isinstance(outcome, TopicPlan)
        else _refused(topic.name, outcome.code, text_of(outcome))
        for topic, outcome in paced(zip(asked, outcomes, strict=True), pace)
    ]


def _created(state: BrokerState, plan: TopicPlan, validate_only: bool) -> CreatableTopicResult:
    if plan.name in state.cluster.topics:  # somebody else has made it between two slices
        return _refused(plan.name, ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{plan.name}' already exists.")
    # an id that is shown only must not advance the cluster's randomness
    topic_id = random_uuid(random.Random()) if validate_only else create_planned(state, plan).topic_id
    return CreatableTopicResult(
        name=plan.name,
        topic_id=topic_id,
        error_message=None,
        num_partitions=plan.partitions,
        replication_factor=plan.replication_factor,
        configs=created_topic_configs(state.config, plan.configs),
    )


def _refused(name: str, code: ErrorCode, text: str | None) -> CreatableTopicResult:
    return CreatableTopicResult(name=name, error_code=code, error_message=text)


def _all_refused(request: CreateTopicsRequest, error: KafkaError, pace: Pace) -> CreateTopicsResponse:
    topics = paced(request.topics, pace)
    return CreateTopicsResponse(topics=[_refused(topic.name, error.code, error.message) for topic in topics])
