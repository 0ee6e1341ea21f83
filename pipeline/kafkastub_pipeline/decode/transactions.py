"""`__transaction_state`: records decoded one by one. Each has all that is known of a transactional id (KIP-98, 890).

Kafka: TransactionLog, TransactionMetadata, TransactionState. As there, bytes behind a message are ignored.
"""

from __future__ import annotations

import struct
from typing import Any, Final

from kafkawire.codec import decode_from
from kafkawire.errors import MalformedMessage
from kafkawire.messages.transaction_log_key import TransactionLogKey
from kafkawire.messages.transaction_log_value import TransactionLogValue

STATES: Final = (
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "Dead",
    "PrepareEpochFence",
)
"""By the number in the record, as ListTransactions reports them."""
_WHAT: Final = "record of __transaction_state"
_KEY_VERSION: Final = 0
_VALUE_VERSIONS: Final = (0, 1)
_int16 = struct.Struct(">h")


def transaction_row(key: bytes | None, value: bytes | None) -> dict[str, Any]:
    """The columns of a record that are not of its place on the log; those that are missing are null.

    Times are milliseconds, -1 for none. A record that cannot be decoded has `error`, `key` and `value` with what could
    be read of it.
    """
    found: dict[str, Any] = {"tombstone": value is None}
    try:
        found["transactional_id"] = _id_of(key)
        if value is not None:
            _take(found, value)
    except MalformedMessage as error:
        found.update(error=str(error), key=key, value=value)
    return found


def _id_of(key: bytes | None) -> str:
    if key is None or len(key) < 2 or _int16.unpack_from(key)[0] != _KEY_VERSION:
        raise MalformedMessage(_WHAT, "key", 0, "its version is not known")
    message: Any = decode_from(TransactionLogKey, _KEY_VERSION, key, 2)[0]
    return str(message.transactional_id)


def _take(found: dict[str, Any], value: bytes) -> None:
    version = _int16.unpack_from(value)[0] if len(value) >= 2 else -1
    if version not in _VALUE_VERSIONS:
        raise MalformedMessage(_WHAT, "value", 0, f"version {version} is not known")
    message: Any = decode_from(TransactionLogValue, version, value, 2)[0]
    number = message.transaction_status
    if not 0 <= number < len(STATES):
        raise MalformedMessage(_WHAT, "status", 0, f"{number} is not a state")
    found.update(
        schema_version=version,
        state=STATES[number],
        producer_id=message.producer_id,
        previous_producer_id=_or_none(message.previous_producer_id),
        next_producer_id=_or_none(message.next_producer_id),
        producer_epoch=message.producer_epoch,
        timeout_ms=message.transaction_timeout_ms,
        client_transaction_version=message.client_transaction_version,
        partitions=[
            {"topic": one.topic, "partition": partition}
            for one in message.transaction_partitions or ()
            for partition in one.partition_ids
        ],
        started_ms=message.transaction_start_timestamp_ms,
        updated_ms=message.transaction_last_update_timestamp_ms,
    )


def _or_none(number: int) -> int | None:
    return None if number < 0 else number
