"""Streams groups: members run the tasks of one topology, which the group knows of (KIP-1071)."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkastub.config import BrokerConfig
    from kafkastub.coordinator.groups import Groups
    from kafkastub.coordinator.streams.groups import StreamsGroups


def make(groups: Groups, config: BrokerConfig, random: Random) -> StreamsGroups:
    """The type, for a coordinator that is asked for it."""
    from kafkastub.coordinator.streams.groups import StreamsGroups
    from kafkastub.coordinator.streams.settings import StreamsGroupSettings

    return StreamsGroups(groups, StreamsGroupSettings.of(config))
