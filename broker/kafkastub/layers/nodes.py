"""Which node of several answers for a group or a transactional id: the others say NOT_COORDINATOR.

A cluster of one node does without this. With several, the server puts `on_its_node` around the handlers of the APIs
below. On a wrong node the handler itself runs, and finds no coordinator: so the error stands where that API has it,
behind what Kafka looks at before it asks a coordinator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar, cast

from kafkastub.coordinator import partition_for
from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Deferred, Outcome
from kafkastub.handlers.registry import Handler, Registration
from kafkastub.layers.split import about, split
from kafkastub.metadata import Topic
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.deferred import as_it_is, then
from kafkastub.state.pace import no_pause, paced
from kafkastub.state.topics import ensure_offsets_topic
from kafkastub.state.transactional_ids import coordinates as coordinates_transactions
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.add_partitions_to_txn_request import AddPartitionsToTxnRequest
from kafkawire.messages.add_partitions_to_txn_response import AddPartitionsToTxnResponse
from kafkawire.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.describe_transactions_request import DescribeTransactionsRequest
from kafkawire.messages.describe_transactions_response import DescribeTransactionsResponse
from kafkawire.messages.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestGroup
from kafkawire.messages.offset_fetch_response import OffsetFetchResponse
from kafkawire.messages.share_group_describe_request import ShareGroupDescribeRequest
from kafkawire.messages.streams_group_describe_request import StreamsGroupDescribeRequest
from kafkawire.rows import Shared, followed_by, those
from kafkawire.schema import Message

G = TypeVar("G")
"""How a request names a group."""

_NOT_COORDINATOR: Final = ErrorCode.NOT_COORDINATOR
_PIECE: Final = 500
"""Groups of which is told at once that another node coordinates them."""
_SEVERAL_TRANSACTIONS_FROM: Final = 4
"""The version of AddPartitionsToTxn from which on it names several."""
_ONE_GROUP: Final = frozenset(
    (
        ApiKey.OFFSET_COMMIT,
        ApiKey.JOIN_GROUP,
        ApiKey.HEARTBEAT,
        ApiKey.LEAVE_GROUP,
        ApiKey.SYNC_GROUP,
        ApiKey.OFFSET_DELETE,
        ApiKey.TXN_OFFSET_COMMIT,
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        ApiKey.SHARE_GROUP_HEARTBEAT,
        ApiKey.STREAMS_GROUP_HEARTBEAT,
        ApiKey.ALTER_SHARE_GROUP_OFFSETS,
        ApiKey.DELETE_SHARE_GROUP_OFFSETS,
    )
)
_INVALID_FIRST: Final = _ONE_GROUP - {ApiKey.OFFSET_COMMIT}
"""The empty group id is refused before anybody asks for its coordinator (GroupCoordinatorService)."""


def on_its_node(api: Registration) -> Handler:
    """The API's handler, for a cluster of several nodes."""
    if api.key in _ONE_GROUP:
        return _one_group(api)
    wrap = _OTHERS.get(api.key)
    return api.handler if wrap is None else wrap(api)


def coordinates(ctx: RequestContext, group_id: str) -> bool:
    """Whether the asked node is the group's coordinator."""
    return _leads(ctx, ensure_offsets_topic(ctx.state), group_id)


def _leads(ctx: RequestContext, topic: Topic, key: str) -> bool:
    return topic.partitions[partition_for(key, len(topic.partitions))].leader == ctx.node_id


def _refused(handler: Handler, ctx: RequestContext, request: Any) -> Outcome:
    """What the handler says where there is no coordinator."""
    state: BrokerState = ctx.state
    serving, pace = state.serving, ctx.pace

    def pause(amount: int) -> None:
        """Others that are served meanwhile are not refused."""
        nonlocal serving
        state.serving, state.refusal = serving, None
        pace(amount)
        serving, state.serving, state.refusal = state.serving, None, _NOT_COORDINATOR

    state.serving, state.refusal = None, _NOT_COORDINATOR
    if pace is not no_pause:
        ctx.pace = pause
    try:
        return handler(ctx, request)
    finally:
        state.serving, state.refusal, ctx.pace = serving, None, pace


def _one_group(api: Registration) -> Handler:
    handler, invalid_first = api.handler, api.key in _INVALID_FIRST

    def routed(ctx: RequestContext, request: Any) -> Outcome:
        group_id: str = request.group_id
        if coordinates(ctx, group_id) or (invalid_first and not group_id):
            return handler(ctx, request)
        return _refused(handler, ctx, request)

    return routed


def _offset_fetch(api: Registration) -> Handler:
    handler = api.handler

    def ask(request: OffsetFetchRequest, groups: list[OffsetFetchRequestGroup]) -> OffsetFetchRequest:
        return about(request, groups=groups)

    def routed(ctx: RequestContext, request: OffsetFetchRequest) -> Outcome:
        if ctx.api_version < 8:
            return handler(ctx, request) if coordinates(ctx, request.group_id) else _refused(handler, ctx, request)
        here, elsewhere = split(request.groups, lambda one: coordinates(ctx, one.group_id), ctx.pace)
        if not elsewhere:
            return handler(ctx, request)
        refused: Any = _not_here(api, ctx, ask, request, elsewhere, "groups")
        if not here:
            return cast(Outcome, refused)
        found: Any = handler(ctx, ask(request, here))
        mine, others = iter(found.groups), iter(refused.groups)
        places = {id(one) for one in here}
        groups = [next(mine if id(one) in places else others) for one in paced(request.groups, ctx.pace)]
        return OffsetFetchResponse(groups=Shared(groups, {}) if isinstance(found.groups, Shared) else groups)

    return routed


