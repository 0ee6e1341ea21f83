"""DeleteShareGroupState (key 86), version 0: between brokers.

DS-1  The share partition is not known any more; that it was not is no error.
                                                                    Kafka: ShareCoordinatorShard.deleteState
DS-2  INVALID_REQUEST for a negative partition; UNKNOWN_TOPIC_OR_PARTITION for what no topic has.
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
    from kafkawire.messages.delete_share_group_state_request import DeleteShareGroupStateRequest
    from kafkawire.schema import Message


def error_response(request: DeleteShareGroupStateRequest, code: ErrorCode, version: int) -> Message:
    """The code at every partition, with its text."""
    from kafkastub.state.share_coordinator.state_requests import DELETE, refused

    return refused(DELETE, request, code)


@handles(ApiKey.DELETE_SHARE_GROUP_STATE, 0, 0, error_response=error_response)
def delete_share_group_state(ctx: RequestContext, request: DeleteShareGroupStateRequest) -> Outcome:
    def begin() -> Steps:
        from kafkastub.state.share_coordinator.state_requests import DELETE, steps

        return steps(DELETE, ctx.state.share_partitions.coordinator, request, ctx.node_id, ctx.broker_ms)

    failed = partial(error_response, request, version=ctx.api_version)
    return served(ctx.state, STATE, begin, AT_ONCE, failed)
