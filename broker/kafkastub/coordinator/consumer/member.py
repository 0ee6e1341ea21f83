"""A member of a consumer group. Kafka: ConsumerGroupMember, MemberState."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import Final

from kafkastub.coordinator.consumer.records import ClassicMemberMetadata, EpochsOfPartitions

NOTHING: Final[EpochsOfPartitions] = MappingProxyType({})


class MemberState(IntEnum):
    """How far a member is on its way to its target; the numbers of the record."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2
    UNKNOWN = 127


@dataclass(frozen=True, slots=True)
class ConsumerMember:
    """One member, as the records say. Never changed: `dataclasses.replace` makes the next one.

    Attributes:
        subscribed_topic_names: a set by content; iterates in no promised order.
        subscribed_topic_regex: "" or None where there is none.
        assigned: what is the member's …
        pending_revocation: … and what was, until the member says that it has let go of it.
        classic: how it joined, where it uses the classic protocol.
    """

    member_id: str
    member_epoch: int = 0
    previous_member_epoch: int = -1
    state: MemberState = MemberState.STABLE
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: frozenset[str] = frozenset()
    subscribed_topic_regex: str | None = ""
    server_assignor: str | None = None
    assigned: EpochsOfPartitions = field(default_factory=lambda: NOTHING)
    pending_revocation: EpochsOfPartitions = field(default_factory=lambda: NOTHING)
    classic: ClassicMemberMetadata | None = None

    @property
    def must_revoke(self) -> bool:
        """Whether it stays where it is until it has let go of partitions."""
        return self.state is MemberState.UNREVOKED_PARTITIONS

    def is_reconciled_to(self, epoch: int) -> bool:
        """Whether it has all of its target of that epoch and nothing else."""
        return self.state is MemberState.STABLE and self.member_epoch == epoch
