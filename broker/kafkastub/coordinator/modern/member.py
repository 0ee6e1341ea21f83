"""A member of a group with epochs. Kafka: ModernGroupMember, and what StreamsGroupMember has of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from kafkastub.coordinator.records import Record


@dataclass(frozen=True, slots=True)
class ModernMember:
    """One member, as the records say. Never changed: `dataclasses.replace` makes the next one.

    Attributes:
        state: the number of the type's `MemberState`.
    """

    member_id: str
    member_epoch: int = 0
    previous_member_epoch: int = -1
    state: int = 0
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""

    stable: ClassVar[int] = 0
    """The state of a member that has its target."""

    def is_reconciled_to(self, epoch: int) -> bool:
        """Whether it has all of its target of that epoch and nothing else."""
        return self.state == self.stable and self.member_epoch == epoch


@dataclass(frozen=True, slots=True)
class RevokingMember(ModernMember):
    """One of a type whose members let go of what others are to have."""

    instance_id: str | None = None
    rebalance_timeout_ms: int = -1

    unrevoked: ClassVar[int]
    """The state of a member that stays in its epoch until it has let go of something."""

    @property
    def must_revoke(self) -> bool:
        """Whether it has something to let go of first."""
        return self.state == self.unrevoked


class MemberForms(NamedTuple):
    """How the members of one type come out of their records, and go into them.

    Attributes:
        new: one of whom nothing is known but the id.
        with_metadata: the member with what it has said of itself.
        with_assignment: the member with what it has, and where it stands.
        without_assignment: the member with nothing, on its way out.
        metadata_record, assignment_record: of a group's member, by the group's id: the other way.
    """

    new: Callable[[str], Any]
    with_metadata: Callable[[Any, Any], Any]
    with_assignment: Callable[[Any, Any], Any]
    without_assignment: Callable[[Any], Any]
    metadata_record: Callable[[str, Any], Record]
    assignment_record: Callable[[str, Any], Record]
