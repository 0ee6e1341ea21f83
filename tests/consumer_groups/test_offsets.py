"""Offsets of consumer groups: who may commit and fetch with which epoch, what may be deleted, what expires."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from kafkastub.coordinator import PartitionCommit
from kafkawire.errors import ErrorCode
from kafkawire.messages.offset_commit_request import OffsetCommitRequest
from kafkawire.messages.txn_offset_commit_request import TxnOffsetCommitRequest
from tests.consumer_groups.context import GROUP, Context, refused

RETENTION_MS = 7 * 86_400_000


@pytest.fixture
def context() -> Context:
    """m1 has had 0 and 1 of t since epoch 2, and is in 4."""
    made = Context()
    made.topic("t", 4)
    made.topic("u", 1)
    made.join("m1", "t", assignor="range")
    made.join("m2", "t")
    made.follow("m1", "m2")
    assert made.has("m1") == {"t": {0, 1}}
    made.topic("t", 8)
    made.follow("m1", "m2")
    assert made.has("m1") == {"t": {0, 1, 2, 3}}
    assert made.member("m1").member_epoch == 4
    return made


def commit(
    context: Context,
    member: str,
    epoch: int,
    partitions: Collection[int] = (0,),
    *,
    topic: str = "t",
    version: int = 9,
    instance: str | None = None,
) -> None:
    request = OffsetCommitRequest(GROUP, epoch, member, instance)
    topics = [(topic, context.id_of(topic), [PartitionCommit(p, 5) for p in partitions])]
    coordinator = context.coordinator
    context.took(coordinator.commit_offsets(request, topics, version, context.broker_ms, context.timer_ms))


def commit_in_transaction(
    context: Context, member: str, epoch: int, partitions: Collection[int] = (0,), version: int = 6
) -> None:
    request = TxnOffsetCommitRequest("id", GROUP, 1, 0, epoch, member)
    topics = [("t", context.id_of("t"), [PartitionCommit(p, 5) for p in partitions])]
    now = context.broker_ms, context.timer_ms
    context.took(context.coordinator.commit_transactional_offsets(request, topics, version, lambda: None, *now))


def test_a_member_commits_what_it_likes_in_its_epoch(context: Context):
    commit(context, "m1", 4, range(8))
    assert [context.coordinator.offsets.get(GROUP, "t", p) is not None for p in range(8)] == [True] * 8


def test_in_an_older_epoch_it_commits_what_it_has_had_since(context: Context):
    commit(context, "m1", 2, (0, 1))
    commit(context, "m1", 3, (1,))
    for epoch, partitions in ((1, (0,)), (3, (2,)), (3, (0, 2)), (3, (5,)), (-1, (0,))):
        with refused(ErrorCode.STALE_MEMBER_EPOCH):
            commit(context, "m1", epoch, partitions)
    with refused(ErrorCode.STALE_MEMBER_EPOCH):
        commit(context, "m1", 3, (0,), topic="u")


def test_a_refused_commit_writes_nothing(context: Context):
    written = len(context.records)
    with refused(ErrorCode.STALE_MEMBER_EPOCH):
        commit(context, "m1", 3, (0, 2))
    assert len(context.records) == written
    assert context.coordinator.offsets.get(GROUP, "t", 0) is None


def test_what_it_has_to_let_go_of_it_may_still_commit(context: Context):
    context.join("m3", "t")
    context.heartbeat("m1", 4)
    lost = {0, 1, 2, 3} - context.has("m1")["t"]
    assert lost
    assert context.member("m1").member_epoch == 4
    commit(context, "m1", 4, lost)
    with refused(ErrorCode.STALE_MEMBER_EPOCH):
        commit(context, "m1", 1, lost)
    context.heartbeat("m1", 4, owned=context.has("m1"))
    assert context.member("m1").member_epoch == 5
    with refused(ErrorCode.STALE_MEMBER_EPOCH):
        commit(context, "m1", 4, lost)


def test_an_epoch_to_come_is_stale_too(context: Context):
    with refused(ErrorCode.STALE_MEMBER_EPOCH):
        commit(context, "m1", 5)


def test_who_is_no_member_may_not(context: Context):
    for member, epoch in (("m9", 4), ("", -1), ("m9", -1)):
        with refused(ErrorCode.UNKNOWN_MEMBER_ID):
            commit(context, member, epoch)


def test_a_version_that_knows_no_epochs_is_refused(context: Context):
    for epoch in (4, 3, -1):
        with refused(ErrorCode.UNSUPPORTED_VERSION):
            commit(context, "m1", epoch, version=8)
    with refused(ErrorCode.UNKNOWN_MEMBER_ID):
        commit(context, "m9", 4, version=8)


def test_an_instance_id_is_not_looked_at(context: Context):
    commit(context, "m1", 4, instance="whoever")


def test_into_an_empty_group_an_administrator_commits(context: Context):
    context.leave("m1")
    context.leave("m2")
    for version in (2, 9):
        commit(context, "m9", -1, version=version)
    with refused(ErrorCode.UNKNOWN_MEMBER_ID):
        commit(context, "m1", 4)


def test_a_static_member_that_is_away_may_commit_only_so(context: Context):
    context.join("m3", "t", instance="i3")
    context.follow("m1", "m2", "m3")
    epoch = context.member("m3").member_epoch
    has = context.has("m3")["t"]
    context.leave("m3", -2, instance="i3")
    commit(context, "m3", -2, has)
    for other in (epoch, -1):
        with refused(ErrorCode.STALE_MEMBER_EPOCH):
            commit(context, "m3", other, has)
    context.join("m4", "t", instance="i3")
    commit(context, "m4", 0, has)


class TestInTransactions:
    def test_who_names_no_member_may(self, context: Context):
        commit_in_transaction(context, "", -1)

    def test_a_member_in_its_epoch_and_in_an_older_one_what_it_has_had(self, context: Context):
        commit_in_transaction(context, "m1", 4, (7,))
        commit_in_transaction(context, "m1", 2, (0, 1))

    @pytest.mark.parametrize(("epoch", "partitions"), [(3, (2,)), (1, (0,)), (5, (0,))])
    def test_a_stale_epoch_has_a_code_of_its_own_from_version_6_on(
        self, context: Context, epoch: int, partitions: Collection[int]
    ):
        for version, code in ((5, ErrorCode.ILLEGAL_GENERATION), (6, ErrorCode.STALE_MEMBER_EPOCH)):
            with refused(code):
                commit_in_transaction(context, "m1", epoch, partitions, version)

    def test_who_is_no_member_may_not(self, context: Context):
        for member, epoch in (("m9", 4), ("", 4)):
            with refused(ErrorCode.UNKNOWN_MEMBER_ID):
                commit_in_transaction(context, member, epoch)


def test_who_fetches_as_a_member_is_one_in_its_epoch(context: Context):
    group = context.group()
    group.validate_offset_fetch(None, -1)
    group.validate_offset_fetch("m1", 4)
    for epoch in (3, 5):
        with refused(ErrorCode.STALE_MEMBER_EPOCH):
            group.validate_offset_fetch("m1", epoch)
    for member in ("", "m9"):
        with refused(ErrorCode.UNKNOWN_MEMBER_ID):
            group.validate_offset_fetch(member, 4)


def test_offsets_of_topics_that_nobody_subscribes_to_may_be_deleted(context: Context):
    commit(context, "m1", 4)
    commit(context, "m1", 4, topic="u")
    turn = context.coordinator.delete_offsets(GROUP, [("t", [0]), ("u", [0])], context.broker_ms)
    assert turn.reply == [ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC, ErrorCode.NONE]
    assert context.coordinator.offsets.get(GROUP, "u", 0) is None


def test_a_live_group_is_not_deleted(context: Context):
    with refused(ErrorCode.NON_EMPTY_GROUP):
        context.coordinator.delete_group(GROUP, context.broker_ms)


def test_offsets_expire_by_their_own_age_where_nobody_subscribes(context: Context):
    commit(context, "m1", 4)
    commit(context, "m1", 4, topic="u")
    sweep(context, RETENTION_MS - 1)
    assert offsets(context) == {"t", "u"}
    sweep(context, 1)
    assert offsets(context) == {"t"}
    assert context.coordinator.next_expiry() is None or context.coordinator.next_expiry() > context.broker_ms


def test_old_offsets_expire_at_once_when_nobody_subscribes_any_more(context: Context):
    commit(context, "m1", 4)
    sweep(context, RETENTION_MS)
    assert offsets(context) == {"t"}
    context.heartbeat("m1", 4, topics=["u"])
    sweep(context, 0)
    assert offsets(context) == {"t"}
    context.heartbeat("m2", context.member("m2").member_epoch, topics=["u"])
    sweep(context, 0)
    assert offsets(context) == set()
    assert GROUP in context.coordinator.groups


def test_an_empty_group_goes_with_its_last_offset(context: Context):
    commit(context, "m1", 4)
    context.leave("m1")
    context.leave("m2")
    sweep(context, RETENTION_MS - 1)
    assert GROUP in context.coordinator.groups
    sweep(context, 1)
    assert GROUP not in context.coordinator.groups
    assert not context.coordinator.knows(GROUP)


def test_an_empty_group_without_offsets_goes_with_the_next_sweep(context: Context):
    context.leave("m1")
    context.leave("m2")
    sweep(context, 0)
    assert context.coordinator.groups == {}


def sweep(context: Context, ms: int) -> None:
    """Let broker time pass, and then what is too old expire."""
    context.broker_ms += ms
    context.took(context.coordinator.expire_offsets(context.broker_ms))


def offsets(context: Context) -> set[str]:
    """The topics of which the group has offsets."""
    return set(context.coordinator.offsets.topics(GROUP))
