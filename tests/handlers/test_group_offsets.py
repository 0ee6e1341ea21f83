"""OffsetCommit, OffsetFetch and OffsetDelete."""

from __future__ import annotations

import pytest

from kafkastub.coordinator import OffsetCommit, OffsetTombstone
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafkawire.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from tests.coordinator.context import CoordinatorTestContext, Member, subscription

COMMIT_VERSIONS = range(2, 11)
FETCH_VERSIONS = range(1, 11)
NONE = ErrorCode.NONE
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def commit_as(context: CoordinatorTestContext, member: Member, **commit) -> ErrorCode:
    """The error of a member's commit of one partition."""
    (code,) = context.commit(
        member.group_id, generation=member.generation, member_id=member.member_id, **commit
    ).values()
    return code


# -- OffsetCommit ----------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("OC-1", "OF-1")
@pytest.mark.parametrize("version", COMMIT_VERSIONS)
def test_a_commit_without_a_generation_makes_a_group(version: int):
    context = CoordinatorTestContext()
    codes = context.commit("g", {"a": {1: 5, 0: 7}, "b": {2: 9}}, version=version)
    assert codes == {("a", 1): NONE, ("a", 0): NONE, ("b", 2): NONE}
    assert context.fetch() == {("a", 0): (7, -1, ""), ("a", 1): (5, -1, ""), ("b", 2): (9, -1, "")}
    assert (context.group_state(), context.describe().protocol_type) == ("Empty", "")
    assert context.offsets_in_records() == [("a", 1, 5), ("a", 0, 7), ("b", 2, 9)]
    assert context.coordinator.meters.offset_commits == 3


@pytest.mark.behaviour("OC-1")
def test_a_group_id_may_have_any_character():
    context = CoordinatorTestContext()
    for group in ("a,b:c", "größe", "with blank", "x" * 1000):
        context.commit(group, {"a": {0: 1}})
        assert context.fetch(group) == {("a", 0): (1, -1, "")}


@pytest.mark.behaviour("OC-2")
@pytest.mark.parametrize("version", COMMIT_VERSIONS)
def test_a_member_commits_in_its_generation(version: int):
    context = CoordinatorTestContext()
    (member,) = context.stable()
    assert commit_as(context, member, version=version) is NONE
    for generation in (0, 2, -1):
        other = Member("g", member.member_id, generation)
        assert commit_as(context, other, version=version) is ErrorCode.ILLEGAL_GENERATION


@pytest.mark.behaviour("OC-3")
def test_who_is_no_member_does_not_commit():
    context = CoordinatorTestContext()
    context.stable()
    assert commit_as(context, Member("g", "nobody", 1)) is ErrorCode.UNKNOWN_MEMBER_ID
    assert commit_as(context, Member("g", "", -1)) is ErrorCode.UNKNOWN_MEMBER_ID
    assert commit_as(context, Member("g", "", 1)) is ErrorCode.UNKNOWN_MEMBER_ID
    context.commit("empty")
    for generation in (0, 1):
        for member_id in ("nobody", ""):
            nobody = Member("empty", member_id, generation)
            assert commit_as(context, nobody) is ErrorCode.UNKNOWN_MEMBER_ID
    assert commit_as(context, Member("empty", "nobody", -1)) is NONE


@pytest.mark.behaviour("OC-4")
def test_a_replaced_static_member_does_not_commit():
    context = CoordinatorTestContext()
    old = context.static("i1")["i1"]
    new = Member("g", context.join(instance="i1").answer.member_id, 1)
    assert commit_as(context, old, instance="i1") is ErrorCode.FENCED_INSTANCE_ID
    assert commit_as(context, old, instance="i9") is ErrorCode.UNKNOWN_MEMBER_ID
    assert commit_as(context, Member("g", "", -1), instance="i1") is ErrorCode.FENCED_INSTANCE_ID
    assert commit_as(context, new, instance="i1") is NONE


