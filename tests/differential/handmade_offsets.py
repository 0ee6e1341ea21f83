"""Hand-made scenarios of offsets: OffsetCommit, OffsetFetch and OffsetDelete at every version, error paths included."""

from __future__ import annotations

from kafkastub_conformance.differential.play import Play
from kafkastub_conformance.differential.verbs import (
    as_member,
    commit,
    create_topic,
    delete_groups,
    delete_topic,
    fetch,
    heartbeat,
    join,
    join_fully,
    leave,
    list_groups,
    offset_delete,
    protocols,
    subscription,
    sync,
    topic_id,
)
from tests.differential.handmade_members import OTHER, stable
from tests.differential.scripts import G1, G2, G3, each_version, script

COMMA = "<p>a,b:c"
"""A group id that has what a printed list or a path is split at."""


def partition(index: int, offset: int = 1, **more: object) -> dict[str, object]:
    """One partition of an OffsetCommit."""
    return {"partition_index": index, "committed_offset": offset, **more}


def topic(name: str, *partitions: dict[str, object]) -> dict[str, object]:
    """One topic of an OffsetCommit."""
    return {"name": name, "topic_id": topic_id(name), "partitions": list(partitions)}


@each_version("commit-simple", "OffsetCommit", groups=(G1, G2, G3, COMMA))
def commit_simple(play: Play, version: int) -> None:
    """OffsetCommit without a group membership: new groups, unknown topics, metadata, duplicates, odd numbers."""
    commit(play, "c1", G1, [("t1", 0, 5), ("t1", 2, 7), ("t2", 0, 9)], version)
    fetch(play, "c1", G1, None)
    commit(play, "c1", G2, [("t1", 9, 5), ("nope", 0, 7)], version)  # all unknown: no group comes of it
    commit(play, "c1", G2, [("nope", 0, 7)], version, generation_id_or_member_epoch=3, member_id="nobody")
    commit(play, "c1", G2, [("t1", 9, 5), ("t2", 0, 6), ("nope", 0, 7), ("t1", 1, 8), ("t1", -1, 8)], version)
    fetch(play, "c1", G2, None)
    commit(play, "c1", G3, [], version)
    commit(play, "c1", COMMA, [("t1", 0, 1)], version)
    for text in (None, "", "x" * 126, "x" * 127, "é" * 64, "x" * 4097):
        named = topic("t1", partition(0, committed_metadata=text), partition(1))
        commit(play, "c1", G1, [], version, topics=[named])
        fetch(play, "c1", G1, {"t1": [0]})
    named = topic("t1", partition(0, 0), partition(0, -1), partition(1, -5), partition(2, 2**63 - 1))
    commit(play, "c1", G1, [], version, topics=[named, topic("t1", partition(1, 6)), named])
    fetch(play, "c1", G1, None)
    commit(play, "c1", G1, [], version, topics=[topic("t1", partition(0, committed_leader_epoch=7)), topic("t2")])
    fetch(play, "c1", G1, None)
    for retention in (-1, 0, -2, 1000, 2**63 - 1):
        commit(play, "c1", G3, [("t1", 0, 5)], version, retention_time_ms=retention)
    fetch(play, "c1", G3, None)


@each_version("commit-empty-group", "OffsetCommit")
def commit_empty_group(play: Play, version: int) -> None:
    """OffsetCommit for the group "": it is a group like others."""
    commit(play, "c1", "", [("t1", 0, 5), ("nope", 0, 5)], version)
    fetch(play, "c1", "", None, 7)
    fetch(play, "c1", "", None)
    play.ask("c1", "DescribeGroups", 6, {"groups": [""]})
    commit(play, "c1", "", [("t1", 0, 6)], version, generation_id_or_member_epoch=1, member_id="nobody")
    delete_groups(play, "c1", "")
    fetch(play, "c1", "", None)


