"""Members that leave, are thrown out, or lose their session. Kafka: consumerGroupLeave, consumerGroupFenceMembers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from kafkastub.coordinator.consumer.context import ConsumerContext
from kafkastub.coordinator.consumer.group import ConsumerGroup
from kafkastub.coordinator.consumer.member import NOTHING, ConsumerMember
from kafkastub.coordinator.consumer.records import ConsumerGroupMetadata, ConsumerGroupRegularExpression
from kafkastub.coordinator.consumer.timers import MemberTimers
from kafkastub.coordinator.modern.membership import LEAVE_GROUP_STATIC_MEMBER_EPOCH
from kafkastub.coordinator.modern.watching import Watching
from kafkastub.coordinator.records import Record, Tombstone
from kafkastub.coordinator.turn import Turn
from kafkawire.errors import KafkaError


class Fencing(Watching[ConsumerGroup, MemberTimers]):
    """Takes members out of groups, and watches over their deadlines.

    Attributes:
        downgrade: makes a classic group of one of which these members leave, where all others are classic; whether it
            has. Raises what speaks against it.
    """

    __slots__ = ("downgrade",)

    def __init__(self, context: ConsumerContext) -> None:
        super().__init__(context, MemberTimers)
        self.downgrade: Callable[[ConsumerGroup, Collection[str], Turn], bool] = lambda group, leaving, turn: False

    def _left_for_a_while(self, member: ConsumerMember) -> ConsumerMember:
        assigned = {topic_id: dict.fromkeys(some, 0) for topic_id, some in member.assigned.items()}
        epoch = LEAVE_GROUP_STATIC_MEMBER_EPOCH
        return replace(member, member_epoch=epoch, assigned=assigned, pending_revocation=NOTHING)

    def fence_one(self, group: ConsumerGroup, member: ConsumerMember, turn: Turn) -> None:
        """Take a member out; see `fence`."""
        self.fence(group, [member], turn)

    def fence(self, group: ConsumerGroup, members: Sequence[ConsumerMember], turn: Turn) -> None:
        """Take members out; the group's epoch is raised once for all of them, or the group becomes classic.

        Raises what speaks against that; then nothing has happened.
        """
        if members and not self.downgrade(group, [member.member_id for member in members], turn):
            self._remove(group, members, turn)

    def _remove(self, group: ConsumerGroup, members: Sequence[ConsumerMember], turn: Turn) -> None:
        group_id, counts = group.group_id, group.subscriptions.after(members, None)
        used = dict.fromkeys(member.subscribed_topic_regex for member in members)
        more: list[Record] = [
            Tombstone(ConsumerGroupRegularExpression, group_id, regex)
            for regex in used
            if regex and regex not in counts.expressions
        ]
        metadata_hash = self.context.topics.metadata_hash(counts.names)
        more.append(ConsumerGroupMetadata(group_id, group.epoch + 1, metadata_hash))
        self.context.remove(group, [member.member_id for member in members], more, turn)

    def _take_out(self, group: ConsumerGroup, member: ConsumerMember, turn: Turn) -> None:
        try:
            self.fence(group, [member], turn)
        except KafkaError:  # it cannot become classic: nobody is there to be told
            self._remove(group, [member], turn)
