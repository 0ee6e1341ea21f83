"""Hand-made scenarios of bytes that are not as they should be: what answers, and what closes the connection."""

from __future__ import annotations

from kafkastub_conformance.differential.play import Play
from kafkastub_conformance.differential.scenario import NO_CLIENT_ID
from kafkastub_conformance.differential.verbs import commit, fetch, join_fully, sync
from kafkastub_conformance.messages import versions
from tests.differential.scripts import G1, script

GROUP_APIS = (
    "OffsetCommit",
    "OffsetFetch",
    "FindCoordinator",
    "JoinGroup",
    "Heartbeat",
    "LeaveGroup",
    "SyncGroup",
    "DescribeGroups",
    "ListGroups",
    "DeleteGroups",
    "OffsetDelete",
)


@script("wire-trailing-bytes")
def trailing_bytes(play: Play) -> None:
    """Bytes behind a request are ignored."""
    play.ask("c1", "Heartbeat", 3, {"group_id": G1, "member_id": "m"}, after="00ff")
    play.ask("c1", "Heartbeat", 4, {"group_id": G1, "member_id": "m"}, after="0a")
    play.ask("c1", "ListGroups", 0, after="0102030405")
    play.ask("c1", "FindCoordinator", 2, {"key": G1}, after="00")
    play.ask("c1", "DescribeGroups", 5, {"groups": [G1]}, after="ffffffff")


@script("wire-unknown-versions")
def unknown_versions(play: Play) -> None:
    """A version that the broker does not know closes the connection, but for ApiVersions."""
    for api in GROUP_APIS:
        for version in (versions(api).stop, versions(api).start - 1, 32767):
            play.ask("c1", api, version, raw=[["hex", ""]])
    play.ask("c1", "ApiVersions", 99, raw=[["hex", "00"]])
    play.ask("c1", "Heartbeat", 3, {"group_id": G1, "member_id": "m"})


@script("wire-empty-body")
def empty_body(play: Play) -> None:
    """A request without a body."""
    for api in GROUP_APIS:
        for version in versions(api):
            play.ask("c1", api, version, raw=[["hex", ""]])


@script("wire-null-arrays")
def null_arrays(play: Play) -> None:
    """A null array where none is allowed, absurd counts, null and negative lengths of strings."""
    commit_head = [["str", G1], ["i32", -1], ["str", ""], ["i64", -1]]
    for count in (-1, -2, 2**31 - 1, 1):
        play.ask("c1", "OffsetCommit", 2, raw=[*commit_head, ["i32", count]])
        play.ask("c1", "OffsetFetch", 1, raw=[["str", G1], ["i32", count]])
        play.ask("c1", "OffsetFetch", 2, raw=[["str", G1], ["i32", count]])
        play.ask("c1", "DescribeGroups", 0, raw=[["i32", count]])
        play.ask("c1", "DeleteGroups", 0, raw=[["i32", count]])
        play.ask("c1", "OffsetDelete", 0, raw=[["str", G1], ["i32", count]])
        play.ask("c1", "LeaveGroup", 3, raw=[["str", G1], ["i32", count]])
        join_head = [["str", G1], ["i32", 300000], ["str", ""], ["str", "consumer"]]
        play.ask("c1", "JoinGroup", 0, raw=[*join_head, ["i32", count]])
        play.ask("c1", "SyncGroup", 0, raw=[["str", G1], ["i32", 1], ["str", "m"], ["i32", count]])
    for length in ("ffff", "fffe", "7fff", "8000"):
        play.ask("c1", "Heartbeat", 0, raw=[["hex", length], ["i32", 1], ["str", "m"]])
        play.ask("c1", "DescribeGroups", 0, raw=[["i32", 1], ["hex", length]])
        play.ask("c1", "DeleteGroups", 0, raw=[["i32", 1], ["hex", length]])
        play.ask("c1", "OffsetDelete", 0, raw=[["hex", length], ["i32", 0]])
    play.ask("c1", "Heartbeat", 0, raw=[["hex", "0002fffe"], ["i32", 1], ["str", "m"]])


@script("wire-null-arrays-compact")
def null_arrays_compact(play: Play) -> None:
    """The same in flexible versions, and tagged fields that nobody knows."""
    for count in ("00", "02", "ffffffff0f", "ffffffff7f", "808080808000"):
        play.ask("c1", "DeleteGroups", 2, raw=[["hex", count]])
        play.ask("c1", "DescribeGroups", 5, raw=[["hex", count]])
        play.ask("c1", "ListGroups", 4, raw=[["hex", count]])
        play.ask("c1", "LeaveGroup", 4, raw=[["cstr", G1], ["hex", count]])
        play.ask("c1", "OffsetFetch", 8, raw=[["hex", count]])
    for length in ("00", "ff7f"):
        play.ask("c1", "Heartbeat", 4, raw=[["hex", length], ["i32", 1], ["cstr", "m"], ["hex", "0000"]])
        play.ask("c1", "DescribeGroups", 5, raw=[["hex", "02"], ["hex", length], ["hex", "0000"]])
    beat = [["cstr", G1], ["i32", 1], ["cstr", "m"], ["hex", "00"]]
    for tags in ("0105026162", "02010161020162", "0105", "0105ff0f61", "ffffffff0f", "02050161050161"):
        play.ask("c1", "Heartbeat", 4, raw=[*beat, ["hex", tags]])


@script("wire-neighbours")
def neighbours(play: Play) -> None:
    """A connection that is closed for its garbage does not disturb the others."""
    commit(play, "c1", G1, [("t1", 0, 5)])
    play.ask("c2", "Heartbeat", 0, raw=[["hex", "ff"]])
    fetch(play, "c1", G1, None)
    play.ask("c2", "Heartbeat", 0, {"group_id": G1, "member_id": "m"})


@script("wire-client-ids", groups=tuple(f"<p>{number}-{version}" for number in range(4) for version in (3, 9)))
def client_ids(play: Play) -> None:
    """Answers to clients of any name."""
    for number, name in enumerate(("é", "a b", "x" * 60, NO_CLIENT_ID)):
        play.ask(name, "Heartbeat", 1, {"group_id": G1, "member_id": "m"})
        for version in (3, 9):
            joined = join_fully(play, name, f"<p>{number}-{version}", version)
            sync(play, name, f"<p>{number}-{version}", joined)


@script("wire-connection-reused")
def connection_reused(play: Play) -> None:
    """Every version of every group API on one connection, and again on a new one after it was closed."""
    for api in GROUP_APIS:
        for version in versions(api):
            if api not in ("JoinGroup", "SyncGroup"):
                play.ask("c1", api, version, {})
    play.close("c1")
    play.ask("c1", "ListGroups", 0)
