"""A record of a schema out of a batch of its own, as this registry and Confluent's write them, in one look.

After a restore ten thousand of them are read before the first answer. Everything else is read the careful way.
"""

from __future__ import annotations

import re
from typing import Final

from kafkawire.codec.varint import varint

_VARINT: Final = rb"[\x80-\xff]{0,9}[\x00-\x7f]"
_PLAIN: Final = re.compile(
    # the header: no attributes (a plain batch with the producer's times), one record, at the base offset
    rb".{21}\x00\x00\x00\x00\x00\x00(.{8}).{22}\x00\x00\x00\x01"
    # the record: its length, no attributes, time and offset after those of the batch
    rb"%b\x00\x00\x00(%b)"
    % (_VARINT, _VARINT)
    + rb'(\{"keytype":"SCHEMA","subject":"([^"\\]*)","version":(\d{1,9}),"magic":1\})'
    + rb"(%b)" % _VARINT
    + rb'(\{"subject":"\4","version":\5,"id":(\d{1,10}),.*","deleted":(true|false)\})\x00',
    re.DOTALL,
)


_LENGTHS: Final = tuple(varint(number) for number in range(4096))


Version = tuple[str, int, int, bool, int, bytes]
"""Of a subject: its name, its number, the schema's id, whether it is deleted, Unix milliseconds, the record's value."""


def find_version(batch: bytes) -> Version | None:
    """Return the version of a subject that a batch consists of; None where it is not written like that."""
    found = _PLAIN.fullmatch(batch)
    if found is None:
        return None
    begin, key_length, key, subject, version, value_length, raw, schema_id, deleted = found.groups()
    if key_length != _length(key) or value_length != _length(raw):
        return None  # a record that only looks like one
    name = subject.decode(errors="replace")
    return name, int(version), int(schema_id), deleted == b"true", int.from_bytes(begin), raw


def _length(content: bytes) -> bytes:
    size = len(content)
    return _LENGTHS[size] if size < len(_LENGTHS) else varint(size)