@pytest.mark.behaviour("OC-5")
def test_commits_around_a_rebalance():
    context = CoordinatorTestContext()
    (member,) = context.joined(1)
    assert commit_as(context, member) is ErrorCode.REBALANCE_IN_PROGRESS
    context.sync(member)
    context.join()
    context.join(member_id=member.member_id)
    assert context.group_state() == "PreparingRebalance"
    assert commit_as(context, member) is NONE


@pytest.mark.behaviour("OC-6")
@pytest.mark.parametrize("version", COMMIT_VERSIONS)
def test_a_generation_of_a_group_that_does_not_exist(version: int):
    context = CoordinatorTestContext()
    expected = ErrorCode.GROUP_ID_NOT_FOUND if version >= 9 else ErrorCode.ILLEGAL_GENERATION
    assert commit_as(context, Member("none", "m", 0), version=version) is expected
    assert context.group_state("none") == "Dead"


@pytest.mark.behaviour("OC-7", "OC-8")
@pytest.mark.parametrize("version", range(2, 10))
def test_missing_topics_and_partitions_come_first(version: int):
    context = CoordinatorTestContext()
    offsets = {"a": {0: 1, 10: 1, 1: 1, -1: 1}, "none": {0: 1}, "b": {0: 1}}
    codes = context.commit("g", offsets, version=version)
    assert list(codes.items()) == [
        (("a", 10), UNKNOWN),
        (("a", -1), UNKNOWN),
        (("a", 0), NONE),
        (("a", 1), NONE),
        (("none", 0), UNKNOWN),
        (("b", 0), NONE),
    ]
    assert context.offsets_in_records() == [("a", 0, 1), ("a", 1, 1), ("b", 0, 1)]


@pytest.mark.behaviour("OC-7")
def test_when_all_partitions_are_missing_the_coordinator_is_not_asked():
    context = CoordinatorTestContext()
    assert context.commit("g", {"none": {0: 1}}) == {("none", 0): UNKNOWN}
    assert context.commit("g", {"a": {10: 1}}, generation=5, member_id="nobody") == {("a", 10): UNKNOWN}
    assert context.group_state() == "Dead"


@pytest.mark.behaviour("OC-7")
def test_an_error_of_the_group_leaves_missing_partitions_as_they_are():
    context = CoordinatorTestContext()
    codes = context.commit("g", {"a": {10: 1, 0: 1}}, generation=5, version=8)
    assert codes == {("a", 10): UNKNOWN, ("a", 0): ErrorCode.ILLEGAL_GENERATION}


@pytest.mark.behaviour("OC-8")
def test_a_topic_that_is_named_twice_is_answered_as_kafka_does():
    def commit(context: CoordinatorTestContext, *topics: tuple[str, int]) -> list[tuple[str, list[int]]]:
        request = OffsetCommitRequest(
            "g",
            topics=[OffsetCommitRequestTopic(t, partitions=[OffsetCommitRequestPartition(p, 1)]) for t, p in topics],
        )
        response = context.call(ApiKey.OFFSET_COMMIT, 8, request)
        return [(t.name, [p.partition_index for p in t.partitions]) for t in response.topics]

    context = CoordinatorTestContext()
    assert commit(context, ("a", 0), ("a", 1)) == [("a", [0]), ("a", [1])]
    assert commit(context, ("a", 0), ("b", 10), ("a", 1)) == [("b", [10]), ("a", [0, 1])]


def test_a_commit_of_nothing_is_answered_with_nothing():
    context = CoordinatorTestContext()
    request = OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic("a"), OffsetCommitRequestTopic("none")])
    response = context.call(ApiKey.OFFSET_COMMIT, 9, request)
    assert [t.name for t in response.topics] == ["none"]
    assert context.group_state() == "Dead"


