"""What the records say of a group with epochs, whatever its type: see `typed_state`.

Kafka: GroupMetadataManager.replay. Where that gives a partition up because tombstones have come in another order than
they are written in, here the rest of the group stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar, Final

from kafkastub.coordinator.records import TypedRecord
from kafkastub.coordinator.typed_state import TypedGroupState

PARTS: Final = ("metadata", "target_metadata", "members", "current", "target")
"""What every type has: the group's epoch and that of its target; by member id the members, what they have and are to
have. A member may have a current assignment and no metadata."""


class ModernGroupState(TypedGroupState):
    """One group, as its records say; to be read only.

    A type's own parts come behind `PARTS` in its `__slots__`.

    Attributes:
        once: the parts that are one record, or None before it; the others are dictionaries of records.
    """

    __slots__: tuple[str, ...] = ()
    once: ClassVar[frozenset[str]] = frozenset({"metadata", "target_metadata"})

    def __init__(self) -> None:
        for part in self.__slots__:
            setattr(self, part, None if part in self.once else {})

    def records(self) -> Iterator[TypedRecord]:
        """All of them, in the order in which a group is brought to life."""
        for part in self.__slots__:
            value: Any = getattr(self, part)
            if type(value) is dict:
                yield from value.values()
            elif value is not None:
                yield value


A_RECORD: Final = 300
A_TOPIC: Final = 200
A_PARTITION: Final = 60
A_TEXT: Final = 60
"""Bytes that each takes in memory, measured on 64 bits."""


def weight_of(partitions: Mapping[bytes, Collection[int]]) -> int:
    """Bytes that partitions by topic id take, roughly."""
    return sum(A_TOPIC + A_PARTITION * len(some) for some in partitions.values())
