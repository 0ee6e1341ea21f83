"""The journal as data: JSON lines and Parquet. docs/journal.md documents the schema, and is compared with this."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from kafkastub.journal.entry import Entry, error_name

SCHEMA_VERSION: Final = 1
"""Raised when a column changes its meaning or goes; a new column does not raise it."""

COLUMNS: Final = (
    ("schema_version", "int32", "version of this schema"),
    ("sequence", "int64", "number of the entry, counted from the start of the journal"),
    ("kind", "string", "`request`, or `clock` for a move of the broker's clock"),
    ("broker_time", "timestamp[ms, UTC]", "arrival by the broker's clock; for `clock` the new time"),
    ("wall_time", "timestamp[us, UTC]", "arrival by the machine's clock"),
    ("duration_us", "int64, null", "microseconds to the answer; null if there was none"),
    ("connection_id", "int64", "number of the connection, from 1; -1 for `clock`"),
    ("peer", "string", "HOST:PORT of the client; [HOST]:PORT for an IPv6 address"),
    ("listener", "string", "name of the listener that received it"),
    ("node_id", "int32", "the node that received it"),
    ("principal", "string", "principal of the client, for example `User:ANONYMOUS`"),
    ("client_id", "string, null", "from the request's header"),
    ("software_name", "string", "the client's software (KIP-511), or `unknown`"),
    ("software_version", "string", "version of the client's software"),
    ("api_key", "int16", "number of the API; -1 if the frame has none"),
    ("api", "string", "name of the API, for example `OffsetCommit`"),
    ("api_version", "int16", "version of the API; -1 if the frame has none"),
    ("correlation_id", "int32", "from the request's header"),
    ("groups", "list<string>", "groups that the request names"),
    (
        "members",
        "list<struct<member_id: string, instance_id: string, epoch: int32>>",
        "members that send the request or that it names, with their generation or epoch; null if it has none",
    ),
    (
        "transactions",
        "list<struct<transactional_id: string, producer_id: int64, producer_epoch: int16>>",
        "transactions that the request belongs to or names; null and -1 if it does not say",
    ),
    ("topics", "list<string>", "topics that the request names, with ids resolved"),
    ("partitions", "list<struct<topic: string, partition: int32>>", "partitions that the request names"),
    (
        "errors",
        "list<struct<code: int16, name: string, count: int32>>",
        "error codes in the answer with their counts, NONE included",
    ),
    ("outcome", "string", "`reply`, `pending`, `no_reply`, `closed`, `refused`, `dropped`; `clock` for a move"),
    ("fault", "string, null", "id of the fault rule that fired"),
    ("request", "binary, null", "the request frame without its size; null unless frames are requested"),
    ("response", "binary, null", "the response frame with its size; null unless frames are requested"),
    ("request_message", "json, null", "the request field by field; null unless messages are requested"),
    ("response_message", "json, null", "the answer field by field; null unless messages are requested"),
)
"""(name, type, meaning) of each column."""


def row(entry: Entry, frames: bool, messages: bool = False) -> dict[str, Any]:
    """An entry as the columns have it, as Python values; a column of JSON as what JSON says."""
    sender = entry.sender
    return {
        "schema_version": SCHEMA_VERSION,
        "sequence": entry.sequence,
        "kind": entry.kind,
        "broker_time": entry.broker_time,
        "wall_time": entry.wall_time,
        "duration_us": entry.duration_us,
        "connection_id": sender.connection_id,
        "peer": sender.peer,
        "listener": sender.listener,
        "node_id": sender.node_id,
        "principal": sender.principal,
        "client_id": entry.client_id,
        "software_name": sender.software_name,
        "software_version": sender.software_version,
        "api_key": entry.api_key,
        "api": entry.api,
        "api_version": entry.api_version,
        "correlation_id": entry.correlation_id,
        "groups": list(entry.groups),
        "members": [one._asdict() for one in entry.members],
        "transactions": [one._asdict() for one in entry.transactions],
        "topics": list(entry.topics),
        "partitions": [{"topic": topic, "partition": index} for topic, index in entry.partitions],
        "errors": [
            {"code": code, "name": error_name(code), "count": count} for code, count in sorted(entry.errors.items())
        ],
        "outcome": entry.outcome,
        "fault": entry.fault,
        "request": entry.request_frame if frames else None,
        "response": entry.response_frame if frames else None,
        "request_message": entry.request_message if messages else None,
        "response_message": entry.response_message if messages else None,
    }


def line(entry: Entry, frames: bool, messages: bool = False) -> str:
    """An entry as a line of JSON."""
    return json.dumps(row(entry, frames, messages), default=json_value, ensure_ascii=False) + "\n"


def write_jsonl(
    entries: Iterable[Entry], path: str | os.PathLike[str], frames: bool = False, messages: bool = False
) -> Path:
    """One JSON object an entry; times in ISO 8601, frames in base64."""
    target = Path(path)
    with target.open("w", encoding="utf-8") as out:
        for entry in entries:
            out.write(line(entry, frames, messages))
    return target


def write_parquet(
    entries: Iterable[Entry], path: str | os.PathLike[str], frames: bool = False, messages: bool = False
) -> Path:
    """A Parquet file. Raises ImportError with what to install."""
    try:
        pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise ImportError("a journal as Parquet needs pyarrow: pip install 'kafkastub[journal]'") from None
    target = Path(path)
    schema = parquet_schema()
    rows = [_flat(row(entry, frames, messages)) for entry in entries]
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), target)
    return target


def _flat(values: dict[str, Any]) -> dict[str, Any]:
    """With JSON as text."""
    for name in ("request_message", "response_message"):
        if values[name] is not None:
            values[name] = json.dumps(values[name], ensure_ascii=False)
    return values


def parquet_schema() -> Any:
    """The pyarrow schema of `COLUMNS`."""
    pa = import_module("pyarrow")
    types = {
        "int16": pa.int16(),
        "int32": pa.int32(),
        "int64": pa.int64(),
        "string": pa.string(),
        "json": pa.string(),
        "binary": pa.binary(),
        "timestamp[ms, UTC]": pa.timestamp("ms", tz="UTC"),
        "timestamp[us, UTC]": pa.timestamp("us", tz="UTC"),
        "list<string>": pa.list_(pa.string()),
        "list<struct<topic: string, partition: int32>>": pa.list_(
            pa.struct([pa.field("topic", pa.string()), pa.field("partition", pa.int32())])
        ),
        "list<struct<member_id: string, instance_id: string, epoch: int32>>": pa.list_(
            pa.struct(
                [
                    pa.field("member_id", pa.string()),
                    pa.field("instance_id", pa.string()),
                    pa.field("epoch", pa.int32()),
                ]
            )
        ),
        "list<struct<transactional_id: string, producer_id: int64, producer_epoch: int16>>": pa.list_(
            pa.struct(
                [
                    pa.field("transactional_id", pa.string()),
                    pa.field("producer_id", pa.int64()),
                    pa.field("producer_epoch", pa.int16()),
                ]
            )
        ),
        "list<struct<code: int16, name: string, count: int32>>": pa.list_(
            pa.struct([pa.field("code", pa.int16()), pa.field("name", pa.string()), pa.field("count", pa.int32())])
        ),
    }
    return pa.schema(
        [pa.field(name, types[kind.removesuffix(", null")], kind.endswith(", null")) for name, kind, _ in COLUMNS]
    )


def json_value(value: Any) -> str:
    """What JSON has no form for: bytes in base64, times in ISO 8601."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value.isoformat())
