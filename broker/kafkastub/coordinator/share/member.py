"""A member of a share group. Kafka: ShareGroupMember."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar, Final

from kafkastub.coordinator.modern.member import MemberForms, ModernMember, sorted_names
from kafkastub.coordinator.modern.partition_sets import written_and_read
from kafkastub.coordinator.modern.records import Partitions
from kafkastub.coordinator.share.records import (
    ShareGroupCurrentMemberAssignment,
    ShareGroupMemberMetadata,
)

NOTHING: Final[Partitions] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ShareMember(ModernMember):
    """One member, always in the state 0, STABLE: it has nothing to wait for (Kafka: MemberState).

    Attributes:
        subscribed_topic_names: a set by content; iterates in no promised order.
        assigned: what it reads from, beside others.
    """

    subscribed_topic_names: frozenset[str] = frozenset()
    assigned: Partitions = field(default_factory=lambda: NOTHING)

    subscribed_topic_regex: ClassVar[None] = None
    instance_id: ClassVar[None] = None


def _read(assigned: Partitions) -> Partitions:
    return {topic_id: written_and_read(some) for topic_id, some in assigned.items()}


FORMS: Final = MemberForms(
    ShareMember,
    ShareGroupMemberMetadata,
    ShareGroupCurrentMemberAssignment,
    read={"subscribed_topic_names": frozenset, "assigned": _read},
    written={"subscribed_topic_names": sorted_names},
)
