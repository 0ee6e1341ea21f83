"""Records of groups with epochs as keys and values of `__consumer_offsets`, and back: the same way for every type.

A key names a group, and a member or what else of it the record is about; a tombstone says no more than that. All
values have one version, 0 (GroupCoordinatorRecordHelpers, StreamsCoordinatorRecordHelpers).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Generic, NamedTuple, TypeVar

from kafkawire.offsets_topic import OffsetsRecord, RecordType, encode_key, encode_value, message_class
from kafkawire.schema import Message

R = TypeVar("R")
_VERSION: Final = 0

Named = Callable[[Any], Any]
"""A key of a record or tombstone; a tombstone of a key."""


def of_group(make: Callable[[str], Any]) -> Named:
    """What has the names that a group's key has."""
    return lambda about: make(about.group_id)


def of_member(make: Callable[[str, str], Any]) -> Named:
    """What has the names that a member's key has."""
    return lambda about: make(about.group_id, about.member_id)


class Form(NamedTuple):
    """One type of records.

    Attributes:
        names: of the group and what else its key has (`of_group`, `of_member`).
        record, tombstone: what they are to the coordinator.
        value: of a record.
        read: (key, value) -> record.
    """

    record_type: RecordType
    names: Callable[[Callable[..., Any]], Named]
    record: type[Any]
    tombstone: type[Any]
    value: Callable[[Any], Message]
    read: Callable[[Any, Any], Any]


class GroupCodec(Generic[R]):
    """The records of one type of groups."""

    __slots__ = ("_decoders", "_encoders")

    def __init__(self, *forms: Form) -> None:
        self._encoders: dict[type[Any], tuple[Named, Callable[[Any], Message] | None]] = {}
        self._decoders: dict[RecordType, tuple[Callable[[Any, Any], R], Named]] = {}
        for form in forms:
            key = form.names(message_class(form.record_type, "Key"))
            self._encoders[form.record] = key, form.value
            self._encoders[form.tombstone] = key, None
            self._decoders[form.record_type] = form.read, form.names(form.tombstone)

    def encode(self, record: R) -> tuple[bytes, bytes | None]:
        """Key and value; a tombstone's value is None."""
        key, value = self._encoders[type(record)]
        return encode_key(key(record)), None if value is None else encode_value(value(record), _VERSION)

    def decode(self, record: OffsetsRecord) -> R:
        """What a record says."""
        read, tombstone = self._decoders[record.type]
        found: R = tombstone(record.key) if record.value is None else read(record.key, record.value)
        return found
