"""A member of a group with epochs. Kafka: ModernGroupMember, and what StreamsGroupMember has of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from kafkastub.coordinator.modern.records import CurrentOfMember
from kafkastub.coordinator.records import Record, TypedRecord


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


class MemberForms:
    """How the members of one type come out of their records, and go into them: fields have the same names in both.

    Args:
        new: makes one of whom nothing is known but the id.
        metadata: the records of what a member has said of itself …
        assignment: … and those of where it stands, and what it has.
        read: by the name of a field that is another in the member than in the record: makes it of the record's …
        written: … and the other way.
    """

    __slots__ = ("_assignment", "_fields", "_metadata", "_nothing", "_read", "_written", "new")

    def __init__(
        self,
        new: Callable[[str], Any],
        metadata: type[TypedRecord],
        assignment: type[CurrentOfMember],
        read: Mapping[str, Callable[[Any], Any]],
        written: Mapping[str, Callable[[Any], Any]],
    ) -> None:
        self.new = new
        self._metadata: type[Any] = metadata
        self._assignment: type[Any] = assignment
        self._fields = {kind: kind.__match_args__[_KEY:] for kind in (self._metadata, self._assignment)}
        self._read = read
        self._written = written
        blank, has = new(""), assignment.__match_args__[len(CurrentOfMember.__match_args__) :]
        self._nothing = {name: getattr(blank, name) for name in has}

    def with_record(self, member: Any, record: TypedRecord) -> Any:
        """The member with what it has said of itself, or with what it has and where it stands."""
        said = {name: getattr(record, name) for name in self._fields[type(record)]}
        for name, read in self._read.items():
            if name in said:
                said[name] = read(said[name])
        return replace(member, **said)

    def without_assignment(self, member: Any) -> Any:
        """The member with nothing, on its way out."""
        return replace(member, member_epoch=-1, previous_member_epoch=-1, **self._nothing)

    def metadata_record(self, group_id: str, member: Any) -> Record:
        """What a member of the group has said of itself."""
        return self._record(self._metadata, group_id, member)

    def assignment_record(self, group_id: str, member: Any) -> Record:
        """What a member of the group has, and where it stands."""
        return self._record(self._assignment, group_id, member)

    def _record(self, kind: type[Any], group_id: str, member: Any) -> Record:
        said = {name: getattr(member, name) for name in self._fields[kind]}
        for name, written in self._written.items():
            if name in said:
                said[name] = written(said[name])
        record: Record = kind(group_id, member.member_id, **said)
        return record


_KEY: Final = 2
"""Fields of a record that name the group and the member."""


def sorted_names(names: frozenset[str]) -> tuple[str, ...]:
    """A subscription, as a record has it."""
    return tuple(sorted(names))