def _several(
    api: Registration,
    asked: Callable[[Any], Iterable[str]],
    ask: Callable[[Any, list[str]], Any],
    answers: str,
    *,
    invalid_first: bool = False,
) -> Handler:
    """For requests about groups by name: those of other nodes are answered behind those of this one.

    With `invalid_first` the empty group id is refused before anybody asks for its coordinator.
    """
    handler = api.handler

    def routed(ctx: RequestContext, request: Any) -> Outcome:
        mine, others = split(
            asked(request), lambda group: coordinates(ctx, group) or (invalid_first and not group), ctx.pace
        )
        if not others:
            return handler(ctx, request)
        refused: Any = _not_here(api, ctx, ask, request, others, answers)
        if not mine:
            return cast(Outcome, refused)

        def both(found: Any) -> Message:
            setattr(found, answers, followed_by(getattr(found, answers), getattr(refused, answers)))
            return cast(Message, found)

        return cast(Outcome, then(handler(ctx, ask(request, mine)), both))

    return routed


def _not_here(
    api: Registration,
    ctx: RequestContext,
    ask: Callable[[Any, list[G]], Any],
    request: Any,
    named: list[G],
    answers: str,
) -> Any:
    """The answer about groups of other nodes."""
    first: Any = api.error_response(ask(request, named[:_PIECE]), _NOT_COORDINATOR, ctx.api_version)
    told = [*getattr(first, answers)]
    for at in range(_PIECE, len(named), _PIECE):
        ctx.pace(_PIECE)
        more: Any = api.error_response(ask(request, named[at : at + _PIECE]), _NOT_COORDINATOR, ctx.api_version)
        told += getattr(more, answers)
    setattr(first, answers, told)
    return first


def _describe_groups(api: Registration) -> Handler:
    def ask(request: DescribeGroupsRequest, groups: list[str]) -> DescribeGroupsRequest:
        return DescribeGroupsRequest(groups, request.include_authorized_operations)

    return _several(api, lambda request: request.groups, ask, "groups")


def _consumer_group_describe(api: Registration) -> Handler:
    def ask(request: ConsumerGroupDescribeRequest, groups: list[str]) -> ConsumerGroupDescribeRequest:
        return ConsumerGroupDescribeRequest(groups, request.include_authorized_operations)

    return _several(api, lambda request: request.group_ids, ask, "groups", invalid_first=True)


def _share_group_describe(api: Registration) -> Handler:
    def ask(request: ShareGroupDescribeRequest, groups: list[str]) -> ShareGroupDescribeRequest:
        return ShareGroupDescribeRequest(groups, request.include_authorized_operations)

    return _several(api, lambda request: request.group_ids, ask, "groups", invalid_first=True)


def _streams_group_describe(api: Registration) -> Handler:
    def ask(request: StreamsGroupDescribeRequest, groups: list[str]) -> StreamsGroupDescribeRequest:
        return StreamsGroupDescribeRequest(
            groups, request.include_authorized_operations, request.include_topology_description
        )

    return _several(api, lambda request: request.group_ids, ask, "groups", invalid_first=True)


def _delete_groups(api: Registration) -> Handler:
    def ask(_: DeleteGroupsRequest, groups: list[str]) -> DeleteGroupsRequest:
        return DeleteGroupsRequest(groups)

    return _several(api, lambda request: request.groups_names, ask, "results")


def _describe_share_group_offsets(api: Registration) -> Handler:
    """Who names topics asks for nothing that a group's coordinator knows."""
    handler = api.handler

    def routed(ctx: RequestContext, request: Any) -> Outcome:
        elsewhere = [
            one for one in paced(request.groups, ctx.pace) if one.topics is None and not coordinates(ctx, one.group_id)
        ]
        if not elsewhere:
            return handler(ctx, request)
        gone = frozenset(one.group_id for one in elsewhere)
        answer: Any = _refused(handler, ctx, type(request)(elsewhere))
        refused = {one.group_id: one for one in answer.groups}
        asked = [one for one in request.groups if one.topics is not None or one.group_id not in gone]

        def both(found: Any) -> Message:
            told = iter(found.groups)
            found.groups = [
                refused[one.group_id] if one.topics is None and one.group_id in gone else next(told)
                for one in request.groups
            ]
            return cast(Message, found)

        return cast(Outcome, then(handler(ctx, type(request)(asked)), both))

    return routed


def _list_groups(api: Registration) -> Handler:
    def routed(ctx: RequestContext, request: Any) -> Outcome:
        def mine(answer: Any) -> Any:
            answer.groups = those(answer.groups, lambda group: coordinates(ctx, group.group_id))
            return answer

        return cast(Outcome, then(api.handler(ctx, request), mine))

    return routed


