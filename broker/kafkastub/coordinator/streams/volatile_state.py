"""What of a streams group is in no record, and is lost on a reload.

Kafka makes a new group's first heartbeat on an object of its own, and another one of the records: so the same is lost
after the first heartbeat of a group, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kafkastub.coordinator.streams.configured import ConfiguredTopology
from kafkastub.coordinator.streams.member import StreamsMember
from kafkastub.coordinator.streams.offsets import NO_TASK_OFFSETS, MemberTaskOffsets
from kafkastub.coordinator.streams.records import StreamsGroupMetadata
from kafkastub.coordinator.streams.settings import StreamsGroupSettings
from kafkastub.coordinator.streams.tasks import TasksTuple
from kafkastub.coordinator.streams.topology import Topology
from kafkawire.messages.streams_group_heartbeat_response import EndpointToPartitions, StreamsGroupHeartbeatResponse


class LastAnswer(NamedTuple):
    """What a heartbeat that changed nothing was answered, and all that it depends on; see `unchanged_heartbeat`.

    Attributes:
        target_version: of the group's target …
        refined_version: … and of the one that was taken down as what members go towards.
    """

    response: StreamsGroupHeartbeatResponse
    version: int
    member: StreamsMember
    metadata: StreamsGroupMetadata
    topology: Topology
    configured: ConfiguredTopology
    settings: StreamsGroupSettings
    target_epoch: int
    target_version: int
    refined_version: int | None


class VolatileState:
    """What members said and were told.

    Attributes:
        last_answers: what heartbeats that changed nothing were answered, by member id.
        refined_version: of the group's target, where that is what `refined` gives; else None.
        published: the topology beside the topics for those who only read: as it was when something was last written.
        task_offsets: by member id.
        endpoint_epoch: raised where a member with an endpoint has other tasks, or another endpoint.
        endpoints: where the tasks of members are, as last told, by member id.
        shutdown_by: the member that wants the whole application to end; None where nobody does.
    """

    __slots__ = (
        "_configured",
        "_refined",
        "endpoint_epoch",
        "endpoints",
        "last_answers",
        "published",
        "refined_version",
        "shutdown_by",
        "task_offsets",
    )

    def __init__(self) -> None:
        self._configured: ConfiguredTopology | None = None
        self.published: ConfiguredTopology | None = None
        self._refined: tuple[int, dict[str, TasksTuple]] = (-1, {})
        self.refined_version: int | None = None
        self.last_answers: dict[str, LastAnswer] = {}
        self.task_offsets: dict[str, MemberTaskOffsets] = {}
        self.endpoint_epoch = 0
        self.endpoints: dict[str, EndpointToPartitions] = {}
        self.shutdown_by: str | None = None

    @property
    def configured(self) -> ConfiguredTopology | None:
        """The topology beside the topics, as the last heartbeat that looked found it."""
        return self._configured

    @configured.setter
    def configured(self, configured: ConfiguredTopology) -> None:
        self._configured = configured
        self.endpoints.clear()

    def publish(self) -> None:
        """Something was written: what is known now can be read."""
        self.published = self._configured

    def offsets_of(self, member_id: str) -> MemberTaskOffsets:
        """What a member said of its tasks."""
        return self.task_offsets.get(member_id, NO_TASK_OFFSETS)

    def ask_for_shutdown(self, member_id: str) -> None:
        """The first one who asks is told of."""
        if self.shutdown_by is None:
            self.shutdown_by = member_id

    def forget(self, member_id: str) -> None:
        """A member is gone."""
        self.last_answers.pop(member_id, None)
        self.task_offsets.pop(member_id, None)
        self.endpoints.pop(member_id, None)

    def saved(self) -> tuple[Any, ...]:
        """For `put_back`."""
        found = (getattr(self, name) for name in self.__slots__)
        return tuple(dict(one) if isinstance(one, dict) else one for one in found)

    def put_back(self, saved: tuple[Any, ...]) -> None:
        """All is again as it was saved."""
        for name, one in zip(self.__slots__, saved, strict=True):
            setattr(self, name, one)

    # -- the target on the way ----------------------------------------------------------------------------------

    def refined(self, epoch: int) -> Mapping[str, TasksTuple] | None:
        """What members go towards until the target of that epoch can be had; None where it was not looked at."""
        return self._refined[1] if self._refined[0] == epoch else None

    def refine(self, epoch: int, tasks: Mapping[str, TasksTuple], version: int | None) -> None:
        """It was looked at.

        Args:
            version: of the group's target, where that is what these tasks are; with the same one, they are the same.
        """
        if version is None or (epoch, version) != (self._refined[0], self.refined_version):
            self._refined, self.refined_version = (epoch, dict(tasks)), version

    def relabel(self, old: str, new: str) -> None:
        """A static member has another id by now. Kafka: relabelRefinedAssignment."""
        epoch, tasks = self._refined
        if old in tasks:
            tasks = dict(tasks)
            tasks[new] = tasks.pop(old)
            self._refined, self.refined_version = (epoch, tasks), None
