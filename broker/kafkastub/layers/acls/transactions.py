"""Guards of the APIs about transactions; see `guards`. The handler of AddPartitionsToTxn asks for the topics itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import Handler, Registration
from kafkastub.layers.acls.topics import in_order
from kafkastub.layers.split import split
from kafkastub.security import Operation, ResourceType
from kafkastub.state.deferred import then
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.describe_transactions_request import DescribeTransactionsRequest
from kafkawire.rows import Shared
from kafkawire.schema import Message

_REFUSED: Final = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
_ASKED_BY_BROKERS_FROM: Final = 4


def _may(ctx: RequestContext, operation: Operation, transactional_id: str) -> bool:
    return ctx.access.to(operation, ResourceType.TRANSACTIONAL_ID, transactional_id)


def _add_partitions(api: Registration) -> Handler:
    """Write on the transactional id, and on each topic; from version 4 on ClusterAction instead of both."""
    handler = api.handler

    def guard(ctx: RequestContext, request: Any) -> Outcome:
        if ctx.api_version >= _ASKED_BY_BROKERS_FROM:
            if not ctx.access.to_cluster(Operation.CLUSTER_ACTION):
                return api.error_response(request, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ctx.api_version)
        elif not _may(ctx, Operation.WRITE, request.v3_and_below_transactional_id):
            return api.error_response(request, _REFUSED, ctx.api_version)
        return handler(ctx, request)

    return guard


def _add_offsets(api: Registration) -> Handler:
    """Write on the transactional id, Read on the group."""
    handler = api.handler

    def guard(ctx: RequestContext, request: Any) -> Outcome:
        if not _may(ctx, Operation.WRITE, request.transactional_id):
            return api.error_response(request, _REFUSED, ctx.api_version)
        if not ctx.access.to_group(Operation.READ, request.group_id):
            return api.error_response(request, ErrorCode.GROUP_AUTHORIZATION_FAILED, ctx.api_version)
        return handler(ctx, request)

    return guard


def _end(api: Registration) -> Handler:
    """Write on the transactional id."""
    handler = api.handler

    def guard(ctx: RequestContext, request: Any) -> Outcome:
        if not _may(ctx, Operation.WRITE, request.transactional_id):
            return api.error_response(request, _REFUSED, ctx.api_version)
        return handler(ctx, request)

    return guard


def _describe(api: Registration) -> Handler:
    """Describe on each transactional id; of its topics those with Describe are told."""
    handler = api.handler

    def guard(ctx: RequestContext, request: DescribeTransactionsRequest) -> Outcome:
        access, asked = ctx.access, request.transactional_ids
        mine, refused = split(asked, lambda one: _may(ctx, Operation.DESCRIBE, one), ctx.pace)
        answer: Any = handler(ctx, DescribeTransactionsRequest(mine))
        for one in {id(one): one for one in answer.transaction_states}.values():  # one named twice is answered twice
            one.topics = [topic for topic in one.topics if access.to_topic(Operation.DESCRIBE, topic.topic)]
        if refused:
            failed: Any = api.error_response(DescribeTransactionsRequest(refused), _REFUSED, ctx.api_version)
            states = in_order(asked, mine, answer.transaction_states, failed.transaction_states)
            answer.transaction_states = Shared(states, {})
        return answer  # type: ignore[no-any-return]

    return guard


def _list(api: Registration) -> Handler:
    """Those with Describe on the transactional id."""
    handler = api.handler

    def guard(ctx: RequestContext, request: Any) -> Outcome:
        def allowed(answer: Any) -> Message:
            answer.transaction_states = [
                one for one in answer.transaction_states if _may(ctx, Operation.DESCRIBE, one.transactional_id)
            ]
            return answer  # type: ignore[no-any-return]

        return then(handler(ctx, request), allowed)  # type: ignore[no-any-return]

    return guard


def _write_markers(api: Registration) -> Handler:
    """Alter or ClusterAction on the cluster. Kafka: KafkaApis.handleWriteTxnMarkersRequest"""
    handler = api.handler

    def guard(ctx: RequestContext, request: Any) -> Outcome:
        if not (ctx.access.to_cluster(Operation.ALTER) or ctx.access.to_cluster(Operation.CLUSTER_ACTION)):
            return api.error_response(request, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ctx.api_version)
        return handler(ctx, request)

    return guard


GUARDS: Final[Mapping[ApiKey, Callable[[Registration], Handler]]] = {
    ApiKey.ADD_PARTITIONS_TO_TXN: _add_partitions,
    ApiKey.ADD_OFFSETS_TO_TXN: _add_offsets,
    ApiKey.END_TXN: _end,
    ApiKey.WRITE_TXN_MARKERS: _write_markers,
    ApiKey.DESCRIBE_TRANSACTIONS: _describe,
    ApiKey.LIST_TRANSACTIONS: _list,
}
