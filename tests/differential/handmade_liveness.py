"""Hand-made scenarios of Heartbeat and LeaveGroup at every version, error paths included."""

from __future__ import annotations

from kafkastub_conformance.differential.play import Play
from kafkastub_conformance.differential.verbs import commit, heartbeat, join, join_fully, leave, sync
from tests.differential.handmade_members import OTHER, stable, synced
from tests.differential.scripts import G1, G2, each_version


@each_version("heartbeat", "Heartbeat", groups=(G1, G2))
def heartbeat_in_every_state(play: Play, version: int) -> None:
    """Heartbeat in every state of the group, and each of its errors."""
    nobody = {"member_id": "nobody", "generation_id": 1}
    heartbeat(play, "c1", "", nobody, version)
    heartbeat(play, "c1", G1, nobody, version)
    commit(play, "c1", G2, [("t1", 0, 1)])
    heartbeat(play, "c1", G2, nobody, version)
    heartbeat(play, "c1", G2, {"member_id": "", "generation_id": -1}, version)
    first = join_fully(play, "c1", G1)
    heartbeat(play, "c1", G1, first, version)  # CompletingRebalance
    sync(play, "c1", G1, first)
    heartbeat(play, "c1", G1, first, version)  # Stable
    for generation in (0, 2, -1):
        heartbeat(play, "c1", G1, {**first, "generation_id": generation}, version)
    heartbeat(play, "c1", G1, nobody, version)
    heartbeat(play, "c1", G1, {"member_id": "", "generation_id": 1}, version)
    given = join(play, "c2", G1)
    heartbeat(play, "c2", G1, {**given, "generation_id": 1}, version)
    join(play, "c2", G1, member=given["member_id"])
    heartbeat(play, "c1", G1, first, version)  # PreparingRebalance
    heartbeat(play, "c3", G1, {**given, "generation_id": 1}, version)
    leave(play, "c3", G1, given["member_id"])
    leave(play, "c3", G1, first["member_id"])
    heartbeat(play, "c1", G1, first, version)  # Empty


@each_version("heartbeat-static", "Heartbeat", since=3)
def heartbeat_static(play: Play, version: int) -> None:
    """Heartbeat of a static member: unknown instance, wrong member id, wrong generation, another one's instance."""
    first = join(play, "c1", G1, group_instance_id="i1")
    sync(play, "c1", G1, first)
    heartbeat(play, "c1", G1, first, version, group_instance_id="i1")
    heartbeat(play, "c1", G1, first, version)
    heartbeat(play, "c1", G1, first, version, group_instance_id="i9")
    heartbeat(play, "c1", G1, {**first, "member_id": "nobody"}, version, group_instance_id="i1")
    heartbeat(play, "c1", G1, {**first, "member_id": "nobody"}, version, group_instance_id="i9")
    heartbeat(play, "c1", G1, {**first, "generation_id": 7}, version, group_instance_id="i1")


@each_version("leave", "LeaveGroup", groups=(G1, G2))
def leave_in_every_state(play: Play, version: int) -> None:
    """LeaveGroup in every state of the group, and each of its errors."""
    leave(play, "c1", "", "nobody", version=version)
    leave(play, "c1", G1, "nobody", version=version)
    commit(play, "c1", G2, [("t1", 0, 1)])
    leave(play, "c1", G2, "nobody", version=version)
    leave(play, "c1", G2, "", version=version)
    live = stable(play, G1, "c1", "c2")
    leave(play, "c1", G1, "nobody", version=version)
    leave(play, "c1", G1, "", version=version)
    leave(play, "c2", G1, live["c2"]["member_id"], version=version)  # Stable: a rebalance of c1 alone
    join(play, "c1", G1, member=live["c1"]["member_id"])
    joined = dict(play.answers)
    given = join(play, "c2", G1)
    leave(play, "c3", G1, given["member_id"], version=version)  # a pending member
    join_fully(play, "c2", G1)  # parks
    again = join(play, "c3", G1)
    join(play, "c1", G1, member=joined["c1"]["member_id"])  # parks too: c3 is pending
    leave(play, "c4", G1, again["member_id"], version=version)  # the last that was waited for
    joined = dict(play.answers)
    sync(play, "c2", G1, joined["c2"])  # parks
    leave(play, "c3", G1, joined["c2"]["member_id"], version=version)  # its sync is answered
    leave(play, "c3", G1, joined["c1"]["member_id"], version=version)  # Empty
    leave(play, "c3", G1, joined["c1"]["member_id"], version=version)


@each_version("leave-parked", "LeaveGroup")
def leave_parked(play: Play, version: int) -> None:
    """A member leaves while its join is parked: the join is answered with UNKNOWN_MEMBER_ID."""
    live = stable(play, G1, "c1", "c2")
    join(play, "c2", G1, member=live["c2"]["member_id"], protocols=OTHER)
    leave(play, "c3", G1, live["c2"]["member_id"], version=version)
    join(play, "c1", G1, member=live["c1"]["member_id"])
    synced(play, G1, dict(play.answers))


@each_version("leave-many", "LeaveGroup", since=3)
def leave_many(play: Play, version: int) -> None:
    """LeaveGroup of several members (KIP-345): by instance id, unknown ones, the same twice, none at all."""
    first = join(play, "c1", G1, group_instance_id="i1")
    join(play, "c2", G1, group_instance_id="i2")
    join(play, "c1", G1, member=first["member_id"], group_instance_id="i1")
    joined = synced(play, G1, dict(play.answers))
    leave(play, "c3", G1, version=version)
    leave(play, "c3", "", version=version)
    odd = [
        {"member_id": "", "group_instance_id": "i9"},
        {"member_id": "nobody", "group_instance_id": "i2"},
        {"member_id": joined["c2"]["member_id"], "group_instance_id": "i9"},
        {"member_id": "nobody", "group_instance_id": None},
        {"member_id": "", "group_instance_id": None},
    ]
    leave(play, "c3", G1, version=version, members=odd)
    leave(play, "c3", G2, version=version, members=odd)
    good = {"member_id": "", "group_instance_id": "i2", "reason": "removed by hand"}
    leave(play, "c3", G1, version=version, members=[good, good, odd[0]])
    heartbeat(play, "c2", G1, joined["c2"], group_instance_id="i2")
    heartbeat(play, "c1", G1, joined["c1"], group_instance_id="i1")
    last = {"member_id": joined["c1"]["member_id"], "group_instance_id": "i1"}
    leave(play, "c3", G1, version=version, members=[last, *odd])
