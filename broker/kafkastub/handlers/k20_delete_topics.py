"""DeleteTopics (key 20), versions 1-6.

DT-1   A deleted topic answers NONE; it is gone, with its logs and every group's offsets of it, when the answer is.
DT-2   A name that does not exist (valid or not) answers UNKNOWN_TOPIC_OR_PARTITION. Kafka: ControllerApis.deleteTopics
DT-3   Version 6: by id; an unknown id answers UNKNOWN_TOPIC_ID with a null name.       KIP-516
DT-4   A name or an id given twice answers INVALID_REQUEST once, and nothing of it is deleted.
DT-5   Version 6: neither name nor id, or both: INVALID_REQUEST.
DT-6   Version 6: a name and the id of the same topic: INVALID_REQUEST at the name, and the topic stays.
DT-7   delete.topic.enable=false: every topic TOPIC_DELETION_DISABLED, INVALID_REQUEST below version 3. KIP-322
DT-8   A timeout of 0 or less: every topic REQUEST_TIMED_OUT, nothing is deleted.
DT-9   Versions 5+ carry a text with the code.                                           KIP-599
DT-10  Under a controller_mutation_rate the partitions of each topic are counted. Versions 5+: a topic for which too
       many were counted before answers THROTTLING_QUOTA_EXCEEDED and stays; older ones only wait.      KIP-599
DT-11  Where very many groups have offsets of it, the topic and they are gone at once for everybody; the answer comes
       when their tombstones are written, and others are served meanwhile.                             ours
Kafka shuffles the answer; here refused requests come first.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.deferred import Steps, in_parts
from kafkastub.state.pace import Pace, paced
from kafkastub.state.topics import delete_in_parts
from kafkawire.api import ApiKey
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest
from kafkawire.messages.delete_topics_response import DeletableTopicResult, DeleteTopicsResponse
from kafkawire.schema import ZERO_UUID

if TYPE_CHECKING:
    from kafkastub.state.broker_state import BrokerState

_AT_ONCE: Final = 500
"""Tombstones after which others have their turn."""


def error_response(
    request: DeleteTopicsRequest, code: ErrorCode, version: int, text: str | None = None
) -> DeleteTopicsResponse:
    """The code at every topic."""
    named: list[tuple[str | None, bytes]] = [(topic.name, topic.topic_id) for topic in request.topics]
    named += [(name, ZERO_UUID) for name in request.topic_names]
    return DeleteTopicsResponse(
        responses=[_result(name, topic_id, code, text or default_text(code)) for name, topic_id in named]
    )


@handles(ApiKey.DELETE_TOPICS, 1, 6, error_response=error_response)
def delete_topics(ctx: RequestContext, request: DeleteTopicsRequest) -> Outcome:
    state = ctx.state
    if not state.config["delete.topic.enable"]:
        code = ErrorCode.INVALID_REQUEST if ctx.api_version < 3 else ErrorCode.TOPIC_DELETION_DISABLED
        return error_response(request, code, ctx.api_version, "Topic deletion is disabled.")
    names, ids, results = _sort_out(request, ctx.pace)
    if request.timeout_ms <= 0 and 1 in (*names.values(), *ids.values()):
        return error_response(request, ErrorCode.REQUEST_TIMED_OUT, ctx.api_version)
    chosen = _resolve(state, names, ids, results)
    counted = None if ctx.state.throttle is None else ctx.state.throttle.mutations(ctx)
    if counted is not None:
        for name, topic_id in list(chosen.items()):
            try:
                counted.count(len(state.cluster.topics[name].partitions))
            except KafkaError as refused:
                del chosen[name]
                results.append(_result(name, topic_id, refused.code, refused.message))
    results += [_result(name, topic_id, ErrorCode.NONE, None) for name, topic_id in chosen.items()]
    answer = DeleteTopicsResponse(throttle_time_ms=counted.ms if counted is not None else 0, responses=results)

    def steps() -> Steps:
        yield from delete_in_parts(state, chosen, ctx.broker_ms)
        return answer

    return in_parts(steps(), _AT_ONCE, state.turns.add, partial(error_response, request, version=ctx.api_version))


def _sort_out(
    request: DeleteTopicsRequest, pace: Pace
) -> tuple[Counter[str], Counter[bytes], list[DeletableTopicResult]]:
    """Names and ids with how often each was given, and the answers to what is neither or both."""
    names, ids = Counter(request.topic_names), Counter[bytes]()
    results = []
    for topic in paced(request.topics, pace):
        if topic.name is None and topic.topic_id == ZERO_UUID:
            text = "Neither topic name nor id were specified."
            results.append(_result(None, ZERO_UUID, ErrorCode.INVALID_REQUEST, text))
        elif topic.name is None:
            ids[topic.topic_id] += 1
        elif topic.topic_id == ZERO_UUID:
            names[topic.name] += 1
        else:
            text = "You may not specify both topic name and topic id."
            results.append(_result(topic.name, topic.topic_id, ErrorCode.INVALID_REQUEST, text))
    return names, ids, results


def _resolve(
    state: BrokerState, names: Counter[str], ids: Counter[bytes], results: list[DeletableTopicResult]
) -> dict[str, bytes]:
    """Name and id of each topic to delete; refusals are appended to ``results``."""
    cluster = state.cluster
    results += [
        _result(name, ZERO_UUID, ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
        for name, times in names.items()
        if times > 1
    ]
    results += [
        _result(None, topic_id, ErrorCode.INVALID_REQUEST, "Duplicate topic id.")
        for topic_id, times in ids.items()
        if times > 1
    ]
    chosen: dict[str, bytes] = {}
    for topic_id in (topic_id for topic_id, times in ids.items() if times == 1):
        topic = cluster.topic_by_id(topic_id)
        if topic is None:
            code = ErrorCode.UNKNOWN_TOPIC_ID
            results.append(_result(None, topic_id, code, default_text(code)))
        else:
            chosen[topic.name] = topic_id
    for name in (name for name, times in names.items() if times == 1):
        topic = cluster.topic(name)
        if topic is None:
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            results.append(_result(name, ZERO_UUID, code, default_text(code)))
        elif topic.topic_id in ids:
            chosen.pop(name, None)
            text = "The provided topic name maps to an ID that was already supplied."
            results.append(_result(name, topic.topic_id, ErrorCode.INVALID_REQUEST, text))
        else:
            chosen[name] = topic.topic_id
    return chosen


def _result(name: str | None, topic_id: bytes, code: ErrorCode, text: str | None) -> DeletableTopicResult:
    return DeletableTopicResult(name=name, topic_id=topic_id, error_code=code, error_message=text)
