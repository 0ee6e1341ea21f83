"""Hand-made scenarios of members: JoinGroup and SyncGroup at every version, error paths included."""

from __future__ import annotations

from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.play import Play
from kafkastub_conformance.differential.verbs import (
    SESSION_MS,
    as_member,
    assignment,
    commit,
    heartbeat,
    join,
    join_fully,
    leave,
    protocols,
    subscription,
    sync,
)
from tests.differential.scripts import G1, G2, each_version, script

OTHER = protocols("range", metadata=subscription("t1", "t2", user_data=b"x"))
"""The plain client's protocol with other metadata: a change that needs a rebalance."""


def stable(play: Play, group: str, *names: str, **more: Json) -> dict[str, Json]:
    """A Stable group of these clients, the first one leading: {client: its JoinGroup answer}."""
    joined = {names[0]: join_fully(play, names[0], group, **more)}
    for name in names[1:]:
        join_fully(play, name, group, **more)
        for old in list(joined):
            join(play, old, group, member=joined[old]["member_id"], **more)
        joined = {**joined, **dict(play.answers)}
    return synced(play, group, joined)


def synced(play: Play, group: str, joined: dict[str, Json]) -> dict[str, Json]:
    """Let all who joined sync, the leader last."""
    for name in sorted(joined, key=lambda name: "members" in joined[name]):
        sync(play, name, group, joined[name])
    return joined


@each_version("join-refused", "JoinGroup", groups=(G1, G2))
def join_refused(play: Play, version: int) -> None:
    """What a JoinGroup is refused for before there is a group, and with a live group of other people."""
    join(play, "c1", "", version)
    join(play, "c1", G1, version, session_timeout_ms=1)
    join(play, "c1", G1, version, session_timeout_ms=-1)
    join(play, "c1", G1, version, session_timeout_ms=1800001)
    join(play, "c1", G1, version, "nobody")
    join(play, "c1", G1, version, "nobody", session_timeout_ms=1)
    join(play, "c1", G1, version, protocol_type="")
    join(play, "c1", G1, version, protocols=[])
    join(play, "c1", G2, version, "nobody", protocol_type="")
    live = stable(play, G2, "c2")
    join(play, "c1", G2, version, protocol_type="connect")
    join(play, "c1", G2, version, protocol_type="")
    join(play, "c1", G2, version, protocols=[])
    join(play, "c1", G2, version, protocols=protocols("sticky"))
    join(play, "c1", G2, version, "nobody")
    join(play, "c1", G2, version, "nobody", protocols=protocols("sticky"))
    join(play, "c2", G2, version, live["c2"]["member_id"], protocol_type="connect")
    join(play, "c2", G2, version, live["c2"]["member_id"], session_timeout_ms=1)
    join(play, "c2", G1, version, live["c2"]["member_id"])
    join(play, "c2", G2, version, live["c2"]["member_id"], protocols=protocols("sticky"))


@each_version("join", "JoinGroup")
def join_in_every_state(play: Play, version: int) -> None:
    """A group's life through JoinGroup: first member, second member, rejoins in every state, last one gone."""
    first = join_fully(play, "c1", G1, version)
    mine = first["member_id"]
    join(play, "c1", G1, version, mine)  # CompletingRebalance, same metadata
    join(play, "c1", G1, version, mine, protocols=OTHER)  # … changed metadata
    sync(play, "c1", G1, dict(play.answers)["c1"])
    join(play, "c1", G1, version, mine)  # Stable, the leader
    sync(play, "c1", G1, dict(play.answers)["c1"])
    join_fully(play, "c2", G1, version)  # parks
    heartbeat(play, "c1", G1, first)
    join(play, "c1", G1, version, mine)
    joined = dict(play.answers)
    other = joined["c2"]["member_id"]
    join(play, "c2", G1, version, other)  # CompletingRebalance, a follower
    synced(play, G1, joined)
    join(play, "c2", G1, version, other)  # Stable, a follower, same metadata
    join(play, "c2", G1, version, other, protocols=OTHER)  # … changed: parks
    join(play, "c3", G1, version, protocols=protocols("sticky"))  # PreparingRebalance
    join(play, "c3", G1, version, "nobody")
    join(play, "c1", G1, version, mine)
    synced(play, G1, dict(play.answers))
    leave(play, "c3", G1, mine, other)
    join(play, "c1", G1, version, mine)  # Empty
    join_fully(play, "c1", G1, version)


