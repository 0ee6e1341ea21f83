"""What the records say of groups with epochs, whatever their type: how one state a group follows from them.

It is the last record of every key, no more, so that compaction changes nothing. A tombstone of something that is not
there means nothing. Kafka: GroupMetadataManager.replay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from kafkastub.coordinator.records import Tombstone, TypedRecord


class TypedGroupState:
    """One group: an attribute for what it has once, a dictionary for what it has by name, as its `__slots__` say."""

    __slots__: tuple[str, ...] = ()

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


@dataclass(frozen=True, slots=True)
class RecordsOfType:
    """The records of the groups of one type, and what becomes of them.

    Attributes:
        state: makes what is known of a group before its first record.
        weight: bytes that a record takes in memory, roughly.
    """

    state: Callable[[], TypedGroupState]
    weight: Callable[[Any], int]

    def apply(self, groups: dict[str, Any], record: TypedRecord) -> None:
        """Make a record true."""
        of, name, has_value = place_of(record)
        part, group_id = of.part, record.group_id
        state = groups.get(group_id)
        if state is None:
            if not has_value:
                return
            state = groups[group_id] = self.state()
        if not of.named_by:
            setattr(state, part, record if has_value else None)
        elif has_value:
            getattr(state, part)[name] = record
        else:
            getattr(state, part).pop(name, None)
        if not has_value and state.is_empty:
            del groups[group_id]


def place_of(record: TypedRecord) -> tuple[type[TypedRecord], str, bool]:
    """The class that says in which part it is, its name there, and whether it has a value."""
    if type(record) is Tombstone:
        return record.of, record.name, False
    return type(record), getattr(record, record.named_by) if record.named_by else "", True


def key_of(record: TypedRecord) -> tuple[RecordKey, bool]:
    """A record's key, and whether it has a value; else it is a tombstone."""
    of, name, has_value = place_of(record)
    return RecordKey(record.group_type, of.part, record.group_id, name), has_value


def held(groups: Mapping[str, TypedGroupState], key: RecordKey) -> TypedRecord | None:
    """The last record with that key, None where there is none or a tombstone."""
    state = groups.get(key.group_id)
    if state is None:
        return None
    found: TypedRecord | dict[str, TypedRecord] | None = getattr(state, key.part)
    return found.get(key.name) if isinstance(found, dict) else found
