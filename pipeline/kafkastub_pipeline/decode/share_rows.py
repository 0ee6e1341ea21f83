"""Records of `__share_group_state` as rows, each by itself; `decode.shares` puts them together."""

from __future__ import annotations

import struct
import uuid
from typing import Any, Final

from kafkastub_pipeline.decode.shares import KEYS, STATES
from kafkawire.codec import decode_from
from kafkawire.errors import MalformedMessage

_WHAT: Final = "record of __share_group_state"
_int16 = struct.Struct(">h")


def share_row(key: bytes | None, value: bytes | None) -> dict[str, Any]:
    """The columns of a record that are not of its place on the log; those that are missing are null.

    A record that cannot be decoded has `error`, `key` and `value` with what could be read of it.
    """
    found: dict[str, Any] = {"tombstone": value is None}
    try:
        kind = _int16.unpack_from(key)[0] if key is not None and len(key) >= 2 else -1
        if key is None or kind not in KEYS:
            raise MalformedMessage(_WHAT, "key", 0, "its type is not known")
        about: Any = decode_from(KEYS[kind][0], 0, key, 2)[0]
        found.update(
            event="snapshot" if kind == 0 else "update",
            group_id=about.group_id,
            topic_id=str(uuid.UUID(bytes=bytes(about.topic_id))),
            partition=about.partition,
        )
        if value is not None:
            _take(found, kind, value)
    except MalformedMessage as error:
        found.update(error=str(error), key=key, value=value)
    return found


def _take(found: dict[str, Any], kind: int, value: bytes) -> None:
    if len(value) < 2 or _int16.unpack_from(value)[0] != 0:
        raise MalformedMessage(_WHAT, "value", 0, "its version is not known")
    message: Any = decode_from(KEYS[kind][1], 0, value, 2)[0]
    found.update(
        schema_version=0,
        snapshot_epoch=message.snapshot_epoch,
        state_epoch=message.state_epoch if kind == 0 else None,
        leader_epoch=_or_none(message.leader_epoch),
        start_offset=_or_none(message.start_offset),
        delivery_complete_count=_or_none(message.delivery_complete_count),
        batches=[
            {
                "first_offset": one.first_offset,
                "last_offset": one.last_offset,
                "state": STATES.get(one.delivery_state, str(one.delivery_state)),
                "delivery_count": one.delivery_count,
            }
            for one in message.state_batches
        ],
    )


def _or_none(number: int) -> int | None:
    return None if number < 0 else number
