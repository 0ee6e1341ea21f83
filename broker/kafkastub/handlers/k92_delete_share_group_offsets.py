"""DeleteShareGroupOffsets (key 92), version 0.

XO-1  A share group without members forgets where it was in topics: all of their partitions.   KIP-932
XO-2  At the top, with a text: INVALID_GROUP_ID for the empty group id, NON_EMPTY_GROUP for a group with members,
      GROUP_ID_NOT_FOUND for one that is not there or of another type.
XO-3  An unknown topic, and one that the group has not read: UNKNOWN_TOPIC_OR_PARTITION, each with its text, behind what
      is forgotten, as often as it is named; what is forgotten once.             Kafka: initiateDeleteShareGroupOffsets
XO-4  Delete on the group, else GROUP_AUTHORIZATION_FAILED at the top; Read on topics, else TOPIC_AUTHORIZATION_FAILED,
      first in the answer.
XO-5  Where share groups are switched off (share.version): UNSUPPORTED_VERSION.
XO-6  Of a group that has never read anything, no topic is answered.  Kafka: sharePartitionsEligibleForOffsetDeletion
Not done: -
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.security import Operation
from kafkastub.state.deferred import Steps
from kafkastub.state.group_protocols import serves_share_protocol
from kafkastub.state.share_lazy_imports import changed_offsets, refusal_text
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kafkawire.messages.delete_share_group_offsets_request import DeleteShareGroupOffsetsRequest
    from kafkawire.messages.delete_share_group_offsets_response import DeleteShareGroupOffsetsResponse

_NOT_SERVED: Final = "The version of API is not supported."


def error_response(
    request: DeleteShareGroupOffsetsRequest, code: ErrorCode, version: int
) -> DeleteShareGroupOffsetsResponse:
    """The code at the top, with its text."""
    return _failed(KafkaError(code))


@handles(ApiKey.DELETE_SHARE_GROUP_OFFSETS, 0, 0, error_response=error_response)
def delete_share_group_offsets(ctx: RequestContext, request: DeleteShareGroupOffsetsRequest) -> Outcome:
    state = ctx.state
    if not serves_share_protocol(state):
        return _failed(KafkaError(ErrorCode.UNSUPPORTED_VERSION, _NOT_SERVED))
    if state.authorizer is not None and not ctx.access.to_group(Operation.DELETE, request.group_id):
        return _failed(KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED))

    def begin() -> Steps:
        from kafkastub.state.share_group_offsets import deleted

        return deleted(state, request, partial(_may_read, ctx), ctx.broker_ms, ctx.timer_ms)

    return changed_offsets(state, begin, _failed)


def _may_read(ctx: RequestContext, name: str) -> bool:
    return ctx.state.authorizer is None or ctx.access.to_topic(Operation.READ, name)


def _failed(error: KafkaError) -> DeleteShareGroupOffsetsResponse:
    from kafkawire.messages.delete_share_group_offsets_response import DeleteShareGroupOffsetsResponse

    return DeleteShareGroupOffsetsResponse(error_code=error.code, error_message=refusal_text(error))
