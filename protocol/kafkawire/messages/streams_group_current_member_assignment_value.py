"""StreamsGroupCurrentMemberAssignmentValue (key 22), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class TaskIds(Struct):
    __slots__ = ("subtopology_id", "partitions", "assignment_epochs")
    FIELDS = (
        ("subtopology_id", "string", (0, 0), None, None, None),
        ("partitions", "[]int32", (0, 0), None, None, None),
        ("assignment_epochs", "[]int32", (0, 0), (0, 0), 0, (0, 0)),
    )

    def __init__(
        self,
        subtopology_id: str = "",
        partitions: Sequence[int] = (),
        assignment_epochs: Sequence[int] | None = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions = partitions
        self.assignment_epochs = assignment_epochs


class StreamsGroupCurrentMemberAssignmentValue(Message):
    __slots__ = ("member_epoch", "previous_member_epoch", "state", "active_tasks", "standby_tasks", "warmup_tasks", "active_tasks_pending_revocation", "standby_tasks_pending_revocation", "warmup_tasks_pending_revocation")
    API_KEY = 22
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("member_epoch", "int32", (0, 0), None, None, None),
        ("previous_member_epoch", "int32", (0, 0), None, None, None),
        ("state", "int8", (0, 0), None, None, None),
        ("active_tasks", "[]TaskIds", (0, 0), None, None, None),
        ("standby_tasks", "[]TaskIds", (0, 0), None, None, None),
        ("warmup_tasks", "[]TaskIds", (0, 0), None, None, None),
        ("active_tasks_pending_revocation", "[]TaskIds", (0, 0), None, None, None),
        ("standby_tasks_pending_revocation", "[]TaskIds", (0, 0), None, None, None),
        ("warmup_tasks_pending_revocation", "[]TaskIds", (0, 0), None, None, None),
    )

    def __init__(
        self,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        active_tasks: Sequence[TaskIds] = (),
        standby_tasks: Sequence[TaskIds] = (),
        warmup_tasks: Sequence[TaskIds] = (),
        active_tasks_pending_revocation: Sequence[TaskIds] = (),
        standby_tasks_pending_revocation: Sequence[TaskIds] = (),
        warmup_tasks_pending_revocation: Sequence[TaskIds] = (),
    ) -> None:
        self.member_epoch = member_epoch
        self.previous_member_epoch = previous_member_epoch
        self.state = state
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.active_tasks_pending_revocation = active_tasks_pending_revocation
        self.standby_tasks_pending_revocation = standby_tasks_pending_revocation
        self.warmup_tasks_pending_revocation = warmup_tasks_pending_revocation
