"""Requests about streams groups (KIP-1071) for the ACL matrix. None of them changes what another one is answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from kafkawire.api import ApiKey
from kafkawire.messages.streams_group_describe_request import StreamsGroupDescribeRequest
from kafkawire.messages.streams_group_heartbeat_request import (
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TaskIds,
    TopicInfo,
    Topology,
)
from kafkawire.messages.streams_group_topology_description_update_request import (
    StreamsGroupTopologyDescriptionUpdateRequest,
)
from kafkawire.schema import Message
from tests.waiting import until

FLOW: Final = "flow"
"""A streams group with a member, whose topology has both of the topics that exist."""
_INTERNAL: Final = "__consumer_offsets"
_NO_NAME: Final = "no/name"

Asked = tuple[str, ApiKey, int, Message]


def begin_flow(ask: Callable[[ApiKey, int, Message], Any], seen: str, other: str) -> None:
    """Make `FLOW`: its member has its tasks, and is silent from then on."""
    subtopologies = [Subtopology(name, [topic]) for name, topic in (("0", seen), ("1", other))]
    joined: Any = None

    def joins() -> bool:
        nonlocal joined
        beat = _beat(0, [], rebalance_timeout_ms=3_600_000, topology=Topology(1, subtopologies))
        joined = ask(ApiKey.STREAMS_GROUP_HEARTBEAT, 1, beat)
        return not joined.error_code and len(joined.active_tasks) == 2

    until(joins, "tasks of a streams group")
    beat = _beat(joined.member_epoch, [TaskIds(name, [0]) for name in ("0", "1")])
    assert not ask(ApiKey.STREAMS_GROUP_HEARTBEAT, 1, beat).error_code


def _beat(epoch: int, tasks: list[TaskIds], **more: Any) -> StreamsGroupHeartbeatRequest:
    owned: dict[str, Any] = {"active_tasks": tasks, "standby_tasks": [], "warmup_tasks": []}
    return StreamsGroupHeartbeatRequest(FLOW, "steady", epoch, process_id="p", **owned, **more)


def streams_requests(seen: str, other: str, gone: str, of_another_type: str) -> Iterator[Asked]:
    """Title, API, version and request.

    Args:
        seen: as `other`, a topic that exists; `gone` does not.
        of_another_type: a group that is no streams group.
    """
    for group in ("none", of_another_type, FLOW, ""):
        beat = StreamsGroupHeartbeatRequest(group, "nobody", 5)
        yield f"streams heartbeat to '{group}'", ApiKey.STREAMS_GROUP_HEARTBEAT, 1, beat
    for title, one in (
        ("sources", Subtopology("0", [seen, other, gone])),
        ("a sink", Subtopology("0", [other], repartition_sink_topics=[seen])),
        ("a repartition topic", Subtopology("0", [], repartition_source_topics=[TopicInfo(seen)])),
        ("a changelog", Subtopology("0", [other], state_changelog_topics=[TopicInfo(seen)])),
        ("a regular expression", Subtopology("0", [seen], ["s.*"])),
        ("a topic of the broker", Subtopology("0", [seen, _INTERNAL])),
        ("a name that cannot be", Subtopology("0", [_NO_NAME, seen])),
        ("no topics", Subtopology("0")),
    ):
        for version in (0, 1):  # without a rebalance timeout, so that nobody becomes a member
            beat = StreamsGroupHeartbeatRequest("none", "nobody", topology=Topology(1, [one]))
            yield f"streams heartbeat {version} with {title}", ApiKey.STREAMS_GROUP_HEARTBEAT, version, beat
    groups = [FLOW, "none", "", of_another_type, FLOW]
    for version in (0, 1):
        for with_operations in (False, True):
            told = StreamsGroupDescribeRequest(groups, with_operations, version > 0)
            title = f"streams describe {version}{' with operations' if with_operations else ''}"
            yield title, ApiKey.STREAMS_GROUP_DESCRIBE, version, told
    for group in ("none", FLOW, ""):
        said = StreamsGroupTopologyDescriptionUpdateRequest(group, "nobody", 1)
        yield f"streams description of '{group}'", ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE, 0, said
