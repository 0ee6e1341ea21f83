"""Records of groups with epochs as keys and values of `__consumer_offsets`, and back: the same way for every type.

A key names a group, and a member or what else of it the record is about; a tombstone says no more than that. All
values have one version, 0 (GroupCoordinatorRecordHelpers, StreamsCoordinatorRecordHelpers). The fields of a record are
those of its key and its value, by the same names; a type's codec says which are others, in rows by the type of record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final, NamedTuple

from kafkastub.coordinator.records import Tombstone, TypedRecord
from kafkastub.coordinator.typed_state import place_of
from kafkawire.offsets_topic import OffsetsRecord, RecordType, encode_key, encode_value, message_class

_VERSION: Final = 0


class Form(NamedTuple):
    """How the records of a class are written and read.

    Attributes:
        written: of a record, the fields of its value by their names …
        read: … and of a value, the fields of its record, but for those of the key.
    """

    record: type[Any]
    written: Callable[[Any], dict[str, Any]]
    read: Callable[[Any], dict[str, Any]]


class Field(NamedTuple):
    """A field of a record that is another in its value.

    Attributes:
        value_name: in the value; "" where it is the same.
    """

    read: Callable[[Any], Any]
    written: Callable[[Any], Any] = lambda it: it
    value_name: str = ""


def form(record: type[TypedRecord], **others: Field) -> Form:
    """By the names of the fields, but for these others."""
    names = record.__match_args__[2 if record.named_by else 1 :]
    same = [name for name in names if name not in others]
    rows = [(name, one.value_name or name, one) for name, one in others.items()]

    def written(it: Any) -> dict[str, Any]:
        fields = {name: getattr(it, name) for name in same}
        for name, there, one in rows:
            fields[there] = one.written(getattr(it, name))
        return fields

    def read(value: Any) -> dict[str, Any]:
        fields = {name: getattr(value, name) for name in same}
        for name, there, one in rows:
            fields[name] = one.read(getattr(value, there))
        return fields

    return Form(record, written, read)


class GroupCodec:
    """The records of one type of groups."""

    __slots__ = ("_forms", "_messages")

    def __init__(self, forms: Mapping[RecordType, Form]) -> None:
        self._forms = forms
        self._messages: dict[type[Any], tuple[type[Any], type[Any], Form]] = {
            one.record: (message_class(type_, "Key"), message_class(type_, "Value"), one)
            for type_, one in forms.items()
        }

    def encode(self, record: TypedRecord) -> tuple[bytes, bytes | None]:
        """Key and value; a tombstone's value is None."""
        of, name, has_value = place_of(record)
        key, value, one = self._messages[of]
        data = encode_key(key(record.group_id, name) if of.named_by else key(record.group_id))
        return data, encode_value(value(**one.written(record)), _VERSION) if has_value else None

    def decode(self, record: OffsetsRecord) -> TypedRecord:
        """What a record says."""
        (of, _, read), key = self._forms[record.type], record.key
        about = [getattr(key, name) for name in of.__match_args__[: 2 if of.named_by else 1]]
        found: TypedRecord = Tombstone(of, *about) if record.value is None else of(*about, **read(record.value))
        return found


@cache
def codec_of(group_type: str) -> GroupCodec:
    """Loaded with the first record of such a group: most brokers have none."""
    codec: GroupCodec = import_module(f"kafkastub.state.internal_topics.{group_type}_codec").CODEC
    return codec
