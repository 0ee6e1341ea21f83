"""FindCoordinator, DescribeGroups, ListGroups and DeleteGroups."""

from __future__ import annotations

import pytest

from kafkastub.coordinator import GroupTombstone, OffsetTombstone
from kafkastub.metadata import Node
from kafkastub.security.operations import GROUP_OPERATIONS
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.list_groups_request import ListGroupsRequest
from tests.coordinator.context import CoordinatorTestContext, subscription

NONE = ErrorCode.NONE
TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAg"

# -- FindCoordinator -------------------------------------------------------------------------------------------------


def find(context: CoordinatorTestContext, version: int, *keys: str, key_type: int = 0):
    request = FindCoordinatorRequest(keys[0] if version < 4 else "", key_type, keys if version >= 4 else ())
    return context.call(ApiKey.FIND_COORDINATOR, version, request)


@pytest.mark.behaviour("FC-1", "FC-2", "FC-3", "FC-8")
@pytest.mark.parametrize("group_id", ["g", ""])
@pytest.mark.parametrize("version", range(4))
def test_the_coordinator_of_a_group(version: int, group_id: str):
    context = CoordinatorTestContext()
    answer = find(context, version, group_id)
    assert (answer.error_code, answer.node_id, answer.host, answer.port) == (0, 1, "localhost", 9092)
    if version >= 1:
        assert answer.error_message == "NONE"
    assert len(context.state.cluster.topics["__consumer_offsets"].partitions) == 50


@pytest.mark.behaviour("FC-1")
def test_the_coordinator_leads_the_groups_partition():
    context = CoordinatorTestContext()
    context.state.cluster.nodes[2] = Node(2, "elsewhere", 9093)
    find(context, 4, "g")
    context.state.cluster.topics["__consumer_offsets"].partitions[12].leader = 2
    answer = find(context, 4, "my-group", "other")
    assert [(c.key, c.node_id, c.host) for c in answer.coordinators] == [
        ("my-group", 2, "elsewhere"),
        ("other", 1, "localhost"),
    ]


@pytest.mark.behaviour("FC-4", "FC-5", "FC-6")
@pytest.mark.parametrize(
    ("version", "key_type", "keys"),
    [(4, 0, ["g", "h", "g"]), (5, 1, ["txn"]), (6, 2, [f"g:{TOPIC_ID}:0", f"a:b:{TOPIC_ID}:7"]), (6, 0, [])],
)
def test_a_batch_of_keys(version: int, key_type: int, keys: list[str]):
    answer = find(CoordinatorTestContext(), version, *keys, key_type=key_type)
    assert [(c.key, c.node_id, c.host, c.port) for c in answer.coordinators] == [
        (k, 1, "localhost", 9092) for k in keys
    ]
    assert {(c.error_code, c.error_message) for c in answer.coordinators} <= {(0, "")}


@pytest.mark.behaviour("FC-5")
@pytest.mark.parametrize("version", range(1, 4))
def test_the_transaction_coordinator(version: int):
    context = CoordinatorTestContext()
    assert find(context, version, "txn", key_type=1).node_id == 1
    assert "__transaction_state" in context.state.cluster.topics
    assert "__consumer_offsets" not in context.state.cluster.topics


@pytest.mark.behaviour("FC-6")
@pytest.mark.parametrize(
    "key",
    [
        *("", "g", "g:0", ":x:0", f" :{TOPIC_ID}:0", f"g:{TOPIC_ID}:x", "g:short:0", f"g:{TOPIC_ID}:99999999999"),
        *(f"g:{TOPIC_ID}=:0", f"g:{TOPIC_ID}A:0", f"g:{'/' * 22}:0"),
        *(f"g:{TOPIC_ID}:{2**31}", f"g:{TOPIC_ID}:{-(2**31) - 1}"),
    ],
)
def test_a_share_key_that_is_none(key: str):
    answer = find(CoordinatorTestContext(), 6, key, f"g:{TOPIC_ID}:0", key_type=2)
    invalid = ErrorCode.INVALID_REQUEST
    assert [(c.error_code, c.node_id) for c in answer.coordinators] == [(invalid, -1), (0, 1)]


@pytest.mark.behaviour("FC-3", "FC-6", "FC-7")
@pytest.mark.parametrize("version", range(1, 7))
@pytest.mark.parametrize("key_type", [2, 3, -1])
def test_a_key_type_that_the_version_has_not(version: int, key_type: int):
    if version == 6 and key_type == 2:
        return
    answer = find(CoordinatorTestContext(), version, f"g:{TOPIC_ID}:0", key_type=key_type)
    one = answer.coordinators[0] if version >= 4 else answer
    assert (one.error_code, one.node_id, one.host, one.port) == (ErrorCode.INVALID_REQUEST, -1, "", -1)
    if version >= 4 and key_type == 2:
        assert one.error_message == ""
    else:
        assert one.error_message.startswith("This most likely occurs because of a request being malformed")


