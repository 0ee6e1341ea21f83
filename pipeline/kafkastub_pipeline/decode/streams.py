"""What the records of streams groups (KIP-1071) say, one by one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from kafkawire.messages.streams_group_current_member_assignment_value import StreamsGroupCurrentMemberAssignmentValue
from kafkawire.messages.streams_group_member_metadata_value import StreamsGroupMemberMetadataValue
from kafkawire.messages.streams_group_metadata_value import StreamsGroupMetadataValue
from kafkawire.messages.streams_group_target_assignment_member_value import StreamsGroupTargetAssignmentMemberValue
from kafkawire.messages.streams_group_target_assignment_metadata_value import StreamsGroupTargetAssignmentMetadataValue
from kafkawire.messages.streams_group_topology_value import StreamsGroupTopologyValue
from kafkawire.schema import Message

STATES: Final = {1: "STABLE", 2: "UNREVOKED_TASKS", 3: "UNRELEASED_TASKS"}
"""Kafka: streams.MemberState; any other number is UNKNOWN."""
_ROLES: Final = ("active", "standby", "warmup")


def take_streams(found: dict[str, Any], message: Message) -> None:
    """The columns of a value, where it is of a streams group."""
    if isinstance(message, StreamsGroupMetadataValue):
        found["modern"] = {"epoch": message.epoch}
    elif isinstance(message, StreamsGroupTargetAssignmentMetadataValue):
        found["modern"] = {"epoch": message.assignment_epoch}
    elif isinstance(message, StreamsGroupTopologyValue):
        found["topics"] = _sources(message)
        found["modern"] = {"epoch": message.epoch}
    elif isinstance(message, StreamsGroupMemberMetadataValue):
        found["modern"] = {
            "client": {
                "group_instance_id": message.instance_id,
                "client_id": message.client_id,
                "client_host": message.client_host,
                "rack_id": message.rack_id,
                "rebalance_timeout_ms": message.rebalance_timeout_ms,
                "process_id": message.process_id,
            }
        }
    elif isinstance(message, StreamsGroupTargetAssignmentMemberValue):
        some = message.active_tasks, message.standby_tasks, message.warmup_tasks
        found["modern"] = {"tasks": _tasks(some)}
    elif isinstance(message, StreamsGroupCurrentMemberAssignmentValue):
        has = message.active_tasks, message.standby_tasks, message.warmup_tasks
        leaves = (
            message.active_tasks_pending_revocation,
            message.standby_tasks_pending_revocation,
            message.warmup_tasks_pending_revocation,
        )
        found["modern"] = {
            "epoch": message.member_epoch,
            "member_state": STATES.get(message.state, "UNKNOWN"),
            "tasks": _tasks(has),
            "pending_tasks": _tasks(leaves),
        }


def _sources(topology: StreamsGroupTopologyValue) -> list[str]:
    """What the application reads, whether it is its own or not: offsets of these are kept while it has members."""
    own = (topic.name for one in topology.subtopologies for topic in one.repartition_source_topics)
    return sorted({*own, *(topic for one in topology.subtopologies for topic in one.source_topics)})


def _tasks(of_roles: Iterable[Iterable[Any]]) -> list[dict[str, Any]]:
    return [
        {
            "role": role,
            "subtopology": one.subtopology_id,
            "partitions": list(one.partitions),
            "epochs": list(getattr(one, "assignment_epochs", None) or ()) or None,
        }
        for role, some in zip(_ROLES, of_roles, strict=True)
        for one in some
    ]
