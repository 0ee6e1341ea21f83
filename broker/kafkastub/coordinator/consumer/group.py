"""One consumer group: what its records say, what follows from that, and what others ask of any group.

`apply` is the one place where a live group changes. Kafka: ModernGroup, ConsumerGroup.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from kafkastub.coordinator.consumer.commits import check_commit, check_fetch
from kafkastub.coordinator.consumer.held import HeldRevocations
from kafkastub.coordinator.consumer.member import FORMS, ConsumerMember
from kafkastub.coordinator.consumer.owners import Owners
from kafkastub.coordinator.consumer.records import (
    TYPES,
    ConsumerGroupPartitionMetadata,
    ConsumerGroupRegularExpression,
    ConsumerGroupTargetAssignmentMember,
)
from kafkastub.coordinator.consumer.timers import MemberTimers
from kafkastub.coordinator.group import (
    GroupDescription,
    PartitionCheck,
)
from kafkastub.coordinator.modern.assignment import NO_ASSIGNMENT, Assignment
from kafkastub.coordinator.modern.counts import decrease, increase
from kafkastub.coordinator.modern.group import Change
from kafkastub.coordinator.modern.partition_sets import written_and_read
from kafkastub.coordinator.modern.reconciling import ReconcilingGroup
from kafkastub.coordinator.modern.subscribed import SubscribedTopics
from kafkastub.coordinator.modern.subscriptions import Subscriptions, most
from kafkastub.coordinator.records import Record, Tombstone
from kafkawire.java_order import string_timeline_order


class ConsumerGroup(ReconcilingGroup[ConsumerMember, Assignment, MemberTimers]):
    """One group.

    Attributes:
        owners: who has what.
        subscriptions: the topics, counted.
        classic_members: how many use the classic protocol …
        classic_protocols: … and how many of them support a protocol, by its name.
        has_partition_metadata: whether a record of Kafka before 4.1 is still there, to be ended with the next epoch.

    In no record, and lost on a reload:
        held: members whose word that they have let go of partitions does not count; None where there never were any.
        expressions: the resolution of regular expressions; belongs to `expressions`.
    """

    __slots__ = (
        "_assignors",
        "_homogeneous",
        "classic_members",
        "classic_protocols",
        "expressions",
        "has_partition_metadata",
        "held",
        "owners",
        "subscriptions",
    )

    group_type = "consumer"
    protocol_type = "consumer"
    types = TYPES
    forms = FORMS
    nothing = NO_ASSIGNMENT

    def __init__(self, group_id: str, topics: SubscribedTopics) -> None:
        super().__init__(group_id, topics)
        self.owners = Owners()
        self.subscriptions = Subscriptions(group_id, topics)
        self.classic_members = 0
        self.classic_protocols: dict[str, int] = {}
        self.has_partition_metadata = False
        self.held: HeldRevocations | None = None
        self.expressions: Any = None
        self._assignors: dict[str, int] = {}
        self._homogeneous: bool | None = None

    # -- what it looks like --------------------------------------------------------------------------------------

    @property
    def state_name(self) -> str:
        """Empty, Assigning, Reconciling or Stable. Kafka: ConsumerGroup.maybeUpdateGroupState."""
        if not self.members:
            return "Empty"
        if self.epoch > self.target_epoch:
            return "Assigning"
        return "Stable" if self._all_reconciled() else "Reconciling"

    @property
    def homogeneous(self) -> bool:
        """Whether all members subscribe to the same, as it was when one of them changed last.

        What regular expressions match by now is not asked, as in Kafka.
        """
        if self._homogeneous is None:
            self._homogeneous = self.subscriptions.now.homogeneous(len(self.members))
        return self._homogeneous

    @property
    def assignors_compete(self) -> bool:
        """Whether members ask for different ones."""
        return len(self._assignors) > 1

    def preferred_assignor(self) -> str | None:
        """The assignor that most members ask for; None where none asks for any."""
        return most(self._assignors, string_timeline_order(self._assignors))

    def preferred_assignor_after(self, old: ConsumerMember, new: ConsumerMember) -> str | None:
        """The same once a member is another. Kafka: computePreferredServerAssignor.

        Of two that equally many ask for it may be another one than `preferred_assignor`: Kafka counts in a HashMap in
        which both names share a bucket, and one that comes in by `compute` goes before those that are there, even if
        it was taken out only just before.
        """
        counts = {name: self._assignors[name] for name in string_timeline_order(self._assignors)}
        if old.server_assignor is not None:
            decrease(counts, old.server_assignor)
        if new.server_assignor in counts:
            increase(counts, new.server_assignor)
        elif new.server_assignor is not None:
            counts = {new.server_assignor: 1, **counts}
        return most(counts, counts)

    def described(self) -> GroupDescription:
        """What it looks like now, for those who look from inside."""
        return GroupDescription(self.epoch, self.preferred_assignor(), None, self._descriptions(self.topics_of))

    def topics_of(self, member: ConsumerMember) -> list[str]:
        """What a member subscribes to, by name or by what its expression has matched, sorted."""
        resolved = self.subscriptions.resolved.get(member.subscribed_topic_regex or "")
        return sorted({*member.subscribed_topic_names, *(() if resolved is None else resolved.topics)})

    # -- offsets -------------------------------------------------------------------------------------------------

    def subscribes(self, topic: str) -> bool:
        """Whether a member subscribes to the topic, by its name or by what a regular expression has matched."""
        return self.subscriptions.has(topic)

    def frees_offsets(self) -> bool:
        """Where nobody is left, or nobody subscribes any more to a topic."""
        freed, self.subscriptions.lost = self.subscriptions.lost or not self.members, False
        return freed

    def _check_commit(
        self, member: ConsumerMember, epoch: int, version: int, transactional: bool
    ) -> PartitionCheck | None:
        return check_commit(member, epoch, version, transactional)

    def _check_fetch(self, member: ConsumerMember, epoch: int) -> None:
        check_fetch(member, epoch)

    # -- the end -------------------------------------------------------------------------------------------------

    def _own_tombstones(self) -> list[Record]:
        group_id, expressions = self.group_id, self.subscriptions.resolved
        return [
            *(Tombstone(ConsumerGroupRegularExpression, group_id, one) for one in expressions),
            Tombstone(ConsumerGroupPartitionMetadata, group_id),
        ]

    def end(self, broker_ms: int) -> None:
        """It is gone: nothing of it happens any more."""
        super().end(broker_ms)
        self.subscriptions.forget()
        if self.expressions is not None:
            self.expressions.cancel()

    # -- records -------------------------------------------------------------------------------------------------

    def resolve(self, regex: str, record: ConsumerGroupRegularExpression | None) -> None:
        """A regular expression matches these topics, or is none any more."""
        _ = self.homogeneous  # of before
        self.subscriptions.resolve(regex, record)

    def _replace(self, old: ConsumerMember | None, new: ConsumerMember | None) -> None:
        self._homogeneous = None
        self._recount(old, new)
        self.subscriptions.replace(old, new)
        self.owners.replace(old, new)
        if old is not None:
            self._count(old, decrease)
        if new is not None:
            self._count(new, increase)

    def _count(self, member: ConsumerMember, step: Callable[[dict[str, int], str], None]) -> None:
        if member.server_assignor is not None:
            step(self._assignors, member.server_assignor)
        if member.classic is not None:
            self.classic_members += 1 if step is increase else -1
            for protocol in member.classic.supported_protocols:
                step(self.classic_protocols, protocol.name)

    def _forget(self, member_id: str) -> None:
        super()._forget(member_id)
        if self.held is not None:
            self.held.forget(member_id)

    def _read_target(self, record: ConsumerGroupTargetAssignmentMember) -> Assignment:
        return {topic_id: written_and_read(some) for topic_id, some in record.partitions.items()}

    def _apply_expression(self, record: ConsumerGroupRegularExpression) -> None:
        self.resolve(record.regular_expression, record)

    def _end_expression(self, record: Tombstone) -> None:
        self.resolve(record.name, None)

    def _apply_partition_metadata(self, record: Record) -> None:
        self.has_partition_metadata = True

    def _end_partition_metadata(self, record: Tombstone) -> None:
        self.has_partition_metadata = False

    changes: ClassVar[Mapping[str, Change]] = {
        **ReconcilingGroup.changes,
        "expressions": Change(_apply_expression, _end_expression),
        "partition_metadata": Change(_apply_partition_metadata, _end_partition_metadata),
    }