@each_version("join-odd", "JoinGroup")
def join_odd_fields(play: Play, version: int) -> None:
    """Odd but valid: a protocol named twice, empty metadata, long names, a reason, another protocol type."""
    twice = protocols("range") + OTHER + protocols("roundrobin", metadata="")
    first = join_fully(play, "c1", G1, version, protocols=twice, protocol_type="connect", reason="because")
    if first is not None and not first.get("error_code"):
        join(play, "c1", G1, version, first["member_id"], protocols=twice, protocol_type="connect")
        sync(play, "c1", G1, first, protocol_type="connect")
        leave(play, "c1", G1, first["member_id"])
    join_fully(play, "c2", G1, version, protocols=protocols("n" * 130), protocol_type="t" * 130, reason="r" * 130)
    join_fully(play, "c 3 -é", G1, version, protocols=protocols("n" * 130), protocol_type="t" * 130)


@script("join-votes")
def join_votes(play: Play) -> None:
    """Three members with several protocols: the one most of them put first, among those that all know."""
    wishes = {
        "c1": ("range", "roundrobin", "sticky"),
        "c2": ("sticky", "roundrobin"),
        "c3": ("roundrobin", "sticky"),
    }
    joined = {"c1": join_fully(play, "c1", G1, protocols=protocols(*wishes["c1"]))}
    for name in ("c2", "c3"):
        join_fully(play, name, G1, protocols=protocols(*wishes[name]))
        for old in list(joined):
            join(play, old, G1, member=joined[old]["member_id"], protocols=protocols(*wishes[old]))
        joined |= dict(play.answers)
    synced(play, G1, joined)
    leave(play, "c3", G1, joined["c3"]["member_id"])
    for old in ("c2", "c1"):
        join(play, old, G1, member=joined[old]["member_id"], protocols=protocols(*wishes[old]))


@script("join-votes-tied", groups=("<p>g1", "<p>g2", "<p>g3", "<p>g4"))
def join_votes_tied(play: Play) -> None:
    """Two members who put different protocols first: the tie is broken by Java's string hashes."""
    pairs = (("range", "roundrobin"), ("sticky", "range"), ("cooperative-sticky", "range"), ("a", "b"))
    for number, (one, two) in enumerate(pairs, 1):
        group = f"<p>g{number}"
        mine = join_fully(play, f"c{number}", group, protocols=protocols(one, two))
        join_fully(play, f"d{number}", group, protocols=protocols(two, one))
        join(play, f"c{number}", group, member=mine["member_id"], protocols=protocols(one, two))


@script("join-leave-pending")
def join_pending(play: Play) -> None:
    """Member ids handed out and not yet used (KIP-394): they hold a rebalance up until they join or leave."""
    live = stable(play, G1, "c1")
    given = join(play, "c2", G1)
    join(play, "c1", G1, member=live["c1"]["member_id"])  # parks: somebody is expected
    heartbeat(play, "c2", G1, given)
    sync(play, "c2", G1, given)
    commit(play, "c2", G1, [("t1", 0, 1)], member_id=given["member_id"], generation_id_or_member_epoch=1)
    leave(play, "c3", G1, given["member_id"])
    synced(play, G1, dict(play.answers))
    again = join(play, "c2", G1)
    join(play, "c2", G1, member=again["member_id"], group_instance_id="i2")
    join(play, "c2", G1, member=again["member_id"], protocol_type="connect")
    join(play, "c2", G1, member=again["member_id"])
    join(play, "c1", G1, member=live["c1"]["member_id"])
    synced(play, G1, dict(play.answers))