@each_version("commit-member", "OffsetCommit", groups=(G1, G2, G3))
def commit_member(play: Play, version: int) -> None:
    """OffsetCommit in every state of a group with members, and each error: generation, member, instance."""
    nobody = {"member_id": "nobody", "generation_id_or_member_epoch": 1}
    commit(play, "c1", G2, [("t1", 0, 5), ("nope", 0, 5)], version, **nobody)  # no such group
    commit(play, "c1", G2, [("t1", 0, 5)], version, generation_id_or_member_epoch=0)
    commit(play, "c1", G2, [("t1", 0, 5)], version, member_id="nobody")
    commit(play, "c1", G2, [("t1", 0, 5)], version, **nobody)  # a group without members
    first = join_fully(play, "c1", G1)
    mine = as_member(first)
    commit(play, "c1", G1, [("t1", 0, 5)], version, **mine)  # CompletingRebalance
    commit(play, "c1", G1, [("t1", 0, 5)], version, **{**mine, "generation_id_or_member_epoch": 0})
    commit(play, "c1", G1, [("t1", 0, 5)], version)
    sync(play, "c1", G1, first)
    commit(play, "c1", G1, [("t1", 0, 5), ("t1", 7, 1)], version, **mine)  # Stable
    commit(play, "c2", G1, [("t1", 0, 6)], version)  # by somebody who is no member
    commit(play, "c2", G1, [("t1", 0, 6)], version, **nobody)
    commit(play, "c2", G1, [("t1", 0, 6)], version, member_id="", generation_id_or_member_epoch=1)
    commit(play, "c2", G1, [("t1", 0, 6)], version, member_id=first["member_id"])
    for generation in (0, 2):
        commit(play, "c1", G1, [("t1", 0, 6)], version, **{**mine, "generation_id_or_member_epoch": generation})
    commit(play, "c1", G1, [("t2", 0, 6)], version, **mine)  # a topic it does not subscribe
    join_fully(play, "c2", G1)
    commit(play, "c1", G1, [("t1", 1, 7)], version, **mine)  # PreparingRebalance: still taken
    fetch(play, "c1", G1, None)
    join(play, "c1", G1, member=first["member_id"])
    joined = dict(play.answers)
    leave(play, "c3", G1, joined["c2"]["member_id"], joined["c1"]["member_id"])
    commit(play, "c1", G1, [("t1", 2, 8)], version, **as_member(joined["c1"]))  # Empty
    commit(play, "c1", G1, [("t1", 2, 8)], version, member_id="nobody")
    commit(play, "c1", G1, [("t1", 2, 9)], version)
    fetch(play, "c1", G1, None)


@each_version("commit-static", "OffsetCommit", since=7)
def commit_static(play: Play, version: int) -> None:
    """OffsetCommit of a static member: unknown instance, wrong member id, an instance id alone."""
    first = join(play, "c1", G1, group_instance_id="i1")
    sync(play, "c1", G1, first)
    mine = as_member(first)
    offsets = [("t1", 0, 5)]
    commit(play, "c1", G1, offsets, version, **mine, group_instance_id="i1")
    commit(play, "c1", G1, offsets, version, **mine, group_instance_id="i9")
    commit(play, "c1", G1, offsets, version, **{**mine, "member_id": "nobody"}, group_instance_id="i1")
    commit(play, "c1", G1, offsets, version, group_instance_id="i1")
    commit(play, "c1", G1, offsets, version, **{**mine, "generation_id_or_member_epoch": 9}, group_instance_id="i1")
    leave(play, "c1", G1, first["member_id"])
    commit(play, "c1", G1, offsets, version, group_instance_id="i1")


@script("commit-topic-ids")
def commit_topic_ids(play: Play) -> None:
    """From version 10 on topics go by id: unknown ones, the zero id, and one that is named twice."""
    strange = {"topic_id": "ab" * 16, "partitions": [partition(0)]}
    zero = {"partitions": [partition(0)]}
    commit(play, "c1", G1, [], 10, topics=[strange])
    commit(play, "c1", G1, [], 10, topics=[zero, topic("t1", partition(0)), strange, topic("t1", partition(1))])
    groups = [{"group_id": G1, "topics": [{"topic_id": "ab" * 16, "partition_indexes": [0]}]}]
    play.ask("c1", "OffsetFetch", 10, {"groups": groups})
    groups = [{"group_id": G1, "topics": [{"partition_indexes": [0]}, {"topic_id": topic_id("t1")}]}]
    play.ask("c1", "OffsetFetch", 10, {"groups": groups})
    fetch(play, "c1", G1, None, 10)
    fetch(play, "c1", G1, {"t1": [0, 1, 2, 9]}, 10)


@script("commit-metadata-limit", config="tight")
def commit_metadata_limit(play: Play) -> None:
    """offset.metadata.max.bytes is 10, and counts UTF-16 code units."""
    for text in ("", "x" * 10, "x" * 11, "é" * 10, "é" * 11, "𝄞" * 5, "𝄞" * 6):
        commit(play, "c1", G1, [], topics=[topic("t1", partition(0, committed_metadata=text), partition(1))])
        fetch(play, "c1", G1, {"t1": [0, 1]})


