"""DescribeGroups, ListGroups and FindCoordinator: what a group is and where."""

from __future__ import annotations

from typing import Any

from kafkastub_conformance.broker import Broker, subscription
from kafkastub_conformance.expecting import NOT_EMPTY, Answer, containing, expect, expect_that, unordered
from kafkastub_conformance.registry import case
from kafkawire.errors import ErrorCode as E

SOURCE = "Kafka: GroupMetadataManager.describeGroups"
LISTING = "Kafka: GroupMetadataManager.listGroups"
FINDING = "Kafka: KafkaApis.getCoordinator"
NOT_TOLD = -(2**31)
GROUP_OPERATIONS = 0b1101001000
"""Read, Delete, Describe, DescribeConfigs, AlterConfigs on a group are bits 3, 6, 8, 10 and 11."""


def about(answer: Answer, group: str) -> Any:
    """The only group in the answer."""
    expect_that("the groups", [one.group_id for one in answer.groups], [group])
    return answer.groups[0]


@case("DescribeGroups", "A stable group with its member, metadata and assignment.", source=SOURCE, also=["JoinGroup"])
def stable(on: Broker) -> None:
    member = on.member(None, "mine")
    row = {
        "member_id": member.id,
        "group_instance_id": None,
        "client_id": member.client,
        "client_host": NOT_EMPTY,
        "member_metadata": subscription("mine"),
        "member_assignment": b"all",
    }
    group = {
        "error_code": E.NONE,
        "error_message": None,
        "group_id": member.group,
        "group_state": "Stable",
        "protocol_type": "consumer",
        "protocol_data": "range",
        "members": [row],
        "authorized_operations": NOT_TOLD,
    }
    expect(on.ask("DescribeGroups", groups=[member.group]), groups=[group])


@case("DescribeGroups", "A host is returned with a slash before it.", source=SOURCE, also=["JoinGroup"])
def host(on: Broker) -> None:
    member = on.member()
    found = about(on.ask("DescribeGroups", groups=[member.group]), member.group)
    expect_that("the first character of client_host", found.members[0].client_host[:1], "/")


@case("DescribeGroups", "A group that does not exist is Dead, without an error.", source=SOURCE, versions=(0, 5))
def unknown(on: Broker) -> None:
    group = on.group()
    row = {"error_code": E.NONE, "group_id": group, "group_state": "Dead", "protocol_type": "", "members": []}
    expect(on.ask("DescribeGroups", groups=[group]), groups=[row | {"protocol_data": ""}])


@case("DescribeGroups", "Hundreds of groups that do not exist are each answered.", source=SOURCE)
def many_unknown(on: Broker) -> None:
    names = [on.cluster.group() for _ in range(300)]
    answer = on.ask("DescribeGroups", groups=names)
    code = E.GROUP_ID_NOT_FOUND if on.version >= 6 else E.NONE
    rows = [(row.group_id, row.group_state, row.error_code, bool(row.error_message)) for row in answer.groups]
    expect_that("groups, states and errors", sorted(rows), sorted((name, "Dead", code, bool(code)) for name in names))


@case(
    "DescribeGroups",
    "A group that does not exist is Dead, with GROUP_ID_NOT_FOUND and a text.",
    source="KIP-1043",
    versions=(6, 6),
    name="unknown_told",
)
def unknown_with_error(on: Broker) -> None:
    group = on.group()
    row = {"error_code": E.GROUP_ID_NOT_FOUND, "group_id": group, "group_state": "Dead", "error_message": NOT_EMPTY}
    expect(on.ask("DescribeGroups", groups=[group]), groups=[row])


