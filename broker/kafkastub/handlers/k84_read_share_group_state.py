"""ReadShareGroupState (key 84), version 0: between brokers.

RS-1  State epoch, start offset and the state of the records behind it: ascending, without overlaps; what none tells of
      is available.                                 Kafka: ShareCoordinatorShard.readStateAndMaybeUpdateLeaderEpoch
RS-2  Another leader epoch than the last one is written down; below the highest: FENCED_LEADER_EPOCH.
RS-3  INVALID_REQUEST with a text for what was never initialised, and for a negative partition or leader epoch.
RS-4  An empty group id, no topics, or a topic without partitions: nothing is answered.
                                                                    Kafka: ShareCoordinatorService.readState
RS-5  NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS: "Unable to read share group state: " and why.
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
    from kafkawire.messages.read_share_group_state_request import ReadShareGroupStateRequest
    from kafkawire.schema import Message


def error_response(request: ReadShareGroupStateRequest, code: ErrorCode, version: int) -> Message:
    """The code at every partition, with its text."""
    from kafkastub.state.share_coordinator.state_requests import READ, refused

    return refused(READ, request, code)


@handles(ApiKey.READ_SHARE_GROUP_STATE, 0, 0, error_response=error_response)
def read_share_group_state(ctx: RequestContext, request: ReadShareGroupStateRequest) -> Outcome:
    def begin() -> Steps:
        from kafkastub.state.share_coordinator.state_requests import READ, steps

        return steps(READ, ctx.state.share_partitions.coordinator, request, ctx.node_id, ctx.broker_ms)

    failed = partial(error_response, request, version=ctx.api_version)
    return served(ctx.state, STATE, begin, AT_ONCE, failed)
