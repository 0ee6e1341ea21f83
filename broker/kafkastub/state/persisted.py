"""What kafkastub.json may hold: each field's type and bounds, looked at before anything is made of it.

A file that somebody edited, or a disk that lost a part of it, is refused in one sentence that names the field.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any, Final

from kafkastub.metadata import invalid_topic_name
from kafkastub.metadata.ids import uuid_bytes

Check = Callable[[Any, str], None]
"""Looks at a value; the text is where it stands: `topics[0].partitions[2].leader`."""


class Damaged(ValueError):
    """A field is not what it should be; `str()` is a sentence without full stop."""


def check(document: Any) -> None:
    """Raises Damaged."""
    _DOCUMENT(document, "")
    for name in ("name", "id"):
        seen: dict[str, int] = {}
        for number, topic in enumerate(document["topics"]):
            first = seen.setdefault(topic[name], number)
            if first != number:
                raise Damaged(f"topics[{number}].{name} is that of topics[{first}] too")


def _refuse(value: Any, where: str, wanted: str) -> None:
    """Values of texts are not told: they may be secrets."""
    found = _KINDS.get(type(value), "something else")
    if type(value) in (int, float):
        found = str(value) if abs(value) < _MOST else "a number of many digits"
    raise Damaged(f"{where or 'the document'} is {found}; {wanted} is wanted")


_MOST: Final = 1 << 64
_KINDS: Final = {
    dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number",
    type(None): "null",
}  # fmt: skip


def _whole(low: int, high: int) -> Check:
    def look(value: Any, where: str) -> None:
        if type(value) is not int or not low <= value <= high:
            _refuse(value, where, f"a whole number from {low} to {high}")

    return look


def _text(value: Any, where: str) -> None:
    if type(value) is not str:
        _refuse(value, where, "a text")


def _name(value: Any, where: str) -> None:
    if type(value) is not str or not value:
        _refuse(value, where, "a name")


def _topic_name(value: Any, where: str) -> None:
    """It becomes the name of directories."""
    if type(value) is not str or invalid_topic_name(value) is not None:
        _refuse(value, where, "a topic's name")


def _uuid(value: Any, where: str) -> None:
    _text(value, where)
    try:
        uuid_bytes(value)
    except ValueError:
        _refuse(value, where, "a uuid of 22 characters")


def _base64(value: Any, where: str) -> None:
    _text(value, where)
    try:
        base64.b64decode(value, validate=True)
    except ValueError:
        _refuse(value, where, "base64")


def _number(value: Any, where: str) -> None:
    if type(value) is not float and (type(value) is not int or abs(value) >= _MOST):
        _refuse(value, where, "a number")


def _or_null(look: Check) -> Check:
    return lambda value, where: None if value is None else look(value, where)


def _list(look: Check, *, at_least: int = 0) -> Check:
    def each(value: Any, where: str) -> None:
        if type(value) is not list or len(value) < at_least:
            _refuse(value, where, "a list" if not at_least else "a list that is not empty")
        for number, one in enumerate(value):
            look(one, f"{where}[{number}]")

    return each


def _by_name(look: Check) -> Check:
    def each(value: Any, where: str) -> None:
        if type(value) is not dict:
            _refuse(value, where, "an object")
        for name, one in value.items():
            look(one, f"{where}[{name!r}]")

    return each


def _parts(*looks: Check) -> Check:
    def each(value: Any, where: str) -> None:
        if type(value) is not list or len(value) != len(looks):
            _refuse(value, where, f"a list of {len(looks)}")
        for number, (look, one) in enumerate(zip(looks, value, strict=True)):
            look(one, f"{where}[{number}]")

    return each


def _fields(needed: Mapping[str, Check], others: Mapping[str, Check] | None = None) -> Check:
    """`others` need not be there: older versions did not write them."""

    def each(value: Any, where: str) -> None:
        if type(value) is not dict:
            _refuse(value, where, "an object")
        prefix = f"{where}." if where else ""
        for name, look in needed.items():
            if name not in value:
                raise Damaged(f"{prefix}{name} is missing")
            look(value[name], prefix + name)
        for name, look in (others or {}).items():
            if name in value:
                look(value[name], prefix + name)

    return each


_MS: Final = _whole(-(1 << 53), 1 << 53)
_TIMESTAMP: Final = _whole(-(1 << 63), (1 << 63) - 1)
_OFFSET: Final = _whole(0, (1 << 63) - 1)
_EPOCH: Final = _whole(-1, (1 << 15) - 1)
_NODE: Final = _whole(0, (1 << 31) - 1)
_NODES: Final = _list(_NODE)
_TEXTS: Final = _by_name(_text)

_PARTITION: Final = _fields(
    {
        "leader": _whole(-1, (1 << 31) - 1),
        "leader_epoch": _whole(0, (1 << 31) - 1),
        "replicas": _list(_NODE, at_least=1),
        "isr": _NODES,
        "log_start_offset": _OFFSET,
    },
    {"elr": _NODES, "adding": _NODES, "removing": _NODES, "log_dirs": _list(_text)},
)
_PRINCIPAL: Final = _parts(_text, _text)
_DOCUMENT: Final = _fields(
    {
        "clock": _fields({"ahead_ms": _MS, "frozen_at": _or_null(_MS)}),
        "producer_ids": _fields(
            {"next": _OFFSET}, {"transactional": _by_name(_parts(_OFFSET, _whole(0, (1 << 15) - 1), _EPOCH))}
        ),
        "broker_configs": _fields({"broker": _TEXTS, "default": _TEXTS}),
        "group_configs": _by_name(_TEXTS),
        "client_metrics_configs": _by_name(_TEXTS),
        "topics": _list(
            _fields({"name": _topic_name, "id": _uuid, "configs": _TEXTS, "partitions": _list(_PARTITION, at_least=1)})
        ),
    },
    {
        "features": _by_name(_whole(0, (1 << 15) - 1)),
        # while the process lives: who starts registers
        "unregistered": _NODES,
        "metadata": _fields({"offset": _whole(0, 1 << 53), "epoch": _whole(0, (1 << 31) - 2)}),
        # user, mechanism, salt, stored key, server key, iterations
        "scram": _list(_parts(_name, _whole(1, 2), _base64, _base64, _base64, _whole(1, (1 << 31) - 1))),
        "quotas": _list(_parts(_list(_parts(_name, _or_null(_text)), at_least=1), _by_name(_number))),
        # id, owner, who asked, renewers; issued, at most, expires
        "delegation_tokens": _list(
            _parts(_name, _PRINCIPAL, _PRINCIPAL, _list(_PRINCIPAL), _TIMESTAMP, _TIMESTAMP, _TIMESTAMP)
        ),
        # the fields of an `Acl`
        "acls": _list(_parts(_whole(2, 7), _text, _whole(3, 4), _text, _text, _whole(2, 15), _whole(2, 3))),
    },
)
