"""DescribeTransactions (key 65), version 0.

TD-1  State, producer, timeout, start and the partitions that have no marker yet, of each transactional id.    KIP-664
TD-2  An unknown id: TRANSACTIONAL_ID_NOT_FOUND; an empty one: INVALID_REQUEST.
TD-3  Before there is any transactional id: NOT_COORDINATOR.
Not done: -
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.pace import paced
from kafkastub.state.transactional_ids import existing_coordinator
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.describe_transactions_request import DescribeTransactionsRequest
from kafkawire.messages.describe_transactions_response import DescribeTransactionsResponse, TopicData, TransactionState
from kafkawire.rows import Shared

if TYPE_CHECKING:
    from kafkastub.transaction_coordinator import TransactionCoordinator


def error_response(request: DescribeTransactionsRequest, code: ErrorCode, version: int) -> DescribeTransactionsResponse:
    """The code at every transactional id."""
    return DescribeTransactionsResponse(transaction_states=[_refused(one, code) for one in request.transactional_ids])


@handles(ApiKey.DESCRIBE_TRANSACTIONS, 0, 0, error_response=error_response)
def describe_transactions(ctx: RequestContext, request: DescribeTransactionsRequest) -> Outcome:
    asked = request.transactional_ids
    coordinator: TransactionCoordinator | ErrorCode
    try:
        coordinator = existing_coordinator(ctx.state)
    except KafkaError as error:
        coordinator = error.code
    known = {
        one: _described(coordinator, one) for one in paced(dict.fromkeys(asked), ctx.pace)
    }  # a large one may be named many times
    states = [known[one] for one in paced(asked, ctx.pace)]
    return DescribeTransactionsResponse(transaction_states=states if len(known) == len(asked) else Shared(states, {}))


def _refused(transactional_id: str, code: ErrorCode) -> TransactionState:
    return TransactionState(error_code=code, transactional_id=transactional_id)


def _described(coordinator: TransactionCoordinator | ErrorCode, transactional_id: str) -> TransactionState:
    if not transactional_id:
        return _refused(transactional_id, ErrorCode.INVALID_REQUEST)
    if isinstance(coordinator, ErrorCode):
        return _refused(transactional_id, coordinator)
    if coordinator.metadata(transactional_id) is None:  # an error that is raised takes longer
        return _refused(transactional_id, ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
    found = coordinator.describe(transactional_id)
    topics: dict[str, list[int]] = {}
    for topic, index in found.partitions:
        topics.setdefault(topic, []).append(index)
    return TransactionState(
        transactional_id=transactional_id,
        transaction_state=found.state.camel,
        transaction_timeout_ms=found.timeout_ms,
        transaction_start_time_ms=found.start_ms,
        producer_id=found.producer_id,
        producer_epoch=found.producer_epoch,
        topics=[TopicData(*one) for one in topics.items()],
    )
