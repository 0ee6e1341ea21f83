"""A guard hands part of a request on; the request itself stays whole, for an error that all of it is answered with."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from inspect import getmodule, getsource
from typing import Any

import pytest

from kafkastub.handlers.context import ConnectionInfo, RequestContext
from kafkastub.handlers.registry import Handler, Registration, registrations
from kafkastub.layers.acls.guards import GUARDS
from kafkastub.security import Acl, Operation, PatternType, Permission, ResourceType
from kafkastub.state.deferred import Deferred
from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.list_offsets_response import ListOffsetsResponse
from kafkawire.schema import Message
from tests.handlers.desk import Desk
from tests.security.matrix import OTHER, SEEN, TEAM, TX, Cell, cells

CLASS = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
IDS = {SEEN: b"1" * 16, OTHER: b"2" * 16, "pet": b"3" * 16}
NAMED = ((ResourceType.TOPIC, SEEN), (ResourceType.GROUP, TEAM), (ResourceType.TRANSACTIONAL_ID, TX))


MAY_WAIT = {
    key
    for key, api in registrations().items()
    if "Deferred" in (said := getsource(getmodule(api.handler))) or "in_parts" in said
}
"""Requests whose answers may come later."""
GUARDED = [pytest.param(cell, id=cell.title.replace(" ", "-")) for cell in cells(IDS) if cell.key in GUARDS]


def desk() -> Desk:
    """Of several things of one kind one may be used and the others may not; nothing may be done with the cluster."""
    desk = Desk(CLASS)
    topic_ids = {desk.topic(name).topic_id: name for name in (SEEN, OTHER)}
    assert len(topic_ids) == 2
    assert desk.state.authorizer is not None
    desk.state.authorizer.replace(
        Acl(kind, name, PatternType.LITERAL, "User:ANONYMOUS", "*", Operation.ALL, Permission.ALLOW)
        for kind, name in NAMED
    )
    return desk


def fails(ctx: RequestContext, request: Any) -> Any:
    raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)


@pytest.mark.parametrize("cell", GUARDED)
def test_a_request_lost_what_was_refused_where_the_rest_of_it_failed(cell: Cell):
    at = desk()
    api = registrations()[cell.key]
    guard = GUARDS[cell.key](replace(api, handler=fails))
    info = ConnectionInfo(1, "/127.0.0.1", "127.0.0.1:1", at.listener, at.node_id)
    context = RequestContext(at.state, info, cell.key, cell.version, 1, "test", at.broker_ms, at.timer_ms)
    body = encode(cell.request, cell.version)
    read = decode(type(cell.request), cell.version, body)
    with suppress(KafkaError):  # some of them the guard answers by itself
        guard(context, read)
    assert encode(read, cell.version) == body


def put_off(api: Registration) -> tuple[Handler, list[Deferred]]:
    """The same handler, whose answer comes later."""
    put_off: list[Deferred] = []

    def handler(ctx: RequestContext, request: Any) -> Any:
        answer = api.handler(ctx, request)
        if not isinstance(answer, Message):
            return answer
        later = Deferred(lambda _: answer)
        put_off.append(later)
        return later

    return handler, put_off


@pytest.mark.parametrize("cell", [one for one in GUARDED if one.values[0].key in MAY_WAIT])  # type: ignore[attr-defined]
def test_an_answer_that_came_later_lacked_what_was_refused(cell: Cell):
    """ListOffsets by time of many batches, with one topic refused, was UNKNOWN_SERVER_ERROR."""
    answers: list[Any] = []
    for waits in (False, True):
        at = desk()
        api = registrations()[cell.key]
        handler, waiting = put_off(api) if waits else (api.handler, [])
        info = ConnectionInfo(1, "/127.0.0.1", "127.0.0.1:1", at.listener, at.node_id)
        context = RequestContext(at.state, info, cell.key, cell.version, 1, "test", at.broker_ms, at.timer_ms)
        read = decode(type(cell.request), cell.version, encode(cell.request, cell.version))
        try:
            outcome = GUARDS[cell.key](replace(api, handler=handler))(context, read)
        except KafkaError as error:
            answers.append(error.code)
            continue
        for one in waiting:
            one.complete()
        reply = outcome.reply if isinstance(outcome, Deferred) else outcome
        answers.append(encode(reply, cell.version) if isinstance(reply, Message) else reply)
    assert answers[0] == answers[1]


def test_an_isolation_level_that_is_none_was_answered_without_the_refused_topics():
    """As in Kafka, whose error is that of all partitions."""
    at = desk()
    api = registrations()[ApiKey.LIST_OFFSETS]
    topics = [ListOffsetsTopic(one, [ListOffsetsPartition(0, -1, -1)]) for one in (SEEN, OTHER)]
    request = ListOffsetsRequest(-1, 9, topics)
    guard = GUARDS[ApiKey.LIST_OFFSETS](api)
    info = ConnectionInfo(1, "/127.0.0.1", "127.0.0.1:1", at.listener, at.node_id)
    context = RequestContext(at.state, info, api.key, 7, 1, "test", at.broker_ms, at.timer_ms)
    with pytest.raises(KafkaError) as raised:
        guard(context, request)
    answer = api.error_response(request, raised.value.code, 7)
    assert isinstance(answer, ListOffsetsResponse)
    assert [topic.name for topic in answer.topics] == [SEEN, OTHER]
