"""What members of both protocols do in one group: scenarios for a `Player`, on any broker.

The broker has `group.consumer.assignment.interval.ms=0`, no assignor offload, and the range assignor alone, so that
targets are there at once and follow from the members' ids.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.consumer_groups.migration_player import Player, assignment, subscription

CONFIG: Final[dict[str, object]] = {
    "group.initial.rebalance.delay.ms": 0,
    "offsets.topic.num.partitions": 1,
    "group.consumer.assignment.interval.ms": 0,
    "group.consumer.assignor.offload.enable": False,
    "group.consumer.assignors": "range",
    "group.min.session.timeout.ms": 1000,
}
TOPICS: Final = {"a": 4}


def classic_pair(p: Player, **join: object) -> None:
    """A stable classic group of c1, its leader, and c2, with two partitions each."""
    p.enter("c1", **join)
    p.sync("c1", {"c1": {"a": [0, 1, 2, 3]}})
    p.join("c2", **join)
    p.join("c2", wait=False, **join)
    p.until("PreparingRebalance")
    p.join("c1", **join)
    p.joined("c2")
    p.sync("c1", {"c1": {"a": [0, 1]}, "c2": {"a": [2, 3]}})
    p.sync("c2")


def caught_up(p: Player, *names: str, **join: object) -> None:
    """Classic members join again and sync."""
    for name in names:
        p.join(name, **join)
        p.sync(name)


def upgrade_of_a_stable_group(p: Player) -> None:
    """A consumer joins two stable classic members; they catch up; all leave."""
    classic_pair(p)
    p.records()
    p.beat("n1", ["a"])
    p.records()
    p.describe()
    p.heartbeat("c1")
    p.heartbeat("c2")
    p.sync("c1")
    p.commit("c1", {"a": [0]})
    p.join("c1", owned={"a": [0, 1]})
    p.records()
    p.describe()
    p.sync("c1")
    p.heartbeat("c1")
    p.join("c1", owned={"a": [0]})
    p.sync("c1")
    p.records()
    p.beat("n1")
    p.heartbeat("c2")
    p.join("c2", owned={"a": [2, 3]})
    p.sync("c2")
    p.heartbeat("c1")
    p.heartbeat("c2")
    p.describe()
    p.join("c2", owned={"a": [2]})
    p.sync("c2")
    p.beat("n1", owned="all")
    p.heartbeat("c1")
    p.heartbeat("c2")
    p.describe()
    p.records()
    p.commit("c1", {"a": [0]})
    p.commit("c1", {"a": [0]}, version=7)
    p.commit("c1", {"a": [0]}, epoch=1)
    p.commit("c1", {"a": [0]}, epoch=100)
    p.commit("n1", {"a": [3]})
    p.fetch_offsets("c1", {"a": [0]})
    p.fetch_offsets("c1", {"a": [0]}, epoch=1)
    p.leave(("c1", None))
    p.records()
    p.describe()
    p.beat("n1")
    p.leave(("c2", None))
    p.records()
    p.describe()
    p.beat("n1")
    p.records()
    p.beat("n1", epoch=-1)
    p.records()
    p.describe()
    p.join("c3")
    p.records()
    p.describe()


def downgrade_of_leaving(p: Player) -> None:
    """The last consumer leaves two classic members."""
    classic_pair(p)
    p.shows_leader = False
    p.beat("n1", ["a"])
    p.join("c1", owned={"a": [0, 1]})
    p.join("c1", owned={"a": [0]})
    p.records()
    p.describe()
    p.beat("n1", epoch=-1)
    p.records()
    p.describe()
    p.heartbeat("c1")
    p.heartbeat("c2")
    p.commit("c1", {"a": [0]})
    p.join("c1", wait=False)
    p.join("c2", wait=False)
    leader = "c1" if p.joined("c1").members else "c2"
    p.joined("c2")
    p.note("the leader, who is any of them, syncs")
    before = len(p.lines)
    p.sync(leader, {"c1": {"a": [0, 1]}, "c2": {"a": [2, 3]}})
    del p.lines[before:]
    p.sync("c1")
    p.sync("c2")
    p.records()
    p.describe()
    p.beat("n1", epoch=4)
    p.beat("n1", epoch=0, topics=["a"])
    p.describe()


def entering_a_consumer_group(p: Player) -> None:
    """Classic members come into a consumer group: all that may be wrong with them."""
    p.beat("n1", ["a"])
    p.describe()
    p.join("c1")
    p.join("c1", member_id="c1-x")
    p.records()
    p.describe()
    p.sync("c1", protocol="roundrobin")
    p.sync("c1", protocol_type="connect")
    p.sync("c1", generation=1)
    p.sync("c1", generation=100)
    p.sync("c1")
    p.sync("c1", protocol=None, protocol_type=None)
    p.heartbeat("c1", generation=1)
    p.heartbeat("c1", generation=100)
    p.heartbeat("c1")
    p.note("the consumer lets go")
    p.beat("n1", owned={"a": [0, 1]})
    p.heartbeat("c1")
    p.join("c1")
    p.sync("c1")
    p.describe()
    p.note("other members")
    p.join("c2", protocols={"roundrobin": subscription([p.topic("a")])}, member_id="c2-x")
    p.join("c2", protocols={"roundrobin": subscription([p.topic("a")])})
    p.join("c2", protocol_type="connect", member_id="c2-x")
    p.join("c2", protocols={}, member_id="c2-x")
    p.join("c2", protocols={"range": b""}, member_id="c2-x")
    p.join("c2", protocols={"range": b"\0\1"}, member_id="c2-x")
    p.join("c2", member_id="c2-x", session_ms=500)
    p.join("c2", member_id="c2-x", version=3)
    p.join("c3", member_id="c3-x", version=3)
    p.join("n1", member_id="n1-member")
    p.records()
    p.describe()
    p.heartbeat("n9")
    p.sync("n9")
    p.leave(("nobody", None), ("c2", None), ("c2", "i"))
    p.describe()


def unknown_and_consumer_members(p: Player) -> None:
    """Classic requests of members of the new protocol, and of nobody."""
    p.beat("n1", ["a"])
    p.beat("n2", ["a"], instance="i2")
    p.heartbeat("n1")
    p.sync("n1")
    p.heartbeat("n2", instance="i2")
    p.heartbeat("n1", instance="i2")
    p.heartbeat("n1", instance="i9")
    p.heartbeat("n9")
    p.sync("n9")
    p.sync("n1", instance="i9")
    p.leave(("n9", None), ("n1", "i2"), ("n1", "i9"), ("", "i2"), ("n1", None))
    p.records(in_any_order=True)
    p.describe()
    p.heartbeat("n1")
    p.sync("n1")
    p.leave(("n1", None))
    p.enter("c2")
    p.records()
    p.describe()


def static_members(p: Player) -> None:
    """Static members change their protocol and back, member by member."""
    p.join("c1", instance="i1")
    p.sync("c1", {"c1": {"a": [0, 1, 2, 3]}}, instance="i1")
    p.join("c2", instance="i2", wait=False)
    p.until("PreparingRebalance")
    p.heartbeat("c1", instance="i1")
    p.join("c1", instance="i1")
    p.joined("c2")
    p.sync("c1", {"c1": {"a": [0, 1]}, "c2": {"a": [2, 3]}}, instance="i1")
    p.sync("c2", instance="i2")
    p.records()
    p.note("i1 comes with the new protocol")
    p.beat("n1", ["a"], instance="i1")
    p.records()
    p.describe()
    p.heartbeat("c1", instance="i1")
    p.heartbeat("c2", instance="i2")
    p.note("i2 comes with the new protocol")
    p.beat("n2", ["a"], instance="i2")
    p.records()
    p.describe()
    p.note("i2 goes back while it is there")
    p.join("c4", instance="i2")
    p.records()
    p.describe()
    p.sync("c4", instance="i2")
    p.beat("n2", instance="i2")
    p.note("i1 goes back: the last")
    p.beat("n1", instance="i1", epoch=-2)
    p.records()
    p.join("c5", instance="i1")
    p.records()
    p.describe()
    p.sync("c5", instance="i1")
    p.heartbeat("c4", instance="i2")
    p.beat("n1", instance="i1", epoch=0, topics=["a"])
    p.describe()


def static_replaced_with_other_topics(p: Player) -> None:
    """The last consumer, a static one, is replaced by a classic member of another subscription."""
    p.make_topics({"b": 2})
    p.beat("n1", ["a"], instance="i1")
    p.join("c2", member_id="c2-x")
    p.sync("c2")
    p.records()
    p.join("c1", ["b"], instance="i1")
    p.heartbeat("c2")
    p.records()
    p.describe()
    p.sync("c1", instance="i1")
    p.heartbeat("c1", instance="i1")
    p.join("c2", wait=False)
    p.join("c1", ["b"], instance="i1")
    p.joined("c2")
    p.describe()


def rejoin_of_static_classic(p: Player) -> None:
    """A static classic member of a consumer group comes again: with its id, without, with another."""
    p.beat("n1", ["a"])
    p.join("c1", instance="i1")
    p.sync("c1", instance="i1")
    p.beat("n1", owned={"a": [0, 1]})
    p.heartbeat("c1", instance="i1")
    p.join("c1", instance="i1")
    p.sync("c1", instance="i1")
    p.records()
    p.join("c2", instance="i1")
    p.records()
    p.describe()
    p.join("c1", instance="i1")
    p.sync("c2", instance="i1")
    p.heartbeat("c1", instance="i1")
    p.sync("c1", instance="i1")
    p.join("c3", instance="i9", member_id="c3-x")
    p.leave(("c1", "i1"))
    p.leave(("", "i1"))
    p.records()
    p.describe()


def empty_groups(p: Player) -> None:
    """An empty group of one type becomes the other, its offsets stay."""
    p.enter("c1")
    p.sync("c1", {"c1": {"a": [0, 1, 2, 3]}})
    p.commit("c1", {"a": [0, 1, 2, 3]})
    p.leave(("c1", None))
    p.records()
    p.beat("n9", epoch=3)
    p.beat("n9", epoch=-1)
    p.describe()
    p.beat("n1", ["a"])
    p.records()
    p.describe()
    p.fetch_offsets("n1", {"a": [0, 1, 2, 3]})
    p.beat("n1", epoch=-1)
    p.records()
    p.describe()
    p.heartbeat("c1")
    p.sync("c1")
    p.leave(("c1", None))
    p.join("c2", member_id="")
    p.records()
    p.describe()
    p.join("c2")
    p.sync("c2", {"c2": {"a": [0, 1, 2, 3]}})
    p.fetch_offsets("c2", {"a": [0, 1, 2, 3]})
    p.records()


def simple_group(p: Player) -> None:
    """A group that only has offsets becomes a consumer group."""
    p.commit("", {"a": [1]}, epoch=-1)
    p.records()
    p.describe()
    p.beat("n1", ["a"])
    p.records()
    p.describe()
    p.commit("", {"a": [1]}, epoch=-1)
    p.beat("n1", epoch=-1)
    p.commit("", {"a": [2]}, epoch=-1)
    p.records()
    p.describe()
    p.delete()
    p.records()


def rebalancing_group(p: Player) -> None:
    """A consumer joins a classic group that is in a rebalance: joins, then syncs are parked."""
    p.enter("c1")
    p.records()
    p.join("c2")
    p.join("c2", wait=False)
    p.until("PreparingRebalance")
    p.heartbeat("c1")
    p.beat("n1", ["a"])
    p.joined("c2")
    p.records()
    p.describe()
    p.heartbeat("c1")
    p.heartbeat("c2")
    caught_up(p, "c1", "c2")
    p.describe()


def completing_group(p: Player) -> None:
    """A consumer joins while a follower's sync is parked."""
    p.enter("c1")
    p.sync("c1", {"c1": {"a": [0, 1, 2, 3]}})
    p.join("c2")
    p.join("c2", wait=False)
    p.until("PreparingRebalance")
    p.join("c1")
    p.joined("c2")
    p.sync("c2", wait=False)
    p.let_arrive()
    p.heartbeat("c1")
    p.beat("n1", ["a"])
    p.synced("c2")
    p.records()
    p.describe()
    p.sync("c1", {"c1": {"a": [0, 1]}, "c2": {"a": [2, 3]}})
    caught_up(p, "c1", "c2")
    p.describe()