@script("join-twice-in-flight")
def join_twice_in_flight(play: Play) -> None:
    """A member that joins again on another connection while its join is parked: the first is never answered."""
    live = stable(play, G1, "c1", "c2")
    join(play, "c2", G1, member=live["c2"]["member_id"], protocols=OTHER)
    join(play, "d2", G1, member=live["c2"]["member_id"])
    join(play, "c1", G1, member=live["c1"]["member_id"])
    joined = dict(play.answers)
    sync(play, "d2", G1, joined["d2"])
    sync(play, "e2", G1, joined["d2"])
    sync(play, "c1", G1, joined["c1"])


@script("join-pipelined")
def join_pipelined(play: Play) -> None:
    """Requests behind a parked one on the same connection wait for it."""
    live = stable(play, G1, "c1")
    given = join(play, "c2", G1)
    join(play, "c2", G1, member=given["member_id"])
    heartbeat(play, "c2", G1, {"member_id": given["member_id"], "generation_id": 2})
    play.ask("c2", "FindCoordinator", 2, {"key": G1})
    join(play, "c1", G1, member=live["c1"]["member_id"])
    joined = dict(play.answers)
    sync(play, "c2", G1, {"member_id": given["member_id"], "generation_id": 2})
    heartbeat(play, "c2", G1, {"member_id": given["member_id"], "generation_id": 2})
    sync(play, "c1", G1, joined["c1"])


@script("join-connection-lost")
def join_connection_lost(play: Play) -> None:
    """A parked join whose connection has gone: its member counts as joined, and the group goes on."""
    live = stable(play, G1, "c1")
    join_fully(play, "c2", G1)
    play.close("c2")
    join(play, "c1", G1, member=live["c1"]["member_id"])
    sync(play, "c1", G1, dict(play.answers)["c1"])
    play.close("c1")
    heartbeat(play, "c1", G1, {"member_id": live["c1"]["member_id"], "generation_id": 2})


@each_version("join-static", "JoinGroup", since=5)
def join_static(play: Play, version: int) -> None:
    """Static members (KIP-345): replaced while Stable without a rebalance, the old id fenced everywhere."""
    static: dict[str, Json] = {"group_instance_id": "i1"}
    old = join(play, "c1", G1, version, **static)
    sync(play, "c1", G1, old, **static)
    join(play, "c1", G1, version, old["member_id"])  # without its instance id
    sync(play, "c1", G1, dict(play.answers)["c1"], **static)
    join(play, "c1", G1, version, "nobody", **static)
    join(play, "c1", G1, version, old["member_id"], group_instance_id="i9")
    new = join(play, "c2", G1, version, **static)
    join(play, "c1", G1, version, old["member_id"], **static)
    heartbeat(play, "c1", G1, old, **static)
    heartbeat(play, "c1", G1, old)
    sync(play, "c1", G1, old, **static)
    commit(play, "c1", G1, [("t1", 0, 1)], **as_member(old), **static)
    leave(play, "c1", G1, members=[{"member_id": old["member_id"], **static}])
    sync(play, "c2", G1, new, **static)
    commit(play, "c2", G1, [("t1", 0, 1)], **as_member(new), **static)
    heartbeat(play, "c2", G1, new, group_instance_id="i9")
    join_fully(play, "c3", G1, version, group_instance_id="i3")
    join(play, "d2", G1, version, protocols=OTHER, **static)  # replaced while c3's join is parked


