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

from typing import TYPE_CHECKING, Any, Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.handlers.share_offsets import OffsetsChange
from kafkastub.security import Operation
from kafkastub.state.deferred import Steps
from kafkawire.api import ApiKey

if TYPE_CHECKING:
    from kafkawire.messages.alter_share_group_offsets_request import AlterShareGroupOffsetsRequest


def _altered(*asked: Any) -> Steps:
    from kafkastub.state.share_group_offsets import altered

    return altered(*asked)


_CHANGE: Final = OffsetsChange(ApiKey.ALTER_SHARE_GROUP_OFFSETS, Operation.READ, _altered)


@handles(ApiKey.ALTER_SHARE_GROUP_OFFSETS, 0, 0, error_response=_CHANGE.error_response)
def alter_share_group_offsets(ctx: RequestContext, request: AlterShareGroupOffsetsRequest) -> Outcome:
    return _CHANGE.answer(ctx, request)