@pytest.mark.behaviour("OC-9")
def test_version_10_commits_by_topic_id():
    context = CoordinatorTestContext()
    known = context.state.cluster.topics["a"].topic_id
    ids = [b"x" * 16, known, bytes(16)]
    request = OffsetCommitRequest(
        "g",
        topics=[OffsetCommitRequestTopic("", i, [OffsetCommitRequestPartition(p, 1) for p in (0, 10)]) for i in ids],
    )
    response = context.call(ApiKey.OFFSET_COMMIT, 10, request)
    missing = ErrorCode.UNKNOWN_TOPIC_ID
    assert [(t.topic_id, [(p.partition_index, p.error_code) for p in t.partitions]) for t in response.topics] == [
        (b"x" * 16, [(0, missing), (10, missing)]),
        (known, [(10, UNKNOWN), (0, 0)]),
        (bytes(16), [(0, missing), (10, missing)]),
    ]
    assert context.fetch() == {("a", 0): (1, -1, "")}


@pytest.mark.behaviour("OC-10")
@pytest.mark.parametrize(
    ("metadata", "fits"), [("x" * 10, True), ("x" * 11, False), ("\U0001f600" * 5, True), ("\U0001f600" * 6, False)]
)
@pytest.mark.parametrize("version", COMMIT_VERSIONS)
def test_metadata_is_measured_in_utf_16(version: int, metadata: str, fits: bool):
    context = CoordinatorTestContext(offset_metadata_max_bytes=10)
    codes = context.commit("g", {"a": {0: 1}}, metadata=metadata, version=version)
    assert codes == {("a", 0): NONE if fits else ErrorCode.OFFSET_METADATA_TOO_LARGE}
    assert context.fetch() == ({("a", 0): (1, -1, metadata)} if fits else {})


@pytest.mark.behaviour("OC-10")
def test_partitions_beside_one_with_too_large_metadata_are_committed():
    context = CoordinatorTestContext(offset_metadata_max_bytes=10)
    partitions = [OffsetCommitRequestPartition(i, i, -1, "x" * 11 if i == 1 else "x") for i in range(3)]
    request = OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic("a", partitions=partitions)])
    (topic,) = context.call(ApiKey.OFFSET_COMMIT, 8, request).topics
    assert [p.error_code for p in topic.partitions] == [0, ErrorCode.OFFSET_METADATA_TOO_LARGE, 0]
    assert context.fetch() == {("a", 0): (0, -1, "x"), ("a", 2): (2, -1, "x")}


@pytest.mark.behaviour("OC-10")
@pytest.mark.parametrize("size", [126, 127, 128, 4096])
def test_long_metadata_comes_back(size: int):
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1}}, metadata="x" * size)
    assert context.fetch() == {("a", 0): (1, -1, "x" * size)}


@pytest.mark.behaviour("OC-11", "OC-12")
@pytest.mark.parametrize("version", COMMIT_VERSIONS)
def test_the_empty_group_id_in_the_kips_profile(version: int):
    context = CoordinatorTestContext("kips")
    codes = context.commit("", {"a": {0: 1}}, version=version)
    assert codes == {("a", 0): 73 if version >= 4 else NONE}
    assert (context.fetch("") == {}) == (version >= 4)
    assert len(context.log.warnings) == (0 if version >= 4 else 1)


@pytest.mark.behaviour("OC-11", "OC-12")
@pytest.mark.parametrize("version", COMMIT_VERSIONS)
def test_the_empty_group_id_in_the_kafka_profile(version: int):
    context = CoordinatorTestContext("kafka")
    assert context.commit("", {"a": {0: 1}}, version=version) == {("a", 0): NONE}
    assert context.fetch("") == {("a", 0): (1, -1, "")}
    assert context.log.warnings == []


@pytest.mark.behaviour("OC-13")
@pytest.mark.parametrize("version", COMMIT_VERSIONS)
def test_a_commits_own_retention_fixes_its_expiry(version: int):
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1}}, retention=1_000, version=version)
    record = context.records[-1]
    assert isinstance(record, OffsetCommit)
    if version <= 4:
        assert (record.version, record.expire_timestamp) == (1, context.broker_ms + 1_000)
    else:
        assert (record.version, record.expire_timestamp) == (4, -1)
    assert record.commit_timestamp == context.broker_ms


