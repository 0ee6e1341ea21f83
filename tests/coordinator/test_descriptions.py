"""Large groups that change while they are being described."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import pytest

from kafkastub.state.topics import delete_topics
from kafkawire.api import ApiKey
from kafkawire.messages import streams_group_heartbeat_request as streams
from kafkawire.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kafkawire.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from kafkawire.messages.share_group_describe_request import ShareGroupDescribeRequest
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.messages.streams_group_describe_request import StreamsGroupDescribeRequest
from kafkawire.schema import Message
from tests.coordinator.context import CoordinatorTestContext, Parked, subscription

MEMBERS: Final = 150
GROUP: Final = "g"


class Type(NamedTuple):
    """A type of groups.

    Attributes:
        joins, leaves: the requests of a member.
    """

    joins: Callable[[str], Message]
    leaves: Callable[[str], Message]
    describe: Callable[[Sequence[str]], Message]


def _streams(member: str) -> Message:
    topology = streams.Topology(0, [streams.Subtopology("0", ["a"])])
    tasks: dict[str, Any] = {"active_tasks": [], "standby_tasks": [], "warmup_tasks": []}
    return streams.StreamsGroupHeartbeatRequest(
        GROUP, member, 0, rebalance_timeout_ms=60_000, process_id=member, topology=topology, **tasks
    )


TYPES: Final = {
    "classic": Type(
        lambda member: JoinGroupRequest(
            GROUP, 10_000, 60_000, "", member, "consumer", [JoinGroupRequestProtocol("range", subscription("a"))]
        ),
        lambda member: LeaveGroupRequest(GROUP, "", [MemberIdentity("", member)]),
        DescribeGroupsRequest,
    ),
    "consumer": Type(
        lambda member: ConsumerGroupHeartbeatRequest(
            GROUP, member, 0, rebalance_timeout_ms=60_000, subscribed_topic_names=["a"], topic_partitions=[]
        ),
        lambda member: ConsumerGroupHeartbeatRequest(GROUP, member, -1),
        ConsumerGroupDescribeRequest,
    ),
    "share": Type(
        lambda member: ShareGroupHeartbeatRequest(GROUP, member, 0, subscribed_topic_names=["a"]),
        lambda member: ShareGroupHeartbeatRequest(GROUP, member, -1),
        ShareGroupDescribeRequest,
    ),
    "streams": Type(
        _streams,
        lambda member: streams.StreamsGroupHeartbeatRequest(GROUP, member, -1),
        StreamsGroupDescribeRequest,
    ),
}


def ask(context: CoordinatorTestContext, request: Message) -> Any:
    return context.call(ApiKey(request.API_KEY), type(request).VERSIONS[1], request)


def answered(context: CoordinatorTestContext, parked: Parked) -> Any:
    while not parked.answered:
        context.state.expire(context.broker_ms, context.timer_ms)
    return parked.answer


@pytest.mark.parametrize("kind", TYPES)
def test_a_description_of_a_large_group_is_of_one_moment(kind: str) -> None:
    context = CoordinatorTestContext(group_share_max_size="200", group_streams_initial_rebalance_delay_ms="0")
    asked = TYPES[kind]
    if kind != "classic":
        _ = context.coordinator.modern[kind]  # else its code is imported part by part
    ids = [f"m-{number}" for number in range(MEMBERS)]
    for member_id in ids:
        ask(context, asked.joins(member_id))
    before = answered(context, ask(context, asked.describe([GROUP])))
    assert len(before.groups[0].members) == MEMBERS

    parked = ask(context, asked.describe([GROUP]))
    assert not parked.answered
    ask(context, asked.joins("new"))
    for member_id in ids[:100]:
        ask(context, asked.leaves(member_id))
    delete_topics(context.state, ["a"], context.broker_ms)
    assert answered(context, parked) == before
    assert ask(context, asked.describe([GROUP])) != before
