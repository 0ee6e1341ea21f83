"""ReadShareGroupStateSummary (key 87), versions 0-1: between brokers.

SS-1  State epoch, leader epoch, start offset and (version 1) delivery complete count, without batches.
                                                                    Kafka: ShareCoordinatorShard.readStateSummary
SS-2  What is not known has start offset -1, and no error.
SS-3  INVALID_REQUEST for a negative partition; UNKNOWN_TOPIC_OR_PARTITION for what no topic has. The leader epoch
      that is asked with is not looked at.
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
    from kafkawire.messages.read_share_group_state_summary_request import ReadShareGroupStateSummaryRequest
    from kafkawire.schema import Message


def error_response(request: ReadShareGroupStateSummaryRequest, code: ErrorCode, version: int) -> Message:
    """The code at every partition, with its text."""
    from kafkastub.state.share_coordinator.state_requests import SUMMARY, refused

    return refused(SUMMARY, request, code)


@handles(ApiKey.READ_SHARE_GROUP_STATE_SUMMARY, 0, 1, error_response=error_response)
def read_share_group_state_summary(ctx: RequestContext, request: ReadShareGroupStateSummaryRequest) -> Outcome:
    def begin() -> Steps:
        from kafkastub.state.share_coordinator.state_requests import SUMMARY, steps

        return steps(SUMMARY, ctx.state.share_partitions.coordinator, request, ctx.node_id, ctx.broker_ms)

    failed = partial(error_response, request, version=ctx.api_version)
    return served(ctx.state, STATE, begin, AT_ONCE, failed)
