"""What simulated clients say, in short: one function a request, with the body that a plain client would send.

Each takes the play, the connection (client id) and what matters; every other field by its name, as keyword. Bodies may
hold fields which a version lacks: the codec leaves them out.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.names import topic_name
from kafkastub_conformance.differential.play import Play

SESSION_MS = 300000
"""Longer than any scenario: nobody falls out while it runs."""


def topic_id(topic: str) -> str:
    """A topic's id, by its name in the scenario."""
    return f"<{topic_name(topic)}>"


def subscription(*topics: str, user_data: bytes | None = b"", version: int = 0, behind: bytes = b"") -> str:
    """A consumer's subscription (ConsumerProtocol) as hexadecimal text, `behind` what follows version 0's fields."""
    out = struct.pack(">hi", version, len(topics))
    for topic in topics:
        out += struct.pack(">h", len(topic)) + topic.encode()
    out += struct.pack(">i", -1) if user_data is None else struct.pack(">i", len(user_data)) + user_data
    return (out + behind).hex()


def assignment(topic: str, *partitions: int, version: int = 0) -> str:
    """A consumer's assignment of one topic (ConsumerProtocol) as hexadecimal text."""
    out = struct.pack(">hih", version, 1, len(topic)) + topic.encode() + struct.pack(">i", len(partitions))
    return (out + b"".join(struct.pack(">i", one) for one in partitions) + struct.pack(">i", 0)).hex()


def protocols(*names: str, metadata: str | None = None) -> list[Json]:
    """Protocols of a JoinGroup request, all with the same metadata: by default a subscription of t1."""
    return [{"name": name, "metadata": subscription("t1") if metadata is None else metadata} for name in names]


def join(play: Play, on: str, group: str, version: int = 9, member: str = "", **more: Json) -> Json:
    """JoinGroup: a consumer that subscribes t1 and knows `range`."""
    body: dict[str, Json] = {
        "group_id": group,
        "session_timeout_ms": SESSION_MS,
        "rebalance_timeout_ms": SESSION_MS,
        "member_id": member,
        "protocol_type": "consumer",
        "protocols": protocols("range"),
    }
    return play.ask(on, "JoinGroup", version, body | more)


def join_fully(play: Play, on: str, group: str, version: int = 9, **more: Json) -> Json:
    """JoinGroup as a new member, a second time with the member id where that is required (KIP-394).

    The last answer, or None where it is parked.
    """
    answer = join(play, on, group, version, **more)
    if answer is not None and answer.get("error_code") == 79:
        answer = join(play, on, group, version, answer["member_id"], **more)
    return answer


def sync(play: Play, on: str, group: str, joined: Json, version: int = 5, **more: Json) -> Json:
    """SyncGroup of a member that got the JoinGroup answer `joined`; the leader assigns t1-0 to every member."""
    body: dict[str, Json] = {
        "group_id": group,
        "generation_id": joined.get("generation_id", -1),
        "member_id": joined.get("member_id", ""),
        "protocol_type": "consumer",
        "protocol_name": joined.get("protocol_name", ""),
        "assignments": [
            {"member_id": member["member_id"], "assignment": assignment("t1", number)}
            for number, member in enumerate(joined.get("members", ()))
        ],
    }
    return play.ask(on, "SyncGroup", version, body | more)


def heartbeat(play: Play, on: str, group: str, joined: Json, version: int = 4, **more: Json) -> Json:
    """Heartbeat of a member that got the JoinGroup answer `joined`."""
    body = {"group_id": group, "generation_id": joined.get("generation_id", -1), "member_id": joined["member_id"]}
    return play.ask(on, "Heartbeat", version, body | more)


def leave(play: Play, on: str, group: str, *members: str, version: int = 5, **more: Json) -> Json:
    """LeaveGroup of the members with these ids; below version 3 of the first."""
    body: dict[str, Json] = {"group_id": group}
    if version < 3:
        body["member_id"] = members[0]
    else:
        body["members"] = [{"member_id": member} for member in members]
    return play.ask(on, "LeaveGroup", version, body | more)