@pytest.mark.behaviour("OC-15")
def test_commits_keep_a_member_alive():
    context = CoordinatorTestContext()
    (member,) = context.stable(session=10_000)
    for _ in range(4):
        context.advance(9_999)
        assert commit_as(context, member) is NONE
    context.advance(10_000)
    assert context.group_state() == "Empty"


@pytest.mark.behaviour("OC-16")
@pytest.mark.parametrize("version", COMMIT_VERSIONS)
def test_null_metadata_and_the_leader_epoch(version: int):
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1}}, metadata=None, epoch=7, version=version)
    assert context.fetch() == {("a", 0): (1, 7 if version >= 6 else -1, "")}
    offset = context.coordinator.offsets.get("g", "a", 0)
    assert offset is not None
    assert offset.topic_id == context.state.cluster.topics["a"].topic_id


def test_a_commit_of_a_thousand_and_more_partitions():
    context = CoordinatorTestContext(topics=())
    from kafkastub.state.topics import create_topic

    create_topic(context.state, "big", 3_000, 1)
    codes = context.commit("g", {"big": {i: i for i in range(3_000)}})
    assert list(codes.items()) == [(("big", i), NONE) for i in range(3_000)]
    assert context.fetch() == {("big", i): (i, -1, "") for i in range(3_000)}


# -- OffsetFetch -----------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("OF-1", "OF-2", "OF-8")
@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_offsets_come_back(version: int):
    context = CoordinatorTestContext()
    context.commit("g", {"a": {1: 5}}, epoch=3, metadata="m")
    answer = context.fetch("g", {"b": [0], "a": [1, 99, 1, -1]}, version=version)
    epoch = 3 if version >= 5 else -1
    assert answer == {
        ("b", 0): (-1, -1, ""),
        ("a", 1): (5, epoch, "m"),
        ("a", 99): (-1, -1, ""),
        ("a", -1): (-1, -1, ""),
    }


@pytest.mark.behaviour("OF-2")
@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_a_group_that_does_not_exist_has_no_offsets(version: int):
    context = CoordinatorTestContext()
    assert context.fetch("none", {"a": [0]}, version=version) == {("a", 0): (-1, -1, "")}
    assert context.group_state("none") == "Dead"


@pytest.mark.behaviour("OF-3", "OF-7")
@pytest.mark.parametrize("version", range(2, 11))
def test_everything_of_a_group(version: int):
    context = CoordinatorTestContext()
    context.commit("g", {"a": {1: 5, 0: 4}, "b": {9: 6}})
    assert context.fetch(version=version) == {("a", 0): (4, -1, ""), ("a", 1): (5, -1, ""), ("b", 9): (6, -1, "")}
    assert context.fetch("none", version=version) == {}


@pytest.mark.behaviour("OF-7")
def test_everything_by_id_leaves_out_a_topic_that_is_gone():
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 4}, "b": {0: 6}})
    context.state.cluster.delete_topic("b")
    assert context.fetch(version=9) == {("a", 0): (4, -1, ""), ("b", 0): (6, -1, "")}
    assert context.fetch(version=10) == {("a", 0): (4, -1, "")}


@pytest.mark.behaviour("OF-4")
@pytest.mark.parametrize("version", range(8, 11))
def test_many_groups_in_one_request(version: int):
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1}})
    context.commit("h", {"a": {0: 2}})
    topic_id = context.state.cluster.topics["a"].topic_id
    wanted = [OffsetFetchRequestTopics("a", topic_id, [0])]
    groups = [OffsetFetchRequestGroup(g, topics=t) for g, t in (("h", wanted), ("g", None), ("x", wanted), ("h", None))]
    response = context.call(ApiKey.OFFSET_FETCH, version, OffsetFetchRequest(groups=groups))
    assert [(g.group_id, [t.partitions[0].committed_offset for t in g.topics]) for g in response.groups] == [
        ("h", [2]),
        ("g", [1]),
        ("x", [-1]),
        ("h", [2]),
    ]


