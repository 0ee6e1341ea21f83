"""ListTransactions (key 66), versions 0-2.

TL-1  Every transactional id of the asked node, with its producer id and state.    KIP-664
TL-2  Only those in one of the states, only those of one of the producer ids. Names of states that there are not are
      told in the answer; with only such ones, nothing is listed.
TL-3  From version 1 on: only those whose transaction began longer ago than the duration; those that have not begun any
      are among them, as in Kafka. A negative duration lets all through.    KIP-994
TL-4  From version 2 on: only those that a regular expression means as a whole; what is none:
      INVALID_REGULAR_EXPRESSION. The empty one lets all through.    KIP-1152
TL-5  Before there is any transactional id: nothing.
Not done: regular expressions with flags, classes inside classes, \\p, \\Q; they are refused as one that is none.
Transactional ids of more than 256 characters are meant by none. Kafka takes RE2J.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final

from kafkastub.config.patterns import NotServed, Pattern
from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import TRANSACTION_STATE
from kafkastub.state.deferred import Steps, in_parts
from kafkastub.state.pace import paced
from kafkastub.state.transactional_ids import existing_coordinator
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.list_transactions_request import ListTransactionsRequest
from kafkawire.messages.list_transactions_response import ListTransactionsResponse, TransactionState
from kafkawire.rows import Rows

if TYPE_CHECKING:
    from kafkastub.transaction_coordinator import TransactionCoordinator
    from kafkastub.transaction_coordinator import TransactionState as State

_AT_ONCE: Final = 50_000
"""Characters of transactional ids, times places of the expression, that are looked at before others have their turn."""
_ID: Final = 4
"""What an id counts that no expression is held against."""
_SOME: Final = 1_000
"""Ids that are filtered together."""


def error_response(request: ListTransactionsRequest, code: ErrorCode, version: int) -> ListTransactionsResponse:
    """The code at the top."""
    return ListTransactionsResponse(error_code=code)


@handles(ApiKey.LIST_TRANSACTIONS, 0, 2, error_response=error_response)
def list_transactions(ctx: RequestContext, request: ListTransactionsRequest) -> Outcome:
    from kafkastub.transaction_coordinator import TransactionState as State

    by_name = {state.camel: state for state in State}
    unknown = [name for name in paced(dict.fromkeys(request.state_filters), ctx.pace) if name not in by_name]
    matches = _matching(request.transactional_id_pattern)
    states = {by_name[name] for name in paced(request.state_filters, ctx.pace) if name in by_name}
    if ctx.state.cluster.topic(TRANSACTION_STATE) is None or (request.state_filters and not states):
        return ListTransactionsResponse(unknown_state_filters=unknown)

    def failed(code: ErrorCode) -> ListTransactionsResponse:
        return error_response(request, code, ctx.api_version)

    steps = _listed(ctx, existing_coordinator(ctx.state), request, states, unknown, matches)
    return in_parts(steps, _AT_ONCE, ctx.state.transactions.turns.add, failed)


def _listed(
    ctx: RequestContext,
    coordinator: TransactionCoordinator,
    request: ListTransactionsRequest,
    states: Collection[State],
    unknown: list[str],
    matches: Pattern | None,
) -> Steps:
    """Those that there were; each as it is when it is looked at."""
    every = list(coordinator.transactions.values())
    producer_ids = frozenset(request.producer_id_filters)
    ids, producers, told = list[str](), list[int](), list[str]()
    for at in range(0, len(every), _SOME):
        found = coordinator.listing(
            ctx.broker_ms,
            states=states,
            producer_ids=producer_ids,
            min_duration_ms=request.duration_filter,
            among=every[at : at + _SOME],
        )
        yield _ID * _SOME
        if matches is not None:
            wanted = []
            for one in found:
                if matches.fullmatch(one.transactional_id):
                    wanted.append(one)
                yield len(one.transactional_id) * matches.places
            found = wanted
        ids += [one.transactional_id for one in found]
        producers += [one.producer_id for one in found]
        told += [one.state.camel for one in found]
    columns: dict[str, Sequence[Any]] = {"transactional_id": ids, "producer_id": producers, "transaction_state": told}
    rows: Rows[TransactionState] = Rows(TransactionState, len(ids), columns, {})
    return ListTransactionsResponse(unknown_state_filters=unknown, transaction_states=rows)


def _matching(expression: str | None) -> Pattern | None:
    """KafkaError INVALID_REGULAR_EXPRESSION."""
    if not expression:
        return None
    try:
        return Pattern(expression)
    except NotServed as error:
        raise KafkaError(ErrorCode.INVALID_REGULAR_EXPRESSION, str(error)) from None