def commit(
    play: Play, on: str, group: str, offsets: Sequence[tuple[str, int, int]], version: int = 9, **more: Json
) -> Json:
    """OffsetCommit of (topic, partition, offset), as a simple consumer; entries of one topic are kept together."""
    topics: list[Json] = []
    for topic, partition, offset in offsets:
        if not topics or topics[-1]["name"] != topic:
            topics.append({"name": topic, "topic_id": topic_id(topic), "partitions": []})
        topics[-1]["partitions"].append({"partition_index": partition, "committed_offset": offset})
    return play.ask(on, "OffsetCommit", version, {"group_id": group, "topics": topics} | more)


def as_member(joined: Json) -> dict[str, Json]:
    """What an OffsetCommit says of its member, from the member's JoinGroup answer."""
    return {"member_id": joined["member_id"], "generation_id_or_member_epoch": joined["generation_id"]}


def fetch(play: Play, on: str, group: str, topics: dict[str, list[int]] | None, version: int = 9, **more: Json) -> Json:
    """OffsetFetch of {topic: partitions} of one group, or of everything (None)."""
    asked = None
    if topics is not None:
        asked = [
            {"name": topic, "partition_indexes": partitions} | ({"topic_id": topic_id(topic)} if version >= 8 else {})
            for topic, partitions in topics.items()
        ]
    if version >= 8:
        return play.ask(on, "OffsetFetch", version, {"groups": [{"group_id": group, "topics": asked}]} | more)
    return play.ask(on, "OffsetFetch", version, {"group_id": group, "topics": asked} | more)


def offset_delete(play: Play, on: str, group: str, topics: dict[str, list[int]]) -> Json:
    """OffsetDelete of {topic: partitions}."""
    asked = [
        {"name": topic, "partitions": [{"partition_index": one} for one in partitions]}
        for topic, partitions in topics.items()
    ]
    return play.ask(on, "OffsetDelete", 0, {"group_id": group, "topics": asked})


def delete_groups(play: Play, on: str, *groups: str, version: int = 2) -> Json:
    """DeleteGroups."""
    return play.ask(on, "DeleteGroups", version, {"groups_names": list(groups)})


def describe_groups(play: Play, on: str, *groups: str, version: int = 6, **more: Json) -> Json:
    """DescribeGroups."""
    return play.ask(on, "DescribeGroups", version, {"groups": list(groups)} | more)


def list_groups(play: Play, on: str, version: int = 5, **more: Json) -> Json:
    """ListGroups; filters as keywords."""
    return play.ask(on, "ListGroups", version, dict(more))


def find_coordinator(play: Play, on: str, *keys: str, version: int = 6, **more: Json) -> Json:
    """FindCoordinator of groups; below version 4 of the first."""
    body: dict[str, Json] = {"key": keys[0] if keys else ""} if version < 4 else {"coordinator_keys": list(keys)}
    return play.ask(on, "FindCoordinator", version, body | more)


def create_topic(play: Play, on: str, topic: str, partitions: int) -> None:
    """CreateTopics, and wait until Metadata has its leaders: Kafka answers before its brokers know."""
    asked = [{"name": topic, "num_partitions": partitions, "replication_factor": 1}]
    play.ask(on, "CreateTopics", 5, {"topics": asked, "timeout_ms": 30000})
    play.poll(on, "Metadata", 12, {"topics": [{"name": topic}]}, lambda answer: not _has_error(answer))


def delete_topic(play: Play, on: str, topic: str) -> None:
    """DeleteTopics, and wait until Metadata does not know it any more."""
    play.ask(on, "DeleteTopics", 5, {"topic_names": [topic], "timeout_ms": 30000})
    play.poll(on, "Metadata", 12, {"topics": [{"name": topic}]}, _has_error)


def _has_error(metadata: Json) -> bool:
    return "error_code" in str(metadata)
