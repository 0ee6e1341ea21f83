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

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from kafkastub.config.patterns import NotServed, Pattern
from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Deferred, Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import TRANSACTION_STATE
from kafkastub.state.transactional_ids import existing_coordinator
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.list_transactions_request import ListTransactionsRequest
from kafkawire.messages.list_transactions_response import ListTransactionsResponse, TransactionState
from kafkawire.rows import Rows

if TYPE_CHECKING:
    from kafkastub.transactions.records import TransactionMetadata

_AT_ONCE: Final = 50_000
"""Characters of transactional ids, times places of the expression, that are looked at before others have their turn."""


def error_response(request: ListTransactionsRequest, code: ErrorCode, version: int) -> ListTransactionsResponse:
    """The code at the top."""
    return ListTransactionsResponse(error_code=code)


@handles(ApiKey.LIST_TRANSACTIONS, 0, 2, error_response=error_response)
def list_transactions(ctx: RequestContext, request: ListTransactionsRequest) -> Outcome:
    from kafkastub.transactions import TransactionState as State

    by_name = {state.camel: state for state in State}
    unknown = [name for name in dict.fromkeys(request.state_filters) if name not in by_name]
    matches = _matching(request.transactional_id_pattern)
    states = {by_name[name] for name in request.state_filters if name in by_name}
    if ctx.state.cluster.topic(TRANSACTION_STATE) is None or (request.state_filters and not states):
        return ListTransactionsResponse(unknown_state_filters=unknown)
    found: Sequence[TransactionMetadata] = existing_coordinator(ctx.state).listing(
        ctx.broker_ms,
        states=states,
        producer_ids=frozenset(request.producer_id_filters),
        min_duration_ms=request.duration_filter,
    )
    if matches is None:
        return _answer(unknown, found)
    if sum(len(one.transactional_id) for one in found) * matches.places <= _AT_ONCE:
        return _answer(unknown, [one for one in found if matches.fullmatch(one.transactional_id)])
    return _in_turns(ctx, found, matches, partial(_answer, unknown))


def _in_turns(
    ctx: RequestContext,
    found: Sequence[TransactionMetadata],
    matches: Pattern,
    answer: Callable[[list[TransactionMetadata]], ListTransactionsResponse],
) -> Deferred:
    """Match very many, so that others are served meanwhile; what is listed is what there was."""
    deferred = Deferred(answer)

    def parts() -> Iterator[None]:
        wanted, left = [], _AT_ONCE
        for one in found:
            if matches.fullmatch(one.transactional_id):
                wanted.append(one)
            left -= len(one.transactional_id) * matches.places
            if left <= 0:
                yield
                if deferred.abandoned:
                    return
                left = _AT_ONCE
        deferred.complete(wanted)

    ctx.state.transactions.in_turns(parts())
    return deferred


def _answer(unknown: list[str], found: Sequence[TransactionMetadata]) -> ListTransactionsResponse:
    columns: dict[str, Sequence[Any]] = {
        "transactional_id": [one.transactional_id for one in found],
        "producer_id": [one.producer_id for one in found],
        "transaction_state": [one.state.camel for one in found],
    }
    return ListTransactionsResponse(
        unknown_state_filters=unknown, transaction_states=Rows(TransactionState, len(found), columns, {})
    )


def _matching(expression: str | None) -> Pattern | None:
    """KafkaError INVALID_REGULAR_EXPRESSION."""
    if not expression:
        return None
    try:
        return Pattern(expression)
    except NotServed as error:
        raise KafkaError(ErrorCode.INVALID_REGULAR_EXPRESSION, str(error)) from None
