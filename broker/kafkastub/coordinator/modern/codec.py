"""Records of groups with epochs as keys and values of `__consumer_offsets`, and back: the same way for every type.

A key names a group, and a member or what else of it the record is about; a tombstone says no more than that. All
values have one version, 0 (GroupCoordinatorRecordHelpers, StreamsCoordinatorRecordHelpers). The fields of a record are
those of its key and its value, in their order; a type's codec says which are others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import Any, Final, NamedTuple

from kafkastub.coordinator.records import Tombstone, TypedRecord
from kafkastub.coordinator.typed_state import place_of
from kafkawire.offsets_topic import OffsetsRecord, RecordType, encode_key, encode_value, message_class

_VERSION: Final = 0


class Form(NamedTuple):
    """How the records of a class are written and read.

    Attributes:
        written: of a record, the fields of its value in order …
        read: … and of a value, the fields of its record in order, but for those of the key.
    """

    record_type: RecordType
    record: type[Any]
    written: Callable[[Any], Iterable[Any]]
    read: Callable[[Any], Iterable[Any]]


class Field(NamedTuple):
    """A field of a record that is another in its value."""

    read: Callable[[Any], Any]
    written: Callable[[Any], Any] = lambda it: it


def form(type_: RecordType, record: type[TypedRecord], **others: Field) -> Form:
    """Field by field as they are, but for these others, which may have another name in the value."""
    names = record.__match_args__[2 if record.named_by else 1 :]
    there: tuple[str, ...] = message_class(type_, "Value").__slots__
    assert all(name in (in_value, *others) for name, in_value in zip(names, there, strict=True)), record
    rows = [(names.index(name), one) for name, one in others.items()]
    written = _fields(names, [(at, one.written) for at, one in rows])
    return Form(type_, record, written, _fields(there, [(at, one.read) for at, one in rows]))


def _fields(
    names: Sequence[str], changes: Sequence[tuple[int, Callable[[Any], Any]]]
) -> Callable[[Any], Sequence[Any]]:
    """Gets these attributes of what it is given, and makes others of those at these places."""
    get = _attributes(names)

    def fields(it: Any) -> Sequence[Any]:
        found = list(get(it))
        for at, change in changes:
            found[at] = change(found[at])
        return found

    return fields if changes else get


def _attributes(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Gets these attributes of what it is given: `attrgetter`, which gives a single one without a tuple."""
    get = attrgetter(*names)
    return get if len(names) > 1 else lambda it: (get(it),)


class GroupCodec:
    """The records of one type of groups."""

    __slots__ = ("_decoders", "_encoders")

    def __init__(self, *forms: Form) -> None:
        self._encoders: dict[type[Any], tuple[type[Any], type[Any], Callable[[Any], Iterable[Any]]]] = {}
        self._decoders: dict[RecordType, tuple[Form, Callable[[Any], tuple[Any, ...]]]] = {}
        for one in forms:
            key = message_class(one.record_type, "Key")
            self._encoders[one.record] = key, message_class(one.record_type, "Value"), one.written
            self._decoders[one.record_type] = one, _attributes(key.__slots__)

    def encode(self, record: TypedRecord) -> tuple[bytes, bytes | None]:
        """Key and value; a tombstone's value is None."""
        of, name, has_value = place_of(record)
        key, value, written = self._encoders[of]
        data = encode_key(key(record.group_id, name) if of.named_by else key(record.group_id))
        return data, encode_value(value(*written(record)), _VERSION) if has_value else None

    def decode(self, record: OffsetsRecord) -> TypedRecord:
        """What a record says."""
        (_, of, _, read), about = self._decoders[record.type]
        names, value = about(record.key), record.value
        found: TypedRecord = Tombstone(of, *names) if value is None else of(*names, *read(value))
        return found


@cache
def codec_of(group_type: str) -> GroupCodec:
    """Loaded with the first record of such a group: most brokers have none."""
    codec: GroupCodec = import_module(f"kafkastub.coordinator.{group_type}.codec").CODEC
    return codec