def not_to_be_upgraded(p: Player) -> None:
    """Classic groups that cannot become consumer groups."""
    p.enter("k1", protocol_type="connect", protocols={"x": b"abc"})
    p.sync("k1", {"k1": b"def"}, protocol_type="connect", protocol="x")
    p.beat("n1", ["a"])
    p.beat("n1", epoch=3)
    p.beat("n1", epoch=-1)
    p.leave(("k1", None))
    p.enter("c1")
    p.sync("c1", {"c1": assignment({p.topic("a"): [0, 1, 2, 3]}, user_data=b"mine")})
    p.beat("n1", ["a"])
    p.sync("c1")
    p.join("c1")
    p.sync("c1", {"c1": b"\0\1\0"})
    p.beat("n1", ["a"])
    p.describe()
    p.join("c1")
    p.sync("c1", {"c1": b""})
    p.records()
    p.beat("n1", ["a"])
    p.records()
    p.describe()
    p.beat("n1", epoch=-1)
    p.records()
    p.describe()


def refused_while_members_wait(p: Player) -> None:
    """Who is parked is sent away before the group is found to be one that cannot become a consumer group."""
    malformed = {"range": b"\0\1\0"}
    p.enter("c1", protocols=malformed)
    p.sync("c1", {"c1": {"a": [0, 1, 2, 3]}})
    p.join("c2", protocols=malformed)
    p.join("c2", wait=False, protocols=malformed)
    p.until("PreparingRebalance")
    p.beat("n1", ["a"])
    p.joined("c2")
    p.describe()
    p.heartbeat("c1")
    p.join("c2", wait=False, protocols=malformed)
    p.until("PreparingRebalance")
    p.join("c1", protocols=malformed)
    p.joined("c2")
    p.sync("c2", wait=False)
    p.let_arrive()
    p.beat("n1", ["a"])
    p.synced("c2")
    p.describe()
    p.sync("c1", {"c1": {"a": [0, 1]}, "c2": {"a": [2, 3]}})
    p.sync("c2")
    p.describe()
    p.records()