def _one_transaction(api: Registration) -> Handler:
    """An empty transactional id is refused before anybody asks for its coordinator; none at all has no coordinator."""
    handler = api.handler

    def routed(ctx: RequestContext, request: Any) -> Outcome:
        transactional_id: str | None = request.transactional_id
        if not transactional_id or coordinates_transactions(ctx.state, ctx.node_id, transactional_id):
            return handler(ctx, request)
        return _refused(handler, ctx, request)

    return routed


def _add_partitions_to_txn(api: Registration) -> Handler:
    """Brokers ask for several transactions at once, each of which has its own coordinator."""
    handler = api.handler

    def is_here(ctx: RequestContext, transactional_id: str) -> bool:
        return not transactional_id or coordinates_transactions(ctx.state, ctx.node_id, transactional_id)

    def routed(ctx: RequestContext, request: AddPartitionsToTxnRequest) -> Outcome:
        if ctx.api_version < _SEVERAL_TRANSACTIONS_FROM:
            here = is_here(ctx, request.v3_and_below_transactional_id)
            return handler(ctx, request) if here else _refused(handler, ctx, request)
        elsewhere = {
            one.transactional_id
            for one in paced(request.transactions, ctx.pace)
            if not is_here(ctx, one.transactional_id)
        }
        if not elsewhere:
            return handler(ctx, request)
        mine = [one for one in request.transactions if one.transactional_id not in elsewhere]
        others = [one for one in request.transactions if one.transactional_id in elsewhere]
        refused = _refused(handler, ctx, AddPartitionsToTxnRequest(transactions=others))
        return _both(handler(ctx, AddPartitionsToTxnRequest(transactions=mine)), refused, request) if mine else refused

    return routed


def _both(mine: Outcome, others: Outcome, request: AddPartitionsToTxnRequest) -> Outcome:
    """The answers about transactions of this node and of other ones, in the order of the request."""
    both = Deferred(as_it_is)
    found: dict[str, Any] = {}
    left = 2

    def has_come(answer: Any) -> None:
        nonlocal left
        for one in answer.results_by_transaction:
            found.setdefault(one.transactional_id, []).append(one)
        left -= 1
        if not left:
            in_order = {name: iter(results) for name, results in found.items()}
            each = [next(in_order[one.transactional_id]) for one in request.transactions]
            both.complete(AddPartitionsToTxnResponse(results_by_transaction=each))

    for outcome in (mine, others):
        if isinstance(outcome, Deferred):
            outcome.when_done(has_come)
        else:
            has_come(outcome)
    return both if both.reply is None else both.reply


def _describe_transactions(api: Registration) -> Handler:
    handler = api.handler

    def routed(ctx: RequestContext, request: DescribeTransactionsRequest) -> Outcome:
        known: dict[str, Any] = {}  # a large one may be named many times
        for one in paced(dict.fromkeys(request.transactional_ids), ctx.pace):
            here = not one or coordinates_transactions(ctx.state, ctx.node_id, one)
            asked = DescribeTransactionsRequest([one])
            answer: Any = handler(ctx, asked) if here else _refused(handler, ctx, asked)
            (known[one],) = answer.transaction_states
        states = Shared((known[one] for one in request.transactional_ids), {})
        return DescribeTransactionsResponse(transaction_states=states)

    return routed


def _list_transactions(api: Registration) -> Handler:
    def routed(ctx: RequestContext, request: Any) -> Outcome:
        def here(answer: Any) -> Message:
            answer.transaction_states = [
                one
                for one in answer.transaction_states
                if coordinates_transactions(ctx.state, ctx.node_id, one.transactional_id)
            ]
            return cast(Message, answer)

        outcome = api.handler(ctx, request)
        if isinstance(outcome, Deferred):
            lower = outcome.lower
            outcome.lower = lambda value: here(lower(value))
            return outcome
        return here(outcome)

    return routed


_OTHERS: Final[dict[ApiKey, Callable[[Registration], Handler]]] = {
    ApiKey.OFFSET_FETCH: _offset_fetch,
    ApiKey.DESCRIBE_GROUPS: _describe_groups,
    ApiKey.CONSUMER_GROUP_DESCRIBE: _consumer_group_describe,
    ApiKey.SHARE_GROUP_DESCRIBE: _share_group_describe,
    ApiKey.STREAMS_GROUP_DESCRIBE: _streams_group_describe,
    ApiKey.DELETE_GROUPS: _delete_groups,
    ApiKey.LIST_GROUPS: _list_groups,
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: _describe_share_group_offsets,
    ApiKey.INIT_PRODUCER_ID: _one_transaction,
    ApiKey.ADD_OFFSETS_TO_TXN: _one_transaction,
    ApiKey.END_TXN: _one_transaction,
    ApiKey.ADD_PARTITIONS_TO_TXN: _add_partitions_to_txn,
    ApiKey.DESCRIBE_TRANSACTIONS: _describe_transactions,
    ApiKey.LIST_TRANSACTIONS: _list_transactions,
}
