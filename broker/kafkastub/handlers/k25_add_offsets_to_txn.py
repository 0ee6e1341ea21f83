"""AddOffsetsToTxn (key 25), versions 0-4.

AO-1  The group's partition of __consumer_offsets is in the transaction, which it opens if need be.    KIP-98
AO-2  An epoch that is not the current one: PRODUCER_FENCED, below version 2 INVALID_PRODUCER_EPOCH.    KIP-588
AO-3  An unknown transactional id, or another producer's: INVALID_PRODUCER_ID_MAPPING; an empty one: INVALID_REQUEST.
AO-4  While markers are under way: CONCURRENT_TRANSACTIONS.
AO-5  The group need not exist, nor its id mean anything: the empty one is taken too.
Not done: -
"""

from __future__ import annotations

from kafkastub.coordinator import partition_for
from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import CONSUMER_OFFSETS
from kafkastub.state.transactional_ids import existing_coordinator, without_fencing
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kafkawire.messages.add_offsets_to_txn_response import AddOffsetsToTxnResponse

KNOWS_FENCED_FROM = 2
_TRANSACTION_VERSION = 0
"""Only clients below transaction version 2 ask; Kafka counts them as 0."""


def error_response(request: AddOffsetsToTxnRequest, code: ErrorCode, version: int) -> AddOffsetsToTxnResponse:
    """At the top."""
    return AddOffsetsToTxnResponse(error_code=code)


@handles(ApiKey.ADD_OFFSETS_TO_TXN, 0, 4, error_response=error_response)
def add_offsets_to_txn(ctx: RequestContext, request: AddOffsetsToTxnRequest) -> Outcome:
    if not request.transactional_id:
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    state = ctx.state
    coordinator = existing_coordinator(state)
    topic = state.cluster.topic(CONSUMER_OFFSETS)
    count = state.config["offsets.topic.num.partitions"] if topic is None else len(topic.partitions)
    turn = coordinator.turn(ctx.broker_ms, ctx.timer_ms)
    with without_fencing(ctx.api_version < KNOWS_FENCED_FROM):
        coordinator.add_partitions(
            request.transactional_id,
            request.producer_id,
            request.producer_epoch,
            [(CONSUMER_OFFSETS, partition_for(request.group_id, count))],
            _TRANSACTION_VERSION,
            turn,
        )
    state.transactions.settle(turn)
    return AddOffsetsToTxnResponse()