@each_version("fetch", "OffsetFetch", groups=(G1, G2))
def fetch_offsets(play: Play, version: int) -> None:
    """OffsetFetch: of an unknown group, unknown topics and partitions, everything, nothing, twice the same."""
    fetch(play, "c1", G1, {"t1": [0], "nope": [0, 1]}, version)
    if version >= 2:
        fetch(play, "c1", G1, None, version)
    fetch(play, "c1", "", {"t1": [0]}, version)
    commit(play, "c1", G1, [("t1", 0, 5), ("t1", 2, 7), ("t2", 0, 9)])
    commit(play, "c1", G1, [], topics=[topic("t3", partition(1, 3, committed_leader_epoch=4, committed_metadata="m"))])
    fetch(play, "c1", G1, {"t1": [0, 1, 2, 9, -1], "t3": [1, 0], "nope": [0], "t2": []}, version)
    if version >= 2:
        fetch(play, "c1", G1, None, version)
    fetch(play, "c1", G1, {}, version)
    fetch(play, "c1", G1, {"t1": [0, 0]}, version)
    if version >= 7:
        fetch(play, "c1", G1, {"t1": [0]}, version, require_stable=True)
        fetch(play, "c1", G2, {"t1": [0]}, version, require_stable=True)
        fetch(play, "c1", G1, None, version, require_stable=True)
    stable(play, G2, "c2")
    fetch(play, "c1", G2, {"t1": [0]}, version)


@each_version("fetch-many", "OffsetFetch", groups=(G1, G2), since=8)
def fetch_many(play: Play, version: int) -> None:
    """OffsetFetch of several groups (KIP-709): unknown ones, the same twice, none; with a member's epoch (KIP-848)."""
    live = stable(play, G1, "c1")
    commit(play, "c1", G1, [("t1", 0, 5)], **as_member(live["c1"]))
    commit(play, "c1", G2, [("t2", 0, 6)])
    t1, t2 = ({"name": name, "topic_id": topic_id(name), "partition_indexes": [0, 1]} for name in ("t1", "t2"))
    play.ask("c1", "OffsetFetch", version, {"groups": []})
    one, two = {"group_id": G1, "topics": [t1]}, {"group_id": G2, "topics": [t2, t1]}
    play.ask("c1", "OffsetFetch", version, {"groups": [one, two]})
    play.ask("c1", "OffsetFetch", version, {"groups": [two, {"group_id": G3, "topics": None}, one, one]})
    play.ask("c1", "OffsetFetch", version, {"groups": [{**two, "topics": None}, {**one, "topics": None}]})
    if version >= 9:
        for member, epoch in ((live["c1"]["member_id"], 1), ("nobody", 1), (None, 1), ("nobody", -1), ("", 9)):
            asked = {"groups": [{**one, "member_id": member, "member_epoch": epoch}]}
            play.ask("c1", "OffsetFetch", version, asked)
            play.ask("c1", "OffsetFetch", version, {"groups": [{**asked["groups"][0], "topics": None}]})


@script("offset-delete", groups=(G1, G2, G3))
def offset_delete_answers(play: Play) -> None:
    """OffsetDelete: no group, simple group, live consumer group, live group of another type, Empty group."""
    everything = {"t1": [0, 1, 9], "t2": [0], "nope": [0, 1]}
    offset_delete(play, "c1", "", everything)
    offset_delete(play, "c1", G1, everything)
    offset_delete(play, "c1", G1, {"nope": [0]})
    offset_delete(play, "c1", G1, {})
    commit(play, "c1", G1, [("t1", 0, 1), ("t1", 1, 2), ("t2", 0, 3)])
    offset_delete(play, "c1", G1, {})
    offset_delete(play, "c1", G1, {"t1": [0, 2], "nope": [0]})
    offset_delete(play, "c1", G1, {"t1": [1, 1], "t2": []})
    fetch(play, "c1", G1, None)
    offset_delete(play, "c1", G1, {"t2": [0]})  # the last one
    offset_delete(play, "c1", G1, {"t2": [0]})
    live = stable(play, G2, "c2")
    mine = as_member(live["c2"])
    commit(play, "c2", G2, [("t1", 0, 1), ("t2", 0, 2), ("t3", 1, 2)], **mine)
    offset_delete(play, "c1", G2, {"t1": [0, 9], "t2": [0], "nope": [0]})
    fetch(play, "c1", G2, None)
    join(play, "c2", G2, member=live["c2"]["member_id"], protocols=OTHER)  # t2 too, from the next generation on
    offset_delete(play, "c1", G2, {"t1": [0], "t2": [0], "t3": [1]})
    sync(play, "c2", G2, dict(play.answers).get("c2", live["c2"]))
    leave(play, "c2", G2, live["c2"]["member_id"])
    offset_delete(play, "c1", G2, {"t1": [0]})
    other = join_fully(play, "c3", G3, protocol_type="connect")
    offset_delete(play, "c1", G3, {"t1": [0], "nope": [0]})
    sync(play, "c3", G3, other, protocol_type="connect")
    offset_delete(play, "c1", G3, {"t1": [0]})
    leave(play, "c3", G3, other["member_id"])
    offset_delete(play, "c1", G3, {"t1": [0]})
    list_groups(play, "c1")


