"""Groups of the consumer protocol (KIP-848): members told by heartbeats what is theirs, epochs instead of generations.

`groups.ConsumerGroups` is the face. Nothing here is loaded before it is needed: by the first such request, or by a
record of such a group.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkastub.config import BrokerConfig
    from kafkastub.coordinator.consumer.groups import ConsumerGroups
    from kafkastub.coordinator.groups import Groups


def make(groups: Groups, config: BrokerConfig, random: Random) -> ConsumerGroups:
    """The type, for a coordinator that is asked for it."""
    from kafkastub.coordinator.classic.groups import ClassicGroups
    from kafkastub.coordinator.consumer import migration
    from kafkastub.coordinator.consumer.groups import ConsumerGroups
    from kafkastub.coordinator.consumer.settings import ConsumerSettings

    made = ConsumerGroups(groups, ConsumerSettings.of(config), random)
    classic = groups.simple
    assert isinstance(classic, ClassicGroups)
    migration.connect(made, classic)
    return made
