"""What the records say of groups with epochs, whatever their type: how one state a group follows from them.

It is the last record of every key, no more, so that compaction changes nothing. A tombstone of something that is not
there means nothing. Kafka: GroupMetadataManager.replay. Where that gives a partition up because tombstones have come in
another order than they are written in, here the rest of the group stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar, Final, NamedTuple, Self

from kafkastub.coordinator.records import Tombstone, TypedRecord

PARTS: Final = ("metadata", "target_metadata", "members", "current", "target")
"""What every type has: the group's epoch and that of its target; by member id the members, what they have and are to
have. A member may have a current assignment and no metadata."""
A_RECORD: Final = 300
A_TOPIC: Final = 200
A_PARTITION: Final = 60
A_TEXT: Final = 60
"""Bytes that each takes in memory, measured on 64 bits."""


class RecordKey(NamedTuple):
    """What stands for a record's key: two records with the same are about the same thing.

    Attributes:
        part: the attribute of the group's state that the record is in.
        name: a member id, or a regular expression; "" for what a group has once.
    """

    group_type: str
    part: str
    group_id: str
    name: str


class ModernGroupState:
    """One group, as its records say; to be read only.

    An attribute for each part, as its `__slots__` say: a type's own parts come behind `PARTS` there.

    Attributes:
        once: the parts that are one record, or None before it; the others are dictionaries of records.
    """

    __slots__: tuple[str, ...] = ()
    once: ClassVar[frozenset[str]] = frozenset({"metadata", "target_metadata"})

    def __init__(self) -> None:
        for part in self.__slots__:
            setattr(self, part, None if part in self.once else {})

    def copy(self) -> Self:
        """Another one that is the same; records, which nobody changes, are shared."""
        copied = type(self)()
        for name in self.__slots__:
            value = getattr(self, name)
            setattr(copied, name, value.copy() if type(value) is dict else value)
        return copied

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing left of it."""
        return not any(getattr(self, name) for name in self.__slots__)

    def records(self) -> Iterator[TypedRecord]:
        """All of them, in the order in which a group is brought to life."""
        for part in self.__slots__:
            value: Any = getattr(self, part)
            if type(value) is dict:
                yield from value.values()
            elif value is not None:
                yield value

    @staticmethod
    def weight(record: Any) -> int:
        """Bytes that a record takes in memory, roughly."""
        return A_RECORD

    @classmethod
    def apply(cls, groups: dict[str, Any], record: TypedRecord) -> None:
        """Make a record true of one of the type's groups, which are by their ids."""
        of, name, has_value = place_of(record)
        part, group_id = of.part, record.group_id
        state = groups.get(group_id)
        if state is None:
            if not has_value:
                return
            state = groups[group_id] = cls()
        if not of.named_by:
            setattr(state, part, record if has_value else None)
        elif has_value:
            getattr(state, part)[name] = record
        else:
            getattr(state, part).pop(name, None)
        if not has_value and state.is_empty:
            del groups[group_id]

    @staticmethod
    def key_of(record: TypedRecord) -> tuple[RecordKey, bool]:
        """A record's key, and whether it has a value; else it is a tombstone."""
        of, name, has_value = place_of(record)
        return RecordKey(record.group_type, of.part, record.group_id, name), has_value

    @staticmethod
    def held(groups: Mapping[str, ModernGroupState], key: RecordKey) -> TypedRecord | None:
        """The last record with that key, None where there is none or a tombstone."""
        state = groups.get(key.group_id)
        if state is None:
            return None
        found: TypedRecord | dict[str, TypedRecord] | None = getattr(state, key.part)
        return found.get(key.name) if isinstance(found, dict) else found


def place_of(record: TypedRecord) -> tuple[type[TypedRecord], str, bool]:
    """The class that says in which part it is, its name there, and whether it has a value."""
    if type(record) is Tombstone:
        return record.of, record.name, False
    return type(record), getattr(record, record.named_by) if record.named_by else "", True


def weight_of(partitions: Mapping[bytes, Collection[int]]) -> int:
    """Bytes that partitions by topic id take, roughly."""
    return sum(A_TOPIC + A_PARTITION * len(some) for some in partitions.values())
