"""InitProducerId (key 22), versions 0-5 (6, with two-phase commit, is not stable in Kafka 4.4 and not offered).

IP-1  Without transactional id: a new producer id, from 0 on, with epoch 0, whatever the timeout.    KIP-98
IP-2  From version 3 on a producer may name the id and epoch that it has (without a transactional id they are not
      looked at); one without the other: INVALID_REQUEST.    KIP-360
IP-3  A transactional id keeps its producer id; each time its epoch rises by one. Past the last epoch comes another
      producer id.    KIP-98
IP-4  A named id and epoch other than the current ones: PRODUCER_FENCED, below version 4 INVALID_PRODUCER_EPOCH; the
      request repeated is answered alike.    KIP-360, KIP-588
IP-5  An empty transactional id: INVALID_REQUEST.    TransactionCoordinator.handleInitProducerId
IP-6  A transaction timeout of 0 or less, or over transaction.max.timeout.ms: INVALID_TRANSACTION_TIMEOUT.
IP-7  An open transaction is aborted, its producer fenced: CONCURRENT_TRANSACTIONS, and so until its markers are
      written. An epoch is used for the abort, which a producer that names its epoch goes on with.    KIP-360, KIP-890
Not done: Kafka's first answers after a start (COORDINATOR_LOAD_IN_PROGRESS, NOT_COORDINATOR) do not occur. Where epochs
are used up and a producer names another one than the last, Kafka fails (UNKNOWN_SERVER_ERROR); here it is one of IP-4.
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.transactional_ids import coordinator_of, without_fencing
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.init_producer_id_response import InitProducerIdResponse
from kafkawire.records import NO_PRODUCER_EPOCH, NO_PRODUCER_ID

KNOWS_FENCED_FROM = 4


def error_response(request: InitProducerIdRequest, code: ErrorCode, version: int) -> InitProducerIdResponse:
    """At the top."""
    return InitProducerIdResponse(error_code=code, producer_id=NO_PRODUCER_ID, producer_epoch=NO_PRODUCER_EPOCH)


@handles(ApiKey.INIT_PRODUCER_ID, 0, 5, error_response=error_response)
def init_producer_id(ctx: RequestContext, request: InitProducerIdRequest) -> Outcome:
    has_id = request.producer_id != NO_PRODUCER_ID
    if has_id != (request.producer_epoch != NO_PRODUCER_EPOCH):
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    if request.transactional_id is None:
        allocated = ctx.state.logs.producer_ids.allocate()
        ctx.state.producer_ids_changed()
        return InitProducerIdResponse(producer_id=allocated.producer_id, producer_epoch=allocated.epoch)
    if not request.transactional_id:
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    expected = (request.producer_id, request.producer_epoch) if has_id else None
    coordinator = coordinator_of(ctx.state)
    turn = coordinator.turn(ctx.broker_ms, ctx.timer_ms)
    with without_fencing(ctx.api_version < KNOWS_FENCED_FROM):
        coordinator.init_producer_id(request.transactional_id, request.transaction_timeout_ms, expected, turn)
    ctx.state.transactions.settle(turn)
    if turn.error:
        raise KafkaError(turn.error)
    producer_id, epoch = turn.reply
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=epoch)