@case("DescribeGroups", "A group that only stores offsets is Empty.", source=SOURCE, also=["OffsetCommit"])
def simple(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    on.commit(group, [(topic, 0, 1)])
    row = {"error_code": E.NONE, "group_state": "Empty", "protocol_type": "", "protocol_data": "", "members": []}
    expect(on.ask("DescribeGroups", groups=[group]), groups=[row])


@case("DescribeGroups", "A group whose members left keeps its protocol type.", source=SOURCE, also=["LeaveGroup"])
def empty(on: Broker) -> None:
    member = on.member()
    on.leave(member)
    row = {
        "error_code": E.NONE,
        "group_state": "Empty",
        "protocol_type": "consumer",
        "protocol_data": "",
        "members": [],
    }
    expect(on.ask("DescribeGroups", groups=[member.group]), groups=[row])


@case(
    "DescribeGroups",
    "During a rebalance neither protocol nor metadata are returned.",
    source=SOURCE,
    also=["JoinGroup"],
)
def rebalancing(on: Broker) -> None:
    member, _ = on.rebalancing()
    found = about(on.ask("DescribeGroups", groups=[member.group]), member.group)
    expect_that("state and protocol", (found.group_state, found.protocol_data), ("PreparingRebalance", ""))
    expect_that("metadata", [bytes(row.member_metadata) for row in found.members], [b"", b""])


@case("DescribeGroups", "While the assignment is awaited: CompletingRebalance.", source=SOURCE, also=["JoinGroup"])
def completing(on: Broker) -> None:
    leader, follower = on.pair(synced=False)
    found = about(on.ask("DescribeGroups", groups=[leader.group]), leader.group)
    expect_that("the state", found.group_state, "CompletingRebalance")
    expect_that("the members", sorted(row.member_id for row in found.members), sorted([leader.id, follower.id]))


@case("DescribeGroups", "Instance ids are returned.", source="KIP-345", versions=(4, 6), also=["JoinGroup"])
def instances(on: Broker) -> None:
    member = on.member(instance="one")
    row = {"member_id": member.id, "group_instance_id": "one"}
    expect(on.ask("DescribeGroups", groups=[member.group]), groups=[{"members": [row]}])


@case(
    "DescribeGroups",
    "The allowed operations are returned if requested.",
    source="KIP-430",
    versions=(3, 6),
    also=["JoinGroup"],
)
def operations(on: Broker) -> None:
    member = on.member()
    answer = on.ask("DescribeGroups", groups=[member.group], include_authorized_operations=True)
    found = about(answer, member.group).authorized_operations
    expect_that("Read and Describe among the authorized operations", found & 0b100001000, 0b100001000)


@case("DescribeGroups", "Each group by itself; one named twice is answered twice.", source=SOURCE, also=["JoinGroup"])
def several(on: Broker) -> None:
    member, nobody = on.member(), on.group()
    answer = on.ask("DescribeGroups", groups=[member.group, nobody, member.group])
    got = sorted((group.group_id, group.group_state) for group in answer.groups)
    expect_that("the groups", got, sorted([(member.group, "Stable"), (nobody, "Dead"), (member.group, "Stable")]))


@case("DescribeGroups", "No groups is an empty answer.", source=SOURCE)
def none(on: Broker) -> None:
    expect(on.ask("DescribeGroups", groups=[]), groups=[])


@case("DescribeGroups", "Members of any protocol type are described.", source=SOURCE, also=["JoinGroup"])
def connect(on: Broker) -> None:
    group = on.group()
    answer = on.start_join(group, kind="connect", protocols={"default": b"xyz"}).answer()
    row = {"group_state": "CompletingRebalance", "protocol_type": "connect", "protocol_data": ""}
    expect(on.ask("DescribeGroups", groups=[group]), groups=[row | {"members": [{"member_id": answer.member_id}]}])


@case("ListGroups", "A group that only stores offsets is listed, without a protocol type.", source=LISTING)
def list_simple(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    on.commit(group, [(topic, 0, 1)])
    row = {"group_id": group, "protocol_type": "", "group_state": "Empty", "group_type": "classic"}
    expect(on.ask("ListGroups"), error_code=E.NONE, groups=containing(row, by="group_id"))


@case("ListGroups", "A stable group is listed with its protocol type, state and type.", source=LISTING)
def list_stable(on: Broker) -> None:
    member = on.member()
    row = {"group_id": member.group, "protocol_type": "consumer", "group_state": "Stable", "group_type": "classic"}
    expect(on.ask("ListGroups"), error_code=E.NONE, groups=containing(row, by="group_id"))


@case("ListGroups", "A deleted group is not listed.", source=LISTING, also=["DeleteGroups", "OffsetCommit"])
def list_deleted(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    on.commit(group, [(topic, 0, 1)])
    on.ask("DeleteGroups", groups_names=[group])
    expect_that("whether it is listed", group in {one.group_id for one in on.ask("ListGroups").groups}, False)


@case("ListGroups", "Only groups in the states asked for, whatever the case.", source="KIP-518", versions=(4, 5))
def list_states(on: Broker) -> None:
    member, simple, topic = on.member(), on.group(), on.some_topic()
    on.commit(simple, [(topic, 0, 1)])
    for states, wanted in (
        (["Stable"], {member.group}),
        (["stable"], {member.group}),
        (["Empty"], {simple}),
        (["Empty", "Stable"], {member.group, simple}),
        (["Dead"], set()),
        (["nonsense"], set()),
        ([], {member.group, simple}),
    ):
        answer = on.ask("ListGroups", states_filter=states)
        found = {one.group_id for one in answer.groups} & {member.group, simple}
        expect_that(f"error_code and groups for {states}", (answer.error_code, found), (0, wanted))


@case("ListGroups", "Only groups of the types asked for, whatever the case.", source="KIP-848", versions=(5, 5))
def list_types(on: Broker) -> None:
    member = on.member()
    for types, wanted in ((["classic"], True), (["Classic"], True), (["consumer"], False), (["nonsense"], False)):
        found = member.group in {one.group_id for one in on.ask("ListGroups", types_filter=types).groups}
        expect_that(f"whether it is listed for {types}", found, wanted)


@case("FindCoordinator", "A group's coordinator is a broker of the cluster.", source=FINDING, versions=(0, 3))
def coordinator(on: Broker) -> None:
    nodes = {broker.node_id: (broker.host, broker.port) for broker in on.ask("Metadata", topics=[]).brokers}
    answer = on.ask("FindCoordinator", key=on.group())
    expect(answer, error_code=E.NONE, error_message="NONE", node_id=on.cluster.node_id)
    expect_that("its address", (answer.host, answer.port), nodes[answer.node_id])


@case("FindCoordinator", "Each key has an answer, in order and without a text.", source="KIP-699", versions=(4, 6))
def coordinators(on: Broker) -> None:
    keys = [on.group(), on.group()]
    answer = on.ask("FindCoordinator", coordinator_keys=keys)
    rows = [{"key": key, "error_code": E.NONE, "node_id": on.cluster.node_id, "port": NOT_EMPTY} for key in keys]
    expect(answer, coordinators=rows)


@case("FindCoordinator", "No keys is an empty answer.", source="KIP-699", versions=(4, 6))
def no_keys(on: Broker) -> None:
    expect(on.ask("FindCoordinator", coordinator_keys=[]), coordinators=[])


@case(
    "FindCoordinator",
    "A key type that does not exist: INVALID_REQUEST, without a node.",
    source=FINDING,
    versions=(1, 3),
)
def unknown_type(on: Broker) -> None:
    answer = on.ask("FindCoordinator", key="x", key_type=9)
    expect(answer, error_code=E.INVALID_REQUEST, node_id=-1, host="", port=-1)


@case(
    "FindCoordinator", "A key type that does not exist: INVALID_REQUEST for each key.", source=FINDING, versions=(4, 6)
)
def unknown_type_of_keys(on: Broker) -> None:
    answer = on.ask("FindCoordinator", coordinator_keys=["x", "y"], key_type=9)
    row = {"error_code": E.INVALID_REQUEST, "node_id": -1, "host": "", "port": -1}
    expect(answer, coordinators=unordered(*({"key": key, **row} for key in "xy"), by="key"))


@case("FindCoordinator", "Share groups have no coordinator below version 6.", source="KIP-932", versions=(4, 5))
def share_group_before(on: Broker) -> None:
    answer = on.ask("FindCoordinator", coordinator_keys=["x"], key_type=2)
    expect(answer, coordinators=[{"key": "x", "error_code": E.INVALID_REQUEST, "node_id": -1}])
