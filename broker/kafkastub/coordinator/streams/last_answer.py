"""What a heartbeat that changed nothing was answered; see `unchanged_heartbeat`."""

from __future__ import annotations

from typing import NamedTuple

from kafkastub.coordinator.modern.settings import StreamsGroupSettings
from kafkastub.coordinator.streams.configured import ConfiguredTopology
from kafkastub.coordinator.streams.member import StreamsMember
from kafkastub.coordinator.streams.records import StreamsGroupMetadata
from kafkastub.coordinator.streams.topology import Topology
from kafkawire.messages.streams_group_heartbeat_response import StreamsGroupHeartbeatResponse


class LastAnswer(NamedTuple):
    """What a heartbeat that changed nothing was answered, and all that the answer depends on.

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
