"""Groups that go from the classic protocol to the new one and back, with their members (KIP-848, migration).

`upgrade` and `downgrade` say whether and into what; here it happens. Kafka: GroupMetadataManager
(convertToConsumerGroup, convertToClassicGroup).
"""

from __future__ import annotations

from collections.abc import Collection

from kafkastub.coordinator.classic.group import ClassicGroup
from kafkastub.coordinator.classic.groups import ClassicGroups
from kafkastub.coordinator.consumer.context import ConsumerContext
from kafkastub.coordinator.consumer.downgrade import downgraded, downgrades_with, downgrades_without
from kafkastub.coordinator.consumer.fencing import Fencing
from kafkastub.coordinator.consumer.group import ConsumerGroup
from kafkastub.coordinator.consumer.member import ConsumerMember
from kafkastub.coordinator.consumer.upgrade import check_upgrade, upgrade_records, upgraded_members
from kafkastub.coordinator.group import Group
from kafkastub.coordinator.records import Record
from kafkastub.coordinator.turn import Turn


class Conversions:
    """Converts groups.

    Args:
        classic: the groups of the classic protocol.
    """

    __slots__ = ("classic", "context", "fencing")

    def __init__(self, context: ConsumerContext, fencing: Fencing, classic: ClassicGroups) -> None:
        self.context = context
        self.fencing = fencing
        self.classic = classic

    # -- to a consumer group -------------------------------------------------------------------------------------

    def upgrade(self, group: Group, records: list[Record], turn: Turn) -> ConsumerGroup:
        """The consumer group that a classic group with members becomes once these records are written.

        Its members' sessions count from now on. Raises what `check_upgrade` raises, then nothing has happened; and
        what `upgraded_members` raises, then whoever is parked has been told to join again, as in Kafka.
        """
        assert isinstance(group, ClassicGroup)
        check_upgrade(group, self.context.settings)
        self.classic.send_away(group, turn)
        members = upgraded_members(group, self.context.image)
        names = dict.fromkeys(name for member in members for name in member.subscribed_topic_names)
        metadata_hash = self.context.topics.metadata_hash(names)
        upgraded = self.context.new(group.group_id)
        made = upgrade_records(group.group_id, group.generation, members, metadata_hash)
        for record in made:
            upgraded.apply(record)
        for member in members:
            assert member.classic is not None
            self.fencing.arm_session(upgraded, member.member_id, member.classic.session_timeout_ms, turn.timer_ms)
        records += group.tombstones()
        records += made
        return upgraded

    # -- to a classic group --------------------------------------------------------------------------------------

    def after_leaving(self, group: ConsumerGroup, leaving: Collection[str], turn: Turn) -> bool:
        """Members leave: where only classic ones stay, the group becomes classic, and they rebalance.

        Whether it has. Raises what `downgraded` raises; then nothing has happened.
        """
        if not downgrades_without(group, leaving, self._policy, self._classic_max_size):
            return False
        prospect = downgraded(group, leaving, None, self.classic, self.context.image, turn)
        self._give_way(group, prospect, True, turn)
        return True

    def is_last(self, replaced: ConsumerMember, group: ConsumerGroup) -> bool:
        """Whether the group becomes classic once a classic member has taken the place of this static one."""
        return downgrades_with(group, replaced, self._policy, self._classic_max_size)

    def after_replacing(
        self, group: ConsumerGroup, joining: ConsumerMember, rebalance: bool, records: list[Record], turn: Turn
    ) -> None:
        """A classic member has taken the place of the last one of the new protocol: these records, and the rest.

        Raises as `after_leaving`.
        """
        prospect = downgraded(group, (), joining, self.classic, self.context.image, turn)
        self.context.write(group, records, turn)
        self._give_way(group, prospect, rebalance, turn)

    def _give_way(self, group: ConsumerGroup, prospect: ClassicGroup, rebalance: bool, turn: Turn) -> None:
        self.context.write(group, group.tombstones(), turn)
        self.classic.take_over(prospect, rebalance, turn)

    @property
    def _policy(self) -> str:
        return self.context.settings.migration_policy

    @property
    def _classic_max_size(self) -> int:
        return self.context.groups.settings.max_size
