"""DescribeShareGroupOffsets (key 90), versions 0-1.

SO-1  Of each partition: where the group begins to read, and the leader epoch that has read it last; version 1 has how
      many records are not done with.                                            KIP-932, 1226
SO-2  Of null topics those partitions whose state is there. Of a group that is not there, or of another type: none.
      Kafka: describeShareGroupAllOffsets
SO-3  What was never read, an unknown topic, an unknown partition: start offset -1, and no error. Known topics come
      first. (Apache Kafka 4.4 never answers for an unknown partition of a known topic.)
SO-4  A known topic without partitions: UNKNOWN_SERVER_ERROR for its group.
SO-5  Describe on the group, else GROUP_AUTHORIZATION_FAILED for it; Describe on topics: named ones are
      TOPIC_AUTHORIZATION_FAILED, of null topics they are left out.             Kafka: KafkaApis
SO-6  Where share groups are switched off (share.version): UNSUPPORTED_VERSION for each group.
SO-7  Named topics are told by every node, null topics by the group's coordinator.
Not done: -
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.security import Operation
from kafkastub.state.deferred import Steps
from kafkastub.state.group_protocols import serves_share_protocol
from kafkastub.state.share_lazy_imports import AT_ONCE, OFFSETS, refusal_text, served
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.rows import Shared

if TYPE_CHECKING:
    from kafkawire.messages.describe_share_group_offsets_request import (
        DescribeShareGroupOffsetsRequest,
        DescribeShareGroupOffsetsRequestGroup,
    )
    from kafkawire.messages.describe_share_group_offsets_response import (
        DescribeShareGroupOffsetsResponse,
        DescribeShareGroupOffsetsResponseGroup,
    )


def error_response(
    request: DescribeShareGroupOffsetsRequest, code: ErrorCode, version: int
) -> DescribeShareGroupOffsetsResponse:
    """The code at every group, with its text."""
    return _answer([_failed(one, KafkaError(code)) for one in request.groups])


@handles(ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, 0, 1, error_response=error_response)
def describe_share_group_offsets(ctx: RequestContext, request: DescribeShareGroupOffsetsRequest) -> Outcome:
    if not serves_share_protocol(ctx.state):
        return _answer([_refused(one, ErrorCode.UNSUPPORTED_VERSION) for one in request.groups])
    failed = partial(error_response, request, version=ctx.api_version)
    return served(ctx.state, OFFSETS, partial(_described, ctx, request), AT_ONCE, failed, for_nobody=False)


def _described(ctx: RequestContext, request: DescribeShareGroupOffsetsRequest) -> Steps:
    from kafkastub.state.share_group_offsets import described

    answers = []
    whole: dict[str, DescribeShareGroupOffsetsResponseGroup] = {}
    for one in request.groups:
        if one.topics is None and one.group_id in whole:
            answers.append(whole[one.group_id])
            yield 1
            continue
        if ctx.state.authorizer is not None and not ctx.access.to_group(Operation.DESCRIBE, one.group_id):
            answers.append(_refused(one, ErrorCode.GROUP_AUTHORIZATION_FAILED))
        else:
            try:
                answers.append((yield from described(ctx.state, one, partial(_may_describe, ctx))))
            except KafkaError as error:
                answers.append(_failed(one, error))
        if one.topics is None:
            whole[one.group_id] = answers[-1]
        yield 1
    wholly = sum(one.topics is None for one in request.groups)
    return _answer(answers if len(whole) == wholly else Shared(answers, {}))


def _may_describe(ctx: RequestContext, name: str) -> bool:
    return ctx.state.authorizer is None or ctx.access.to_topic(Operation.DESCRIBE, name)


def _answer(groups: list[DescribeShareGroupOffsetsResponseGroup]) -> DescribeShareGroupOffsetsResponse:
    from kafkawire.messages.describe_share_group_offsets_response import DescribeShareGroupOffsetsResponse

    return DescribeShareGroupOffsetsResponse(groups=groups)


def _failed(asked: DescribeShareGroupOffsetsRequestGroup, error: KafkaError) -> DescribeShareGroupOffsetsResponseGroup:
    answer = _refused(asked, error.code)
    answer.error_message = refusal_text(error)
    return answer


def _refused(asked: DescribeShareGroupOffsetsRequestGroup, code: ErrorCode) -> DescribeShareGroupOffsetsResponseGroup:
    from kafkawire.messages.describe_share_group_offsets_response import DescribeShareGroupOffsetsResponseGroup

    return DescribeShareGroupOffsetsResponseGroup(asked.group_id, error_code=code)