def odd_subscriptions(p: Player) -> None:
    """Subscriptions of the versions, with what they may carry; topics that are not there."""
    p.beat("n1", ["a"])
    for version in (0, 1, 2, 3):
        name = f"v{version}"
        metadata = subscription(
            [p.topic("a"), "nowhere"], {p.topic("a"): [version], "nowhere": [1]}, version=version, rack="r"
        )
        p.join(name, protocols={"range": metadata, "roundrobin": b"?"}, member_id=f"{name}-x")
        p.sync(name)
    p.beat("n1", owned={})
    for version in (0, 1, 2, 3):
        name = f"v{version}"
        p.heartbeat(name)
        p.join(name, protocols={"roundrobin": subscription([p.topic("a")]), "range": b"?"})
        p.sync(name)
        p.sync(name, protocol="roundrobin")
    p.records()
    p.describe()
    p.join(
        "v9",
        protocols={"roundrobin": (9).to_bytes(2, "big") + subscription([p.topic("a")])[2:] + b"more"},
        member_id="v9-x",
    )
    p.sync("v9", protocol="roundrobin")
    p.beat("n1", epoch=-1)
    p.describe()
    p.records()


def unknown_id_into_an_empty_group(p: Player) -> None:
    """It stays a consumer group; Kafka then forgets it without a tombstone, so this is where the scenario ends."""
    p.beat("n1", ["a"])
    p.beat("n1", epoch=-1)
    p.join("c1", member_id="c1-x")
    p.describe()


def deleted_group(p: Player) -> None:
    """Groups with members of both kinds are not deleted; empty ones are."""
    p.beat("n1", ["a"])
    p.join("c1", member_id="c1-x")
    p.delete()
    p.leave(("c1", None))
    p.records()
    p.leave(("n1", None))
    p.records()
    p.delete()
    p.records()
    p.describe()


SCENARIOS: Final[dict[str, Callable[[Player], None]]] = {
    one.__name__: one
    for one in (
        upgrade_of_a_stable_group,
        downgrade_of_leaving,
        entering_a_consumer_group,
        unknown_and_consumer_members,
        static_members,
        static_replaced_with_other_topics,
        rejoin_of_static_classic,
        empty_groups,
        simple_group,
        rebalancing_group,
        completing_group,
        not_to_be_upgraded,
        refused_while_members_wait,
        odd_subscriptions,
        unknown_id_into_an_empty_group,
        deleted_group,
    )
}
