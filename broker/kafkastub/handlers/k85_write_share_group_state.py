"""WriteShareGroupState (key 85), versions 0-1: between brokers.

WS-1  Batches are put over those that are known: of each offset the higher delivery count wins, then the higher state;
      what is before the start offset is forgotten.                 Kafka: PersisterStateBatchCombiner
WS-2  The start offset never goes back; with it goes the delivery complete count.
                                                    Kafka: ShareCoordinatorShard.generateShareStateRecord
WS-3  FENCED_LEADER_EPOCH, FENCED_STATE_EPOCH below the highest that are known; higher ones are good.
WS-4  INVALID_REQUEST with a text for what was never initialised, and for negative numbers.
WS-5  After `share.coordinator.snapshot.update.records.per.snapshot` updates, a snapshot.
WS-6  A batch whose first offset is behind its last: INVALID_REQUEST. Apache Kafka fails with UNKNOWN_SERVER_ERROR.
WS-7  More than 2000 batches for a partition in one request, and more than 40000 that would be known of it then, as many
      as a record of the topic can have: INVALID_REQUEST.
Not done: -
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.deferred import Steps
from kafkastub.state.share_lazy_imports import AT_ONCE, STATE, served
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode

if TYPE_CHECKING:
    from kafkawire.messages.write_share_group_state_request import WriteShareGroupStateRequest
    from kafkawire.schema import Message


def error_response(request: WriteShareGroupStateRequest, code: ErrorCode, version: int) -> Message:
    """The code at every partition, with its text."""
    from kafkastub.state.share_coordinator.state_requests import WRITE, refused

    return refused(WRITE, request, code)


@handles(ApiKey.WRITE_SHARE_GROUP_STATE, 0, 1, error_response=error_response)
def write_share_group_state(ctx: RequestContext, request: WriteShareGroupStateRequest) -> Outcome:
    def begin() -> Steps:
        from kafkastub.state.share_coordinator.state_requests import WRITE, steps

        return steps(WRITE, ctx.state.share_partitions.coordinator, request, ctx.node_id, ctx.broker_ms)

    failed = partial(error_response, request, version=ctx.api_version)
    return served(ctx.state, STATE, begin, AT_ONCE, failed)
