"""AlterShareGroupOffsets (key 91), version 0.

AZ-1  A share group without members begins to read partitions anew at given offsets: any number is taken, the last one
      of a partition counts, and its state epoch is the group's.                     KIP-932
AZ-2  A group that is not there is made.                                              Kafka: alterShareGroupOffsets
AZ-3  At the top, with a text: INVALID_GROUP_ID for the empty group id, NON_EMPTY_GROUP for a group with members,
      GROUP_ID_NOT_FOUND for one of another type.
AZ-4  UNKNOWN_TOPIC_OR_PARTITION at partitions that are not there; unknown topics come first in the answer.
AZ-5  Read on the group, else GROUP_AUTHORIZATION_FAILED at the top; Read on topics, else TOPIC_AUTHORIZATION_FAILED.
AZ-6  What the share coordinator refuses stands at its partition; then the group knows of none of them.
AZ-7  Where share groups are switched off (share.version): UNSUPPORTED_VERSION.
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
    from kafkawire.messages.alter_share_group_offsets_request import AlterShareGroupOffsetsRequest
    from kafkawire.messages.alter_share_group_offsets_response import AlterShareGroupOffsetsResponse

_NOT_SERVED: Final = "The version of API is not supported."


def error_response(
    request: AlterShareGroupOffsetsRequest, code: ErrorCode, version: int
) -> AlterShareGroupOffsetsResponse:
    """The code at the top, with its text."""
    return _failed(KafkaError(code))


@handles(ApiKey.ALTER_SHARE_GROUP_OFFSETS, 0, 0, error_response=error_response)
def alter_share_group_offsets(ctx: RequestContext, request: AlterShareGroupOffsetsRequest) -> Outcome:
    state = ctx.state
    if not serves_share_protocol(state):
        return _failed(KafkaError(ErrorCode.UNSUPPORTED_VERSION, _NOT_SERVED))
    if state.authorizer is not None and not ctx.access.to_group(Operation.READ, request.group_id):
        return _failed(KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED))

    def begin() -> Steps:
        from kafkastub.state.share_group_offsets import altered

        return altered(state, request, partial(_may_read, ctx), ctx.broker_ms, ctx.timer_ms)

    return changed_offsets(state, begin, _failed)


def _may_read(ctx: RequestContext, name: str) -> bool:
    return ctx.state.authorizer is None or ctx.access.to_topic(Operation.READ, name)


def _failed(error: KafkaError) -> AlterShareGroupOffsetsResponse:
    from kafkawire.messages.alter_share_group_offsets_response import AlterShareGroupOffsetsResponse

    return AlterShareGroupOffsetsResponse(error_code=error.code, error_message=refusal_text(error))
