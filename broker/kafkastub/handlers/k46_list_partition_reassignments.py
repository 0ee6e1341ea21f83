"""ListPartitionReassignments (key 46), version 0.

RL-1  Nothing is ever under way, whichever topics are asked for: a reassignment is complete when it is answered.
                                                                          KIP-455; Kafka: ReplicationControlManager
Not done: -
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.list_partition_reassignments_request import ListPartitionReassignmentsRequest
from kafkawire.messages.list_partition_reassignments_response import ListPartitionReassignmentsResponse


def error_response(
    request: ListPartitionReassignmentsRequest, code: ErrorCode, version: int
) -> ListPartitionReassignmentsResponse:
    """The code at the top."""
    return ListPartitionReassignmentsResponse(error_code=code, error_message=None)


@handles(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, 0, error_response=error_response)
def list_partition_reassignments(ctx: RequestContext, request: ListPartitionReassignmentsRequest) -> Outcome:
    return ListPartitionReassignmentsResponse(error_message=None)
