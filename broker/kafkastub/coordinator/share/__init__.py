"""Share groups: members share partitions, and records are delivered to one of them at a time (KIP-932).

Who is in a group and which partitions each member reads from. What is delivered to whom is not here: see
`share_partitions`.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkastub.config import BrokerConfig
    from kafkastub.coordinator.groups import Groups
    from kafkastub.coordinator.share.groups import ShareGroups


def make(groups: Groups, config: BrokerConfig, random: Random) -> ShareGroups:
    """The type, for a coordinator that is asked for it."""
    from kafkastub.coordinator.share.groups import ShareGroups
    from kafkastub.coordinator.share.settings import ShareGroupSettings

    return ShareGroups(groups, ShareGroupSettings.of(config))