# -- DescribeGroups --------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("DG-1", "DG-4")
@pytest.mark.parametrize("version", range(7))
def test_a_stable_group(version: int):
    context = CoordinatorTestContext()
    members = context.static("i1", "i2")
    group = context.describe(version=version)
    assert (group.error_code, group.group_state) == (0, "Stable")
    assert (group.protocol_type, group.protocol_data) == ("consumer", "range")
    assert {m.member_id: m.member_assignment for m in group.members} == {
        m.member_id: i.encode() for i, m in members.items()
    }
    assert {m.group_instance_id for m in group.members} == ({"i1", "i2"} if version >= 4 else {None})
    assert {(m.client_id, m.client_host, m.member_metadata) for m in group.members} == {
        ("client", "/127.0.0.1", subscription("a"))
    }
    assert group.error_message is None


@pytest.mark.behaviour("DG-1")
def test_a_group_that_is_not_stable_shows_no_protocol_and_no_metadata():
    context = CoordinatorTestContext()
    members = context.stable(2)
    context.join(member_id=members[0].member_id)
    group = context.describe()
    assert (group.group_state, group.protocol_type, group.protocol_data) == ("PreparingRebalance", "consumer", "")
    assert [m.member_metadata for m in group.members] == [b"", b""]
    assert [m.member_assignment for m in group.members] == [m.member_id.encode() for m in members]


@pytest.mark.behaviour("DG-2")
@pytest.mark.parametrize("version", range(7))
def test_an_unknown_group_is_dead(version: int):
    group = CoordinatorTestContext().describe("none", version)
    assert (group.group_id, group.group_state, group.members) == ("none", "Dead", ())
    assert group.error_code == (ErrorCode.GROUP_ID_NOT_FOUND if version >= 6 else NONE)
    assert group.error_message == ("Group none not found." if version >= 6 else None)


@pytest.mark.behaviour("DG-2")
@pytest.mark.parametrize("version", range(7))
def test_many_unknown_groups_are_dead_like_one(version: int):
    context = CoordinatorTestContext()
    names = [f"group-{number}" for number in range(300)]
    context.commit("known")
    many = context.call(ApiKey.DESCRIBE_GROUPS, version, DescribeGroupsRequest(names)).groups
    few = [context.call(ApiKey.DESCRIBE_GROUPS, version, DescribeGroupsRequest([one])).groups[0] for one in names]
    assert sorted(many, key=lambda one: one.group_id) == sorted(few, key=lambda one: one.group_id)
    with_known = context.call(ApiKey.DESCRIBE_GROUPS, version, DescribeGroupsRequest([*names, "known"])).groups
    assert [one for one in with_known if one.group_id != "known"] == list(many)


@pytest.mark.behaviour("DG-3")
@pytest.mark.parametrize("version", range(3, 7))
def test_the_operations_on_a_group(version: int):
    context = CoordinatorTestContext()
    context.commit("g")
    for asked in (True, False):
        request = DescribeGroupsRequest(["g", "none"], include_authorized_operations=asked)
        groups = {g.group_id: g for g in context.call(ApiKey.DESCRIBE_GROUPS, version, request).groups}
        assert groups["g"].authorized_operations == (GROUP_OPERATIONS if asked else -(2**31))
        assert groups["none"].authorized_operations == (GROUP_OPERATIONS if asked and version < 6 else -(2**31))


@pytest.mark.behaviour("DG-5", "DG-6")
def test_groups_are_described_in_the_order_of_kafkas_map():
    context = CoordinatorTestContext("kafka")
    context.commit("")
    request = DescribeGroupsRequest(["group-1", "", "my-group", "group-1", "group-2"])
    groups = context.call(ApiKey.DESCRIBE_GROUPS, 5, request).groups
    assert [g.group_id for g in groups] == ORDER
    assert {g.group_id: g.group_state for g in groups}[""] == "Empty"


ORDER = ["", "group-2", "my-group", "group-1", "group-1"]
"""As Apache Kafka 4.4.0 answers."""

# -- ListGroups ------------------------------------------------------------------------------------------------------


def listed(context: CoordinatorTestContext, version: int, states: tuple[str, ...] = (), types: tuple[str, ...] = ()):
    response = context.call(ApiKey.LIST_GROUPS, version, ListGroupsRequest(states, types))
    assert response.error_code == 0
    return {g.group_id: (g.protocol_type, g.group_state, g.group_type) for g in response.groups}