@each_version("join-static-changed", "JoinGroup", since=5)
def join_static_changed(play: Play, version: int) -> None:
    """Static members that come back with other protocols, and while the group completes a rebalance."""
    both = protocols("range", "sticky")
    first = join(play, "c1", G1, version, group_instance_id="i1", protocols=both)
    join(play, "c2", G1, version, group_instance_id="i2", protocols=both)
    join(play, "c1", G1, version, first["member_id"], group_instance_id="i1", protocols=both)
    joined = dict(play.answers)
    sync(play, "c2", G1, joined["c2"], group_instance_id="i2")  # parks
    join(play, "d2", G1, version, group_instance_id="i2", protocols=both)  # fences it, and starts a rebalance
    join(play, "c1", G1, version, first["member_id"], group_instance_id="i1", protocols=both)
    joined = dict(play.answers)
    sync(play, "d2", G1, joined["d2"], group_instance_id="i2")
    sync(play, "c1", G1, joined["c1"], group_instance_id="i1")
    join(play, "e2", G1, version, group_instance_id="i2", protocols=OTHER)  # protocol stays
    join(play, "f2", G1, version, group_instance_id="i2", protocols=protocols("sticky"))  # protocol changes: parks
    join(play, "g2", G1, version, group_instance_id="i2", protocols=protocols("sticky"))  # fences the parked one
    join(play, "h2", G1, version, group_instance_id="i2", protocols=protocols("none"))
    join(play, "d1", G1, version, group_instance_id="i1", protocols=both)  # the leader comes back
    synced(play, G1, {who: answer for who, answer in play.answers if not answer.get("error_code")})


@each_version("sync", "SyncGroup", groups=(G1, G2))
def sync_in_every_state(play: Play, version: int) -> None:
    """SyncGroup of everybody in every state, and each of its errors."""
    nobody = {"member_id": "nobody", "generation_id": 1, "protocol_name": "range"}
    sync(play, "c1", "", nobody, version)
    sync(play, "c1", G1, nobody, version)
    commit(play, "c1", G2, [("t1", 0, 1)])
    sync(play, "c1", G2, nobody, version)  # a group without members
    first = join_fully(play, "c1", G1)
    sync(play, "c1", G1, nobody, version)
    sync(play, "c1", G1, {**first, "generation_id": 0}, version)
    sync(play, "c1", G1, {**first, "generation_id": 2}, version)
    sync(play, "c1", G1, first, version, protocol_type="connect")
    sync(play, "c1", G1, first, version, protocol_name="sticky")
    if version == 5:
        sync(play, "c1", G1, first, version, protocol_type=None, protocol_name=None, assignments=[])
    sync(play, "c1", G1, first, version)
    sync(play, "c1", G1, first, version, assignments=[])  # Stable: what was assigned
    join_fully(play, "c2", G1)
    sync(play, "c1", G1, first, version)  # PreparingRebalance
    join(play, "c1", G1, member=first["member_id"])
    joined = dict(play.answers)
    sync(play, "c2", G1, joined["c2"], version)  # parks
    join(play, "c1", G1, member=first["member_id"], protocols=OTHER)  # releases it: REBALANCE_IN_PROGRESS
    join(play, "c2", G1, member=joined["c2"]["member_id"])
    joined = dict(play.answers)
    sync(play, "c2", G1, joined["c2"], version)
    mine = {"member_id": first["member_id"], "assignment": assignment("t1", 0)}
    stranger = {"member_id": "nobody", "assignment": assignment("t1", 1)}
    sync(play, "c1", G1, joined["c1"], version, assignments=[mine, stranger, {**mine, "assignment": "00ff"}])
    sync(play, "c2", G1, joined["c2"], version)
    leave(play, "c1", G1, first["member_id"])
    sync(play, "c2", G1, joined["c2"], version)


@each_version("sync-static", "SyncGroup", since=3)
def sync_static(play: Play, version: int) -> None:
    """SyncGroup of a static member: unknown instance, wrong member id, another instance's."""
    first = join(play, "c1", G1, group_instance_id="i1")
    sync(play, "c1", G1, first, version, group_instance_id="i9")
    sync(play, "c1", G1, {**first, "member_id": "nobody"}, version, group_instance_id="i1")
    sync(play, "c1", G1, first, version)
    sync(play, "c1", G1, first, version, group_instance_id="i1")


