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

from typing import TYPE_CHECKING, Any, Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.handlers.share_offsets import OffsetsChange
from kafkastub.security import Operation
from kafkastub.state.deferred import Steps
from kafkawire.api import ApiKey

if TYPE_CHECKING:
    from kafkawire.messages.delete_share_group_offsets_request import DeleteShareGroupOffsetsRequest


def _deleted(*asked: Any) -> Steps:
    from kafkastub.state.share_group_offsets import deleted

    return deleted(*asked)


_CHANGE: Final = OffsetsChange(ApiKey.DELETE_SHARE_GROUP_OFFSETS, Operation.DELETE, _deleted)


@handles(ApiKey.DELETE_SHARE_GROUP_OFFSETS, 0, 0, error_response=_CHANGE.error_response)
def delete_share_group_offsets(ctx: RequestContext, request: DeleteShareGroupOffsetsRequest) -> Outcome:
    return _CHANGE.answer(ctx, request)
