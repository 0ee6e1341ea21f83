"""Hand-made scenarios of whole groups: DeleteGroups, DescribeGroups, ListGroups, FindCoordinator at every version."""

from __future__ import annotations

from kafkastub_conformance.differential.play import Play
from kafkastub_conformance.differential.verbs import (
    commit,
    delete_groups,
    describe_groups,
    fetch,
    find_coordinator,
    join,
    join_fully,
    leave,
    list_groups,
    sync,
)
from tests.differential.handmade_members import stable
from tests.differential.scripts import G1, G2, G3, each_version, script

G4 = "<p>g4"


def groups_of_every_kind(play: Play) -> None:
    """G1 simple, G2 Stable, G3 Empty with a protocol type, G4 PreparingRebalance (c4 has the join parked)."""
    commit(play, "c1", G1, [("t1", 0, 1)])
    stable(play, G2, "c2", group_instance_id="i2")
    gone = join_fully(play, "c3", G3)
    leave(play, "c3", G3, gone["member_id"])
    stable(play, G4, "d4")
    join_fully(play, "c4", G4)


@each_version("delete-groups", "DeleteGroups", groups=(G1, G2, G3, G4))
def delete_groups_answers(play: Play, version: int) -> None:
    """DeleteGroups: unknown, empty id, alive, of every kind, the same twice, none, many with failures among them."""
    delete_groups(play, "c1", version=version)
    delete_groups(play, "c1", G1, version=version)
    delete_groups(play, "c1", "", version=version)
    groups_of_every_kind(play)
    delete_groups(play, "c1", G2, G1, "<p>none", "", G4, G1, G3, version=version)
    fetch(play, "c1", G1, None)
    delete_groups(play, "c1", G1, G1, version=version)
    first = join_fully(play, "c3", G3)
    delete_groups(play, "c1", G3, version=version)  # CompletingRebalance
    leave(play, "c3", G3, first["member_id"])
    delete_groups(play, "c1", G3, version=version)
    join(play, "c3", G3, member=first["member_id"])
    pending = join(play, "c5", G1)
    delete_groups(play, "c1", G1, version=version)  # a member id was handed out, nobody joined
    join(play, "c5", G1, member=pending["member_id"])
    list_groups(play, "c1")


@each_version("describe-groups", "DescribeGroups", groups=(G1, G2, G3, G4))
def describe_groups_answers(play: Play, version: int) -> None:
    """DescribeGroups: unknown, empty id, of every kind, the same twice, none; with authorized operations."""
    describe_groups(play, "c1", version=version)
    describe_groups(play, "c1", G1, version=version)
    describe_groups(play, "c1", "", version=version)
    groups_of_every_kind(play)
    describe_groups(play, "c1", G2, "", G1, "<p>none", G4, G1, G3, version=version)
    join_fully(play, "c3", G3, protocol_type="connect")
    describe_groups(play, "c1", G3, version=version)  # CompletingRebalance
    if version >= 3:
        describe_groups(play, "c1", G2, "<p>none", version=version, include_authorized_operations=True)


@each_version("list-groups", "ListGroups", groups=(G1, G2, G3, G4))
def list_groups_answers(play: Play, version: int) -> None:
    """ListGroups: none of ours, of every kind, by state and by type in any case, unknown filters."""
    list_groups(play, "c1", version)
    groups_of_every_kind(play)
    list_groups(play, "c1", version)
    if version >= 4:
        for states in (["Stable"], ["stable"], ["EMPTY", "PreparingRebalance"], ["Dead"], ["nonsense"], [""], []):
            list_groups(play, "c1", version, states_filter=states)
    if version >= 5:
        for types in (["classic"], ["Classic"], ["consumer"], ["CONSUMER", "classic"], ["nonsense"], ["share"]):
            list_groups(play, "c1", version, types_filter=types)
        list_groups(play, "c1", version, types_filter=["classic"], states_filter=["Empty"])


@each_version("find-coordinator", "FindCoordinator")
def find_coordinator_answers(play: Play, version: int) -> None:
    """FindCoordinator: a group, the empty id, a transactional id, an unknown key type; many keys from version 4 on."""
    find_coordinator(play, "c1", G1, version=version)
    find_coordinator(play, "c1", "", version=version)
    for key_type in (0, 2, 3, -1):
        if version >= 1:
            find_coordinator(play, "c1", G1, version=version, key_type=key_type)
    if version >= 4:
        find_coordinator(play, "c1", version=version)
        find_coordinator(play, "c1", G2, "", G1, G1, version=version)


@script("group-comes-again")
def group_comes_again(play: Play) -> None:
    """A group deleted and made anew starts from nothing: generation, offsets, protocol type."""
    live = stable(play, G1, "c1")
    commit(play, "c1", G1, [("t1", 0, 1)], member_id=live["c1"]["member_id"], generation_id_or_member_epoch=1)
    leave(play, "c1", G1, live["c1"]["member_id"])
    delete_groups(play, "c1", G1)
    fetch(play, "c1", G1, None)
    again = join_fully(play, "c1", G1, protocol_type="connect")
    sync(play, "c1", G1, again, protocol_type="connect")