@script("group-full", config="tight")
def group_full(play: Play) -> None:
    """group.max.size is 2: the third is refused in every state, a member never."""
    long: dict[str, Json] = {"session_timeout_ms": 60000}
    live = stable(play, G1, "c1", "c2", **long)
    join(play, "c3", G1, **long)
    join(play, "c3", G1, 3, **long)
    join(play, "c3", G1, group_instance_id="i3", **long)
    join(play, "c2", G1, member=live["c2"]["member_id"], **long, protocols=OTHER)  # parks
    given = join(play, "c3", G1, **long)  # one awaits its join, so there is room for one
    join(play, "c3", G1, member=given.get("member_id", ""), **long)
    join(play, "c1", G1, member=live["c1"]["member_id"], **long)  # too late: the group is full


@script("session-bounds", config="tight")
def session_bounds(play: Play) -> None:
    """group.min.session.timeout.ms is 10 and the maximum 60000: both inclusive."""
    for number, timeout in enumerate((9, 10, 60000, 60001)):
        join(play, f"c{number}", G1, session_timeout_ms=timeout, group_instance_id=f"i{number}")
        if timeout == 10:
            play.until(G1, "Empty")


@script("session-expires", config="tight")
def session_expires(play: Play) -> None:
    """Members that fall silent: Stable, while a rebalance waits for them, and as a pending member id."""
    long: dict[str, Json] = {"session_timeout_ms": 60000}
    join_fully(play, "c1", G1, session_timeout_ms=500)
    play.until(G1, "Empty")
    live = stable(play, G1, "c1", **long)
    join_fully(play, "c2", G1, session_timeout_ms=500, rebalance_timeout_ms=60000)
    join(play, "c1", G1, member=live["c1"]["member_id"], **long)
    sync(play, "c1", G1, dict(play.answers)["c1"])  # c2 says no more: the group rebalances without it
    play.until(G1, "PreparingRebalance")
    join(play, "c1", G1, member=live["c1"]["member_id"], **long)
    sync(play, "c1", G1, dict(play.answers)["c1"])
    join(play, "c3", G1, session_timeout_ms=500)  # an id that is never used
    join(play, "c1", G1, member=live["c1"]["member_id"], **long)
    play.until(G1, "CompletingRebalance")


@script("rebalance-expires")
def rebalance_expires(play: Play) -> None:
    """A rebalance that a member does not join in time: the dynamic one is thrown out, the static one stays."""
    short: dict[str, Json] = {"rebalance_timeout_ms": 900, "session_timeout_ms": SESSION_MS}
    live = stable(play, G1, "c1", "c2", **short)
    join(play, "c1", G1, member=live["c1"]["member_id"], **short)
    play.until(G1, "CompletingRebalance")
    sync(play, "c1", G1, dict(play.answers)["c1"])
    heartbeat(play, "c2", G1, live["c2"])
    join(play, "c3", G1, group_instance_id="i3", **short)
    join(play, "c1", G1, member=live["c1"]["member_id"], **short)
    synced(play, G1, dict(play.answers))
    join(play, "c1", G1, member=live["c1"]["member_id"], **short)
    play.until(G1, "CompletingRebalance")


@script("sync-expires")
def sync_expires(play: Play) -> None:
    """Members that join and never sync: thrown out after the rebalance timeout."""
    short: dict[str, Json] = {"rebalance_timeout_ms": 900, "session_timeout_ms": SESSION_MS}
    first = join_fully(play, "c1", G1, **short)
    join_fully(play, "c2", G1, **short)
    join(play, "c1", G1, member=first["member_id"], **short)
    sync(play, "c1", G1, dict(play.answers)["c1"])  # c2 never does
    play.until(G1, "PreparingRebalance")
    join(play, "c1", G1, member=first["member_id"], **short)
    play.until(G1, "Empty")


@script("initial-delay", config="delayed")
def initial_delay(play: Play) -> None:
    """Members that come within group.initial.rebalance.delay.ms are in the first generation together."""
    for name in ("c1", "c2"):
        join(play, name, G1, 3)
    play.until(G1, "CompletingRebalance")
    synced(play, G1, dict(play.answers))