@pytest.mark.behaviour("OF-5", "OF-6")
def test_topics_by_id():
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1}, "b": {0: 2}})
    old = context.state.cluster.delete_topic("b").topic_id
    new = context.state.cluster.create_topic("b", 1).topic_id
    known = context.state.cluster.topics["a"].topic_id
    topics = [OffsetFetchRequestTopics("", i, [0]) for i in (old, bytes(16), known, new)]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=topics)])
    (group,) = context.call(ApiKey.OFFSET_FETCH, 10, request).groups
    missing = ErrorCode.UNKNOWN_TOPIC_ID
    assert [
        (t.topic_id, p.committed_offset, p.committed_leader_epoch, p.metadata, p.error_code)
        for t in group.topics
        for p in t.partitions
    ] == [(known, 1, -1, "", 0), (new, -1, -1, "", 0), (old, -1, -1, "", missing), (bytes(16), -1, -1, "", missing)]


@pytest.mark.behaviour("OF-9")
@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_offsets_of_the_empty_group_id(version: int):
    context = CoordinatorTestContext("kafka")
    context.commit("", {"a": {0: 1}})
    assert context.fetch("", {"a": [0]}, version=version) == {("a", 0): (1, -1, "")}


@pytest.mark.behaviour("OF-10")
def test_a_pending_transactional_offset_is_unstable():
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1, 1: 2}})
    context.pend("g", {"a": {0: 9}})
    topics = [OffsetFetchRequestTopics("a", bytes(16), [0, 1])]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=topics)], require_stable=True)
    (group,) = context.call(ApiKey.OFFSET_FETCH, 9, request).groups
    unstable = ErrorCode.UNSTABLE_OFFSET_COMMIT
    assert [(p.committed_offset, p.error_code) for p in group.topics[0].partitions] == [(-1, unstable), (2, 0)]
    assert context.fetch("g", {"a": [0]}) == {("a", 0): (1, -1, "")}


@pytest.mark.behaviour("OF-11")
@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_an_error_of_the_group_is_where_the_version_has_it(version: int):
    from kafkastub.handlers.k09_offset_fetch import error_response
    from kafkawire.codec import decode, encode
    from kafkawire.messages.offset_fetch_response import OffsetFetchResponse

    request = OffsetFetchRequest(
        "g", [OffsetFetchRequestTopic("a", [3])], [OffsetFetchRequestGroup("g"), OffsetFetchRequestGroup("h")]
    )
    answer = error_response(request, ErrorCode.NOT_COORDINATOR, version)
    received = decode(OffsetFetchResponse, version, encode(answer, version))
    if version >= 8:
        assert [(g.group_id, g.error_code) for g in received.groups] == [("g", 16), ("h", 16)]
    elif version >= 2:
        assert (received.error_code, received.topics) == (16, ())
    else:
        assert [(p.partition_index, p.error_code) for t in received.topics for p in t.partitions] == [(3, 16)]


# -- OffsetDelete ----------------------------------------------------------------------------------------------------


def codes(response) -> dict[tuple[str, int], ErrorCode]:
    return {(t.name, p.partition_index): ErrorCode(p.error_code) for t in response.topics for p in t.partitions}


@pytest.mark.behaviour("OD-1", "OD-7")
def test_an_offset_is_deleted():
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1, 1: 1}})
    response = context.delete_offsets("g", {"a": [0, 5], "b": [0]})
    assert response.error_code == 0
    assert codes(response) == {("a", 0): NONE, ("a", 5): NONE, ("b", 0): NONE}
    assert context.fetch() == {("a", 1): (1, -1, "")}
    assert [r for r in context.records if isinstance(r, OffsetTombstone)] == [OffsetTombstone("g", "a", 0)]
    assert context.coordinator.meters.offset_deletions == 1


@pytest.mark.behaviour("OD-2", "OD-3")
def test_only_topics_that_nobody_subscribes_to_are_deleted_from_a_live_group():
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1}, "b": {0: 1}})
    (member,) = context.stable(protocols={"range": subscription("a")})
    subscribed = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    assert codes(context.delete_offsets("g", {"a": [0, 1], "b": [0]})) == {
        ("a", 0): subscribed,
        ("a", 1): subscribed,
        ("b", 0): NONE,
    }
    assert context.fetch() == {("a", 0): (1, -1, "")}
    context.leave("g", (member.member_id, None))
    assert codes(context.delete_offsets("g", {"a": [0]})) == {("a", 0): NONE}
    assert context.fetch() == {}


