"""`end_session` in a classic group: what the end of one member's session does."""

from __future__ import annotations

import pytest

from kafkawire.errors import ErrorCode, KafkaError
from tests.coordinator.context import CoordinatorTestContext


def end(context: CoordinatorTestContext, group_id: str, member_id: str) -> None:
    classic = context.coordinator.classic
    context.state.settle(classic.end_session(group_id, member_id, context.broker_ms, context.timer_ms))


def test_the_others_rebalance():
    context = CoordinatorTestContext()
    one, two = context.stable(2)
    end(context, "g", one.member_id)
    assert context.heartbeat(one) is ErrorCode.UNKNOWN_MEMBER_ID
    assert context.heartbeat(two) is ErrorCode.REBALANCE_IN_PROGRESS


@pytest.mark.parametrize(
    ("group_id", "member_id", "code"),
    [("nobody", "x", ErrorCode.GROUP_ID_NOT_FOUND), ("g", "x", ErrorCode.UNKNOWN_MEMBER_ID)],
)
def test_there_has_to_be_such_a_member(group_id: str, member_id: str, code: ErrorCode):
    context = CoordinatorTestContext()
    context.stable()
    with pytest.raises(KafkaError) as refused:
        end(context, group_id, member_id)
    assert refused.value.code is code


def test_who_waits_for_the_rebalance_keeps_its_session():
    context = CoordinatorTestContext()
    one, two = context.stable(2)
    parked = context.join("g", one.member_id)
    with pytest.raises(KafkaError, match="waits for the rebalance") as refused:
        end(context, "g", one.member_id)
    assert refused.value.code is ErrorCode.INVALID_REQUEST
    context.join("g", two.member_id)
    assert parked.answer.error_code == 0
