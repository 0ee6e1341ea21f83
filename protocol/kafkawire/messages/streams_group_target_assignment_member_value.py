"""StreamsGroupTargetAssignmentMemberValue (key 21), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class TaskIds(Struct):
    __slots__ = ("subtopology_id", "partitions")
    FIELDS = (
        ("subtopology_id", "string", (0, 0), None, None, None),
        ("partitions", "[]int32", (0, 0), None, None, None),
    )

    def __init__(
        self,
        subtopology_id: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions = partitions


class StreamsGroupTargetAssignmentMemberValue(Message):
    __slots__ = ("active_tasks", "standby_tasks", "warmup_tasks")
    API_KEY = 21
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("active_tasks", "[]TaskIds", (0, 0), None, None, None),
        ("standby_tasks", "[]TaskIds", (0, 0), None, None, None),
        ("warmup_tasks", "[]TaskIds", (0, 0), None, None, None),
    )

    def __init__(
        self,
        active_tasks: Sequence[TaskIds] = (),
        standby_tasks: Sequence[TaskIds] = (),
        warmup_tasks: Sequence[TaskIds] = (),
    ) -> None:
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
