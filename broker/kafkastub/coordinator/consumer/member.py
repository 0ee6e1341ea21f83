"""A member of a consumer group. Kafka: ConsumerGroupMember, MemberState."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import Final

from kafkastub.coordinator.consumer.records import (
    ClassicMemberMetadata,
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    EpochsOfPartitions,
)
from kafkastub.coordinator.modern.member import MemberForms, RevokingMember, sorted_names

NOTHING: Final[EpochsOfPartitions] = MappingProxyType({})


class MemberState(IntEnum):
    """How far a member is on its way to its target; the numbers of the record."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2
    UNKNOWN = 127

    @classmethod
    def _missing_(cls, value: object) -> MemberState:
        return cls.UNKNOWN


@dataclass(frozen=True, slots=True)
class ConsumerMember(RevokingMember):
    """One member.

    Attributes:
        subscribed_topic_names: a set by content; iterates in no promised order.
        subscribed_topic_regex: "" or None where there is none.
        assigned: what is the member's …
        pending_revocation: … and what was, until the member says that it has let go of it.
        classic: how it joined, where it uses the classic protocol.
    """

    state: MemberState = MemberState.STABLE
    subscribed_topic_names: frozenset[str] = frozenset()
    subscribed_topic_regex: str | None = ""
    server_assignor: str | None = None
    assigned: EpochsOfPartitions = field(default_factory=lambda: NOTHING)
    pending_revocation: EpochsOfPartitions = field(default_factory=lambda: NOTHING)
    classic: ClassicMemberMetadata | None = None

    stable = MemberState.STABLE
    unrevoked = MemberState.UNREVOKED_PARTITIONS


FORMS: Final = MemberForms(
    ConsumerMember,
    ConsumerGroupMemberMetadata,
    ConsumerGroupCurrentMemberAssignment,
    read={"subscribed_topic_names": frozenset, "state": MemberState},
    written={"subscribed_topic_names": sorted_names, "state": int},
)
