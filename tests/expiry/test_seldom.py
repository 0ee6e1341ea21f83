"""What random histories seldom reach."""

from __future__ import annotations

from tests.coordinator.context import DAY_MS, RETENTION_MS, subscription
from tests.expiry.context import HOUR_MS, ClockedContext


def test_a_topic_that_is_left_long_after_its_last_commit_expires_at_once():
    context = ClockedContext()
    protocols = {"range": subscription("a", "b")}
    (member,) = context.stable(protocols=protocols)
    context.commit("g", {"a": {0: 1}, "b": {0: 1}}, generation=1, member_id=member.member_id)
    context.move(30 * DAY_MS)
    context.join(member_id=member.member_id, protocols={"range": subscription("a")})
    context.move(DAY_MS)
    assert len(context.fetch()) == 2
    member.generation = 2
    context.sync(member, {member.member_id: b""})
    context.move(0)
    assert context.fetch() == {("a", 0): (1, -1, "")}


def test_a_group_of_which_only_a_member_id_was_asked_is_a_simple_one_after_a_reload():
    context = ClockedContext()
    context.join()
    context.commit("g", {"a": {0: 1}})
    context.move(DAY_MS)
    context.commit("g", {"a": {0: 2}})
    context.reload()
    context.move(RETENTION_MS - 1)
    assert context.fetch() == {("a", 0): (2, -1, "")}
    context.move(1)
    assert context.fetch() == {}


def test_a_commit_into_an_empty_group_that_only_holds_offsets_with_a_later_expiry_of_their_own():
    context = ClockedContext()
    (member,) = context.stable()
    context.commit(
        "g", {"a": {0: 1}}, generation=1, member_id=member.member_id, retention=RETENTION_MS + HOUR_MS, version=4
    )
    context.leave("g", (member.member_id, None))
    emptied = context.broker_ms
    context.move(2 * HOUR_MS)
    context.commit("g", {"a": {1: 1}})
    context.move(30 * DAY_MS)
    assert context.stamping.tombstones == [
        (emptied + RETENTION_MS, "g", ("a", 1)),
        (emptied + RETENTION_MS + HOUR_MS, "g", ("a", 0)),
        (emptied + RETENTION_MS + HOUR_MS, "g", None),
    ]