@pytest.mark.behaviour("OD-2")
def test_a_subscription_that_cannot_be_parsed_is_one_to_every_topic():
    context = CoordinatorTestContext()
    context.stable(protocols={"range": b"?"})
    assert codes(context.delete_offsets("g", {"b": [0]})) == {("b", 0): ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC}


@pytest.mark.behaviour("OD-2")
def test_the_subscription_is_that_of_the_last_completed_generation():
    context = CoordinatorTestContext()
    leader, _ = context.stable(2, protocols={"range": subscription("a")})
    context.join(member_id=leader.member_id, protocols={"range": subscription("b")})
    assert context.group_state() == "PreparingRebalance"
    subscribed = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    assert codes(context.delete_offsets("g", {"a": [0], "b": [0]})) == {("a", 0): subscribed, ("b", 0): NONE}


@pytest.mark.behaviour("OD-4")
def test_a_live_group_of_another_protocol_type():
    context = CoordinatorTestContext()
    (member,) = context.stable(protocol_type="connect", protocols={"range": b""})
    response = context.delete_offsets("g", {"a": [0], "none": [0]})
    assert (response.error_code, response.topics) == (ErrorCode.NON_EMPTY_GROUP, ())
    context.leave("g", (member.member_id, None))
    assert context.delete_offsets("g", {"a": [0]}).error_code == 0


@pytest.mark.behaviour("OD-5", "OD-6")
@pytest.mark.parametrize("topic", ["a", "none"])
def test_a_group_that_does_not_exist_or_cannot(topic: str):
    context = CoordinatorTestContext()
    for group, code in (("none", ErrorCode.GROUP_ID_NOT_FOUND), ("", ErrorCode.INVALID_GROUP_ID)):
        response = context.delete_offsets(group, {topic: [0]})
        assert (response.error_code, response.topics) == (code, ())


@pytest.mark.behaviour("OD-6")
def test_a_topic_that_is_named_twice_is_answered_once_only_beside_missing_ones():
    context = CoordinatorTestContext()
    context.commit("g")

    def delete(*topics: tuple[str, int]) -> list[tuple[str, list[int]]]:
        items = [OffsetDeleteRequestTopic(t, [OffsetDeleteRequestPartition(p)]) for t, p in topics]
        response = context.call(ApiKey.OFFSET_DELETE, 0, OffsetDeleteRequest("g", items))
        return [(t.name, [p.partition_index for p in t.partitions]) for t in response.topics]

    assert delete(("a", 0), ("a", 1)) == [("a", [0]), ("a", [1])]
    assert delete(("none", 0), ("a", 0), ("a", 1)) == [("none", [0]), ("a", [0, 1])]


@pytest.mark.behaviour("OD-6")
def test_deleting_offsets_of_missing_topics_and_partitions():
    context = CoordinatorTestContext()
    context.commit("g")
    response = context.delete_offsets("g", {"a": [0, 10], "b": [0], "none": [3, 0]})
    assert list(codes(response).items()) == [
        (("a", 10), UNKNOWN),
        (("a", 0), NONE),
        (("none", 3), UNKNOWN),
        (("none", 0), UNKNOWN),
        (("b", 0), NONE),
    ]


def test_a_deleted_topics_offsets_go_with_it_in_live_groups_too():
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1}, "b": {0: 1}})
    context.commit("h", {"a": {3: 1}})
    context.stable(group_id="g", protocols={"range": subscription("a")})
    turn = context.coordinator.on_topics_deleted(["a"], context.broker_ms)
    assert turn.records == [OffsetTombstone("g", "a", 0), OffsetTombstone("h", "a", 3)]
    assert context.fetch("g") == {("b", 0): (1, -1, "")}
    assert context.fetch("h") == {}