@pytest.mark.behaviour("LS-1")
@pytest.mark.parametrize("version", range(6))
def test_every_group_is_listed(version: int):
    context = CoordinatorTestContext()
    assert listed(context, version) == {}
    context.stable(group_id="live")
    context.commit("simple")
    expected = {"live": ("consumer", "Stable", "classic"), "simple": ("", "Empty", "classic")}
    shown = 1 if version < 4 else 2 if version < 5 else 3
    assert listed(context, version) == {g: v[:shown] + ("",) * (3 - shown) for g, v in expected.items()}


@pytest.mark.behaviour("LS-2")
@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (("Stable",), {"live"}),
        ((" sTABLE ", "Nonsense"), {"live"}),
        (("Empty", "Stable"), {"live", "simple"}),
        (("Dead",), set()),
        (("Nonsense",), set()),
        (("",), set()),
    ],
)
def test_groups_by_state(version: int, states: tuple[str, ...], expected: set[str]):
    context = CoordinatorTestContext()
    context.stable(group_id="live")
    context.commit("simple")
    assert listed(context, version, states).keys() == expected


@pytest.mark.behaviour("LS-3")
@pytest.mark.parametrize(
    ("types", "expected"),
    [(("classic",), {"g"}), (("Classic", "share"), {"g"}), (("consumer",), set()), (("nonsense",), set())],
)
def test_groups_by_type(types: tuple[str, ...], expected: set[str]):
    context = CoordinatorTestContext()
    context.commit("g")
    assert listed(context, 5, types=types).keys() == expected


# -- DeleteGroups ----------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("GD-7")
def test_a_group_of_consumers_is_deleted_without_a_word():
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1}})
    answer = context.call(ApiKey.DELETE_GROUPS, 3, DeleteGroupsRequest(["g", "nobody"]))
    rows = {row.group_id: (row.error_code, row.error_message) for row in answer.results}
    assert rows == {"g": (ErrorCode.NONE, None), "nobody": (ErrorCode.GROUP_ID_NOT_FOUND, None)}


@pytest.mark.behaviour("GD-1", "GD-6")
@pytest.mark.parametrize("version", range(4))
@pytest.mark.parametrize(("profile", "counted"), [("kips", 2), ("kafka", 0)])
def test_a_group_is_deleted_with_its_offsets(version: int, profile: str, counted: int):
    context = CoordinatorTestContext(profile)
    context.commit("g", {"a": {0: 1}, "b": {0: 1}})
    assert context.delete_groups("g", version=version) == [("g", NONE)]
    assert context.records[-3:] == [OffsetTombstone("g", "a", 0), OffsetTombstone("g", "b", 0), GroupTombstone("g")]
    assert context.group_state() == "Dead"
    assert context.fetch() == {}
    assert context.coordinator.meters.offset_deletions == counted


@pytest.mark.behaviour("GD-1")
def test_an_emptied_group_is_deleted_and_begins_anew():
    context = CoordinatorTestContext()
    (member,) = context.stable()
    context.leave("g", (member.member_id, None))
    assert context.delete_groups("g") == [("g", NONE)]
    assert context.joined(1)[0].generation == 1


@pytest.mark.behaviour("GD-1")
def test_a_pending_members_group_is_deleted():
    context = CoordinatorTestContext()
    pending = context.join().answer.member_id
    assert context.delete_groups("g") == [("g", NONE)]
    assert context.join(member_id=pending).answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID
    context.advance(100_000)
    assert context.group_state() == "Dead"


@pytest.mark.behaviour("GD-2")
def test_a_group_that_cannot_be_deleted_does_not_disturb_its_neighbours():
    context = CoordinatorTestContext()
    context.stable(group_id="live")
    context.join("joining", version=3)
    context.commit("g")
    answer = dict(context.delete_groups("live", "none", "g", "joining"))
    assert answer == {
        "live": ErrorCode.NON_EMPTY_GROUP,
        "joining": ErrorCode.NON_EMPTY_GROUP,
        "none": ErrorCode.GROUP_ID_NOT_FOUND,
        "g": NONE,
    }
    assert context.group_state("live") == "Stable"


@pytest.mark.behaviour("GD-3", "GD-4", "GD-5")
def test_each_group_is_answered_once_in_the_order_of_kafkas_map():
    context = CoordinatorTestContext("kafka")
    context.commit("")
    answer = context.delete_groups("group-1", "", "my-group", "group-1", "group-2")
    assert answer == [(g, ErrorCode.GROUP_ID_NOT_FOUND if g else NONE) for g in dict.fromkeys(ORDER)]
