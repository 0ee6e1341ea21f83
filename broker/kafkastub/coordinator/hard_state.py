"""The coordinator's hard state: what survives it, because it is in `__consumer_offsets`.

Offsets, the last persisted generation of every classic group, and the groups with epochs. `apply` is the one place
where it changes, live and at load alike. Members' sessions, parked joins and rebalances in progress are soft state and
live in the group types' packages.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Union

from kafkastub.coordinator.offsets import OffsetStore
from kafkastub.coordinator.records import (
    GroupMetadata,
    GroupTombstone,
    OffsetCommit,
    OffsetTombstone,
    PendingOffsets,
    Record,
    TransactionMarker,
    TypedRecord,
)

if TYPE_CHECKING:
    from kafkastub.coordinator.typed_state import ModernGroupState, RecordKey

_A_MEMBER: Final = 500
"""Bytes of a member of a generation, beside its subscription and its assignment."""
GroupKey = Union[str, "RecordKey"]
"""What stands for the key of a record about a group: the id of a classic one, or what and which of another."""


@cache
def _of_type(group_type: str) -> type[ModernGroupState]:
    """Loaded with the first record of such a group: most brokers have none. The type's package has its name."""
    state: type[ModernGroupState] = import_module(f"kafkastub.coordinator.{group_type}.state").STATE
    return state


def key_of(record: GroupMetadata | GroupTombstone | TypedRecord) -> tuple[GroupKey, bool]:
    """A record's key, and whether it has a value; else it is a tombstone."""
    if not isinstance(record, TypedRecord):
        return record.group_id, isinstance(record, GroupMetadata)
    return _of_type(record.group_type).key_of(record)


def weight_of_group(record: Record) -> int:
    """Bytes that a record about a group takes in memory, roughly; 0 of any other, whose size has a limit."""
    if isinstance(record, GroupMetadata):
        return sum(_A_MEMBER + len(one.subscription) + len(one.assignment) for one in record.members)
    if isinstance(record, TypedRecord):
        return _of_type(record.group_type).weight(record)
    return 0


class HardState:
    """Offsets and groups, as the records say.

    Attributes:
        generations: the last persisted generation of each group that has one.
        typed: by type the groups with epochs, by id; what is kept of one is in the type's `state`.
    """

    __slots__ = ("generations", "offsets", "typed")

    def __init__(self) -> None:
        self.offsets = OffsetStore()
        self.generations: dict[str, GroupMetadata] = {}
        self.typed: dict[str, dict[str, Any]] = {}

    def of_type(self, group_type: str) -> dict[str, Any]:
        """The groups of a type with epochs, by id."""
        groups = self.typed.get(group_type)
        if groups is None:
            groups = self.typed[group_type] = {}
        return groups

    @property
    def consumer(self) -> dict[str, Any]:
        """The consumer groups, by id."""
        return self.of_type("consumer")

    @property
    def share(self) -> dict[str, Any]:
        """The share groups, by id."""
        return self.of_type("share")

    @property
    def streams(self) -> dict[str, Any]:
        """The streams groups, by id."""
        return self.of_type("streams")

    def copy(self) -> HardState:
        """Another one that is the same; records, which nobody changes, are shared."""
        copied = HardState()
        copied.offsets = self.offsets.copy()
        copied.generations = dict(self.generations)
        for group_type, groups in self.typed.items():
            copied.typed[group_type] = {group_id: state.copy() for group_id, state in groups.items()}
        return copied

    def apply(self, record: Record) -> None:
        """Make a record true."""
        if type(record) is OffsetCommit:
            self.offsets.apply_commit(record)
        elif isinstance(record, OffsetTombstone):
            self.offsets.apply_tombstone(record)
        elif isinstance(record, GroupMetadata):
            self.generations[record.group_id] = record
        elif isinstance(record, GroupTombstone):
            self.generations.pop(record.group_id, None)
        elif isinstance(record, PendingOffsets):
            self.offsets.apply_pending(record)
        elif isinstance(record, TypedRecord):
            _of_type(record.group_type).apply(self.of_type(record.group_type), record)

    def complete(self, marker: TransactionMarker) -> None:
        """Make a marker true, in its groups."""
        self.offsets.apply_marker(marker)

    def last(self, key: GroupKey) -> Record | None:
        """The last record about a group with that key; None where there is none, or a tombstone."""
        if isinstance(key, str):
            return self.generations.get(key)
        return _of_type(key.group_type).held(self.of_type(key.group_type), key)

    def knows(self, group_id: str) -> bool:
        """Whether there is anything of the group."""
        offsets = self.offsets
        has_offsets = bool(offsets.topics(group_id)) or offsets.has_pending(group_id)
        has_group = group_id in self.generations or any(group_id in groups for groups in self.typed.values())
        return has_offsets or has_group
