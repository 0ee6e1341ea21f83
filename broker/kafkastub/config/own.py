"""The stub's own configuration, which no Kafka has. Rows as in `kafka_table`; the names all begin with `kafkastub.`.

Clients are not shown these: DescribeConfigs answers as Kafka does. `OWN` is what any part of the stub may ask for as
`config["kafkastub.…"]`; `PROFILE` are the profile's fields, one by one: what is given wins over the profile's answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from . import definition
from .errors import ConfigError, InvalidValue
from .kafka_table import Row
from .profile import Profile

PREFIX: Final = "kafkastub."

_FLUSH: Final = r"message|never|[1-9]\d{0,8}ms"
_RELEASE: Final = r"(2\.[1-8]|3\.[0-9]|4\.[0-4])(\.\d{1,3})?"

OWN: Final[dict[str, Row]] = {
    # The value schema that offsets are written with in __consumer_offsets, for tools that do not know Kafka 4.1's
    # version 4 yet. A commit with its own retention is version 1 whatever stands here: no other can tell its expiry.
    "kafkastub.offset.commit.value.version": ("int", 4, "low", ("between", 0, 4), "read-only"),
    # How many of the newest records of __consumer_offsets are kept though newer ones of their keys follow, all
    # partitions together. What is older is compacted away.
    "kafkastub.offsets.history.records": ("int", 100_000, "low", ("between", 0, None), "read-only"),
    # When what is written to a data directory is synced: before the reply (message), every so many milliseconds, or
    # when the system pleases (never). Written it is before the reply in any case: a killed process loses nothing.
    "kafkastub.flush": ("string", "1000ms", "low", ("matching", _FLUSH, "message, never or <N>ms"), "read-only"),
    # How many entries (elements of arrays, nested ones included) a request may have. Above it the connection ends.
    "kafkastub.max.request.entries": ("int", 250_000, "low", ("between", 1_000, None), "read-only"),
    # The Apache Kafka release whose APIs and versions are advertised and accepted, as far as they are served.
    "kafkastub.as.version": (
        "string", None, "low", ("matching", _RELEASE, 'a release from 2.1 to 4.4, for example "2.8"'), "read-only",
    ),
    # A folder for the authority (ca.pem, ca.key) that the stub signs certificates with, kept for the next run. Without
    # it the authority is new with each run, and its file is in a folder of the stub's own.
    "kafkastub.tls.dir": ("string", None, "low", None, "read-only"),
    # What all snapshots that are kept for those who ask over HTTP may hold together, in bytes. What several of them
    # share counts once.
    "kafkastub.snapshots.bytes": ("long", 1 << 30, "low", ("between", 0, None), "read-only"),
    # What the file of a snapshot that is uploaded may become in memory, in bytes.
    "kafkastub.snapshot.file.bytes": ("long", 1 << 29, "low", ("between", 0, None), "read-only"),
    # Bytes that requests may take together of which not all has come yet; one at a time may always go beyond that.
    # Kafka's `queued.max.request.bytes` says it, too, and wins where it is given.
    "kafkastub.unfinished.requests.max.bytes": ("long", 256 << 20, "low", ("between", 1 << 20, None), "read-only"),
    # Users and passwords of every listener with SASL, by PLAIN and by SCRAM: a JSON object.
    "kafkastub.users": ("password", None, "low", None, "read-only"),
}  # fmt: skip

_YES_OR_NO: Final[Row] = ("boolean", None, "low", None, "read-only")
_FIELDS: Final[dict[str, Row]] = {
    "empty_group_commit_refused_from": ("short", None, "low", ("between", 0, None), "read-only"),
    "illegal_offset_commit_code": ("short", None, "low", ("between", 1, None), "read-only"),
    "empty_group_commit_warns": _YES_OR_NO,
    "explicit_retention_ignores_state": _YES_OR_NO,
    "overflowing_retention_never_expires": _YES_OR_NO,
    "infinite_retention_allowed": _YES_OR_NO,
    "group_delete_implies_describe": _YES_OR_NO,
    "deletions_meter_counts_group_deletes": _YES_OR_NO,
}
# the one field that may have no value: it is written as this word
_MAY_BE_NONE: Final = "empty_group_commit_refused_from"
_NONE: Final = "none"

PROFILE: Final[dict[str, str]] = {PREFIX + field.replace("_", "."): field for field in _FIELDS}
"""Configuration name to the field of Profile that it sets."""


def profile_with(profile: Profile, given: Mapping[str, object]) -> Profile:
    """The profile with those of its fields that are given by their configuration names. Raises ConfigError."""
    changes = {PROFILE[name]: _field(name, value) for name, value in given.items() if name in PROFILE}
    return replace(profile, **changes) if changes else profile


def _field(name: str, value: object) -> Any:
    row, may_be_none = _FIELDS[PROFILE[name]], PROFILE[name] == _MAY_BE_NONE
    if may_be_none and (value is None or (isinstance(value, str) and value.strip() == _NONE)):
        return None
    try:
        typed = definition.parse(name, row, value)
        if typed is None:
            raise InvalidValue(name, value, "must be given")
        definition.check(name, row, typed)
    except InvalidValue:
        rule = definition.allowed(row) + (f", or {_NONE}" if may_be_none else "")
        raise ConfigError(f"{name}={value} is refused: allowed is {rule}") from None
    return typed
