"""EndTxn (key 26), versions 0-5.

ET-1  The transaction is committed, or aborted: its markers are written behind the answer.    KIP-98
ET-2  Below version 5 the producer goes on with its epoch; a repeated request is answered alike once the markers are
      written, another end INVALID_TXN_STATE, as where nothing was begun.
ET-3  From version 5 on the answer has the epoch to go on with, one higher; past the last epoch another producer id with
      epoch 0. A repeated request, with the epoch before, is answered alike.    KIP-890
ET-4  From version 5 on a transaction without partitions can be aborted, which raises the epoch; committing one is
      INVALID_TXN_STATE.
ET-5  An epoch that is not the current one: PRODUCER_FENCED, below version 2 INVALID_PRODUCER_EPOCH.    KIP-588
ET-6  An unknown transactional id, or another producer's: INVALID_PRODUCER_ID_MAPPING; an empty one: INVALID_REQUEST.
ET-7  While markers are under way: CONCURRENT_TRANSACTIONS.
ET-8  A transaction that is open for longer than its timeout is aborted, and its producer fenced.
      Kafka: TransactionCoordinator.abortTimedOutTransactions
Not done: -
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.transactional_ids import existing_coordinator, without_fencing
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.end_txn_request import EndTxnRequest
from kafkawire.messages.end_txn_response import EndTxnResponse

KNOWS_FENCED_FROM = 2
RAISES_EPOCH_FROM = 5
_V1, _V2 = 0, 2
"""Transaction versions; Kafka counts clients below the second as 0."""


def error_response(request: EndTxnRequest, code: ErrorCode, version: int) -> EndTxnResponse:
    """At the top."""
    return EndTxnResponse(error_code=code)


@handles(ApiKey.END_TXN, 0, 5, error_response=error_response)
def end_txn(ctx: RequestContext, request: EndTxnRequest) -> Outcome:
    if not request.transactional_id:
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    coordinator = existing_coordinator(ctx.state)
    turn = coordinator.turn(ctx.broker_ms, ctx.timer_ms)
    with without_fencing(ctx.api_version < KNOWS_FENCED_FROM):
        coordinator.end(
            request.transactional_id,
            request.producer_id,
            request.producer_epoch,
            request.committed,
            _V2 if ctx.api_version >= RAISES_EPOCH_FROM else _V1,
            turn,
        )
    ctx.state.transactions.settle(turn)
    producer_id, epoch = turn.reply
    return EndTxnResponse(producer_id=producer_id, producer_epoch=epoch)
