"""How a member gets from what it has to its target, one heartbeat after the other. Kafka: CurrentAssignmentBuilder.

    state                 meaning                                   leaves it when
    --------------------  ----------------------------------------  -------------------------------------------------
    STABLE                it has what its target of its epoch says  there is a newer target, or its topics are others
    UNREVOKED_PARTITIONS  it still has partitions that it has to    a heartbeat tells its partitions, without these
                          let go of, and stays in its old epoch
    UNRELEASED_PARTITIONS it is in the target's epoch, and others   a heartbeat that finds them let go of
                          still have some of its partitions
    UNKNOWN               a newer broker wrote a state that this    a heartbeat that tells no partitions at all
                          one does not know

Nobody is given a partition before whoever had it has said that it is let go of, or is gone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from kafkastub.coordinator.consumer.member import NOTHING, ConsumerMember, MemberState
from kafkastub.coordinator.consumer.owners import Owners
from kafkastub.coordinator.consumer.records import EpochsOfPartitions
from kafkastub.coordinator.modern.assignment import Assignment
from kafkawire.errors import ErrorCode, KafkaError

_NO_PARTITIONS: frozenset[int] = frozenset()
_NO_EPOCHS: Mapping[int, int] = {}


class OwnedPartitions(Protocol):
    """What a heartbeat says that its member has of one topic; the struct of the request is one."""

    @property
    def topic_id(self) -> bytes: ...

    @property
    def partitions(self) -> Sequence[int]: ...


ReportedPartitions = Sequence[OwnedPartitions] | None
"""What a member says that it owns; None where it says nothing, as most heartbeats do."""


class Reconciliation(NamedTuple):
    """What a member is reconciled with.

    Attributes:
        topic_ids: what it subscribes to, of the topics that exist.
        subscribes: whether it subscribes to anything, be it to topics that do not exist.
        subscription_changed: in this very heartbeat.
        reported: the partitions that the member says it has; None where it does not say.
    """

    target_epoch: int
    target: Assignment
    topic_ids: Collection[bytes]
    subscribes: bool
    owners: Owners
    subscription_changed: bool
    reported: ReportedPartitions

    def next(self, member: ConsumerMember) -> ConsumerMember:
        """The member as it is after this heartbeat. Raises FENCED_MEMBER_EPOCH."""
        state = member.state
        if state is MemberState.STABLE:
            if member.member_epoch != self.target_epoch:
                return self._towards_target(member, member.member_epoch)
            return self._within_subscription(member) if self.subscription_changed else member
        if state is MemberState.UNREVOKED_PARTITIONS:
            if self._has_any(member.pending_revocation):
                return self._within_subscription(member) if self.subscription_changed else member
            return self._towards_target(member, member.member_epoch)
        if state is MemberState.UNRELEASED_PARTITIONS:
            return self._towards_target(member, member.member_epoch)
        if self.reported is None or self.reported:
            raise KafkaError(
                ErrorCode.FENCED_MEMBER_EPOCH,
                "The consumer group member is in a unknown state. "
                "The member must abandon all its partitions and rejoin.",
            )
        return self._towards_target(member, self.target_epoch)

    def _has_any(self, partitions: EpochsOfPartitions) -> bool:
        """Whether the member may still have one of these, for all that it says."""
        if self.reported is None:
            return True
        for topic in self.reported:
            of_topic = partitions.get(topic.topic_id, _NO_EPOCHS)
            if of_topic and any(partition in of_topic for partition in topic.partitions):
                return True
        return False

    def _within_subscription(self, member: ConsumerMember) -> ConsumerMember:
        """Take away what it does not subscribe to any more, though there is no new target yet."""
        kept = {topic_id: some for topic_id, some in member.assigned.items() if topic_id in self.topic_ids}
        if len(kept) == len(member.assigned) and (self.subscribes or member.pending_revocation):
            return member
        before = member.pending_revocation
        lost = {
            topic_id: {**before.get(topic_id, _NO_EPOCHS), **some}
            for topic_id, some in member.assigned.items()
            if topic_id not in kept
        }
        pending = _put_in_front(lost, before) if self.subscribes or before else lost
        state = MemberState.UNREVOKED_PARTITIONS if pending and self._has_any(pending) else member.state
        return replace(
            member,
            state=state,
            previous_member_epoch=member.member_epoch,
            assigned=kept,
            pending_revocation=pending if state is MemberState.UNREVOKED_PARTITIONS else member.pending_revocation,
        )

    def _towards_target(self, member: ConsumerMember, epoch: int) -> ConsumerMember:
        """As far as it gets: `epoch` is the one that it stays in while it has to let go of something."""
        keeps: dict[bytes, Mapping[int, int]] = {}
        loses: dict[bytes, Mapping[int, int]] = {}
        gets: dict[bytes, list[int]] = {}
        waits = False
        for topic_id in {**self.target, **member.assigned}:
            has = member.assigned.get(topic_id, _NO_EPOCHS)
            target = self.target.get(topic_id, _NO_PARTITIONS) if topic_id in self.topic_ids else _NO_PARTITIONS
            kept = {partition: since for partition, since in has.items() if partition in target}
            if kept:
                keeps[topic_id] = kept
            if len(kept) < len(has):
                loses[topic_id] = {partition: since for partition, since in has.items() if partition not in target}
            if len(kept) < len(target):
                owned = self.owners.of_topic(topic_id)
                own = member.pending_revocation.get(topic_id, _NO_EPOCHS)
                new = [p for p in sorted(target) if p not in kept]
                free = [p for p in new if p not in owned or p in own]
                waits = waits or len(free) < len(new)
                if free:
                    gets[topic_id] = free
        if loses and self._has_any(loses):
            return replace(
                member,
                state=MemberState.UNREVOKED_PARTITIONS,
                member_epoch=epoch,
                previous_member_epoch=member.member_epoch,
                assigned=keeps,
                pending_revocation=loses,
            )
        got = {
            topic_id: {**keeps.get(topic_id, _NO_EPOCHS), **dict.fromkeys(free, self.target_epoch)}
            for topic_id, free in gets.items()
        }
        return replace(
            member,
            state=MemberState.UNRELEASED_PARTITIONS if waits else MemberState.STABLE,
            member_epoch=self.target_epoch,
            previous_member_epoch=member.member_epoch,
            assigned=_put_in_front(got, keeps),
            pending_revocation=NOTHING,
        )


def _put_in_front(new: EpochsOfPartitions, there: EpochsOfPartitions) -> EpochsOfPartitions:
    """Both, in an order in which topics whose ids share a bucket are as in Kafka's map.

    What is put there by `HashMap.computeIfAbsent` and `merge` comes before what is in its bucket, unlike what `put`
    puts there.
    """
    front = [topic_id for topic_id in new if topic_id not in there]
    return {topic_id: new[topic_id] for topic_id in reversed(front)} | {t: new.get(t, there[t]) for t in there}