@script("offset-delete-duplicates")
def offset_delete_duplicates(play: Play) -> None:
    """A topic and a partition named twice, and a good one behind bad ones."""
    commit(play, "c1", G1, [("t1", 0, 1), ("t1", 1, 2), ("t2", 0, 3)])
    once, twice = {"partition_index": 0}, {"partition_index": 1}
    topics = [
        {"name": "t1", "partitions": [once, once]},
        {"name": "nope", "partitions": [once, twice]},
        {"name": "t1", "partitions": [twice, {"partition_index": 7}]},
        {"name": "nope", "partitions": [once]},
        {"name": "t2", "partitions": [once]},
    ]
    play.ask("c1", "OffsetDelete", 0, {"group_id": G1, "topics": topics})
    fetch(play, "c1", G1, None)


@script("offset-delete-while-rebalancing")
def offset_delete_rebalancing(play: Play) -> None:
    """What is subscribed is what the last completed generation subscribed; in a first one nothing is known."""
    first = join_fully(play, "c1", G1)
    offset_delete(play, "c1", G1, {"t1": [0], "t2": [0]})
    sync(play, "c1", G1, first)
    join_fully(play, "c2", G1, protocols=OTHER)
    offset_delete(play, "c1", G1, {"t1": [0], "t2": [0], "t3": [0]})
    join(play, "c1", G1, member=first["member_id"])
    offset_delete(play, "c1", G1, {"t1": [0], "t2": [0], "t3": [0]})
    joined = dict(play.scenario.steps[-2].answers)
    leave(play, "c3", G1, joined["c2"]["member_id"])
    offset_delete(play, "c1", G1, {"t1": [0], "t2": [0], "t3": [0]})


SUBSCRIPTIONS = {
    "none": "",
    "version-only": "0000",
    "no-topics": subscription(),
    "no-user-data": subscription("t1")[:-8],
    "null-user-data": subscription("t1", user_data=None),
    "odd-user-data-length": subscription("t1")[:-8] + "fffffffe",
    "version-3": subscription("t1", version=3, behind=bytes(4) + b"\xff\xff\xff\xff\x00\x00"),
    "version-99": subscription("t1", version=99),
    "negative-version": subscription("t1", version=-1),
    "trailing-bytes": subscription("t1", behind=b"junk"),
    "not-utf-8": "0000000000010002ff7400000000",
    "same-topic-twice": subscription("t1", "t1"),
    "many-topics": subscription(*(f"t{number}" for number in range(40))),
}
"""Subscriptions that a real broker survives, as hexadecimal text.

Not here: a null topic, a topic or a user data length beyond the end, a null or absurd array count. With those the
join of a real 4.3.1 is never answered (ClassicGroup.computeSubscribedTopics catches SchemaException alone)."""


@script("subscriptions", groups=tuple(f"<p>{name}" for name in SUBSCRIPTIONS))
def subscriptions(play: Play) -> None:
    """What the broker takes a group to subscribe, seen through OffsetDelete: unparseable means everything."""
    for name, metadata in SUBSCRIPTIONS.items():
        group = f"<p>{name}"
        joined = join_fully(play, "c1", group, protocols=protocols("range", metadata=metadata))
        sync(play, "c1", group, joined)
        heartbeat(play, "c1", group, joined)
        offset_delete(play, "c1", group, {"t1": [0], "t2": [0]})


@script("topic-deleted", groups=(G1, G2))
def topic_deleted(play: Play) -> None:
    """Deleting a topic removes every group's offsets of it, of live groups too."""
    own = "<p>own"
    create_topic(play, "c1", own, 2)
    live = stable(play, G1, "c1")
    commit(play, "c1", G1, [(own, 0, 5), (own, 1, 6), ("t1", 0, 7)], **as_member(live["c1"]))
    commit(play, "c1", G2, [(own, 1, 8)])
    fetch(play, "c1", G1, None)
    delete_topic(play, "c1", own)
    commit(play, "c1", G1, [(own, 0, 5)], **as_member(live["c1"]))
    for group in (G1, G2):
        body = {"groups": [{"group_id": group, "topics": None}]}
        play.poll("c1", "OffsetFetch", 9, body, lambda answer: "own" not in str(answer))
    create_topic(play, "c1", own, 1)
    fetch(play, "c1", G1, {own: [0, 1]})
    fetch(play, "c1", G1, {own: [0, 1]}, 10)
