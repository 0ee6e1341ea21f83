"""InitializeShareGroupState (key 83), version 0: between brokers.

IS-1  A share partition is known from now on, with its state epoch and start offset; one that is known begins anew: no
      state of its records is left.                                  Kafka: ShareCoordinatorShard.initializeState
IS-2  FENCED_STATE_EPOCH below the highest state epoch that it had; the same one is good.
IS-3  INVALID_REQUEST with a text for a negative partition or state epoch; UNKNOWN_TOPIC_OR_PARTITION for what no topic
      has. Neighbours are served.
IS-4  The answer has each partition once, topics and partitions in the order of Kafka's maps; nothing of a topic without
      partitions. An empty group id: nothing at all.                Kafka: ShareCoordinatorService.initializeState
IS-5  NOT_COORDINATOR where another node leads the share partition's part of __share_group_state, or there is no such
      topic; COORDINATOR_LOAD_IN_PROGRESS while it is loading.
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
    from kafkawire.messages.initialize_share_group_state_request import InitializeShareGroupStateRequest
    from kafkawire.schema import Message


def error_response(request: InitializeShareGroupStateRequest, code: ErrorCode, version: int) -> Message:
    """The code at every partition, with its text."""
    from kafkastub.state.share_coordinator.state_requests import INITIALIZE, refused

    return refused(INITIALIZE, request, code)


@handles(ApiKey.INITIALIZE_SHARE_GROUP_STATE, 0, 0, error_response=error_response)
def initialize_share_group_state(ctx: RequestContext, request: InitializeShareGroupStateRequest) -> Outcome:
    def begin() -> Steps:
        from kafkastub.state.share_coordinator.state_requests import INITIALIZE, steps

        return steps(INITIALIZE, ctx.state.share_partitions.coordinator, request, ctx.node_id, ctx.broker_ms)

    failed = partial(error_response, request, version=ctx.api_version)
    return served(ctx.state, STATE, begin, AT_ONCE, failed)
