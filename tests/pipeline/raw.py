"""Records of `__consumer_offsets` as saved files have them, written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from kafkawire.offsets_topic import (
    RecordType,
    encode_key,
    encode_value,
    group_key,
    message_class,
    offset_key,
    offset_value,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NO_ID = bytes(16)

Record = tuple[bytes, bytes | None, int]
"""Key, value, and the record's time in milliseconds."""


def commit(
    group: str,
    topic: str,
    partition: int,
    at_ms: int,
    *,
    offset: int = 0,
    commit_ms: int | None = None,
    own: int = -1,
    version: int = 3,
) -> Record:
    value = offset_value(version, offset, -1, "", at_ms if commit_ms is None else commit_ms, own, NO_ID)
    return offset_key(group, topic, partition), value, at_ms


def tombstone(group: str, topic: str, partition: int, at_ms: int) -> Record:
    return offset_key(group, topic, partition), None, at_ms


def generation(
    group: str, at_ms: int, subscriptions: Sequence[bytes], *, number: int = 1, state_ms: int | None = None
) -> Record:
    """Group metadata, a member for each subscription."""
    from kafkawire.messages.group_metadata_value import GroupMetadataValue, MemberMetadata

    members = [
        MemberMetadata(f"m{n}", None, "client", "/host", 10, 20, subscription, b"")
        for n, subscription in enumerate(subscriptions)
    ]
    since = at_ms if state_ms is None else state_ms
    value = GroupMetadataValue("consumer", number, "range" if members else None, None, since, members)
    return group_key(group), encode_value(value, 3), at_ms


def modern(group: str, at_ms: int, topics: Sequence[str], epoch: int = 1) -> list[Record]:
    """A KIP-848 group with one member."""

    def message(type_: RecordType, part: str, **fields: Any) -> Any:
        found = message_class(type_, part)()
        for name, value in fields.items():
            setattr(found, name, value)
        return found

    group_type, member_type = RecordType.CONSUMER_GROUP_METADATA, RecordType.CONSUMER_GROUP_MEMBER_METADATA
    head = encode_key(message(group_type, "Key", group_id=group))
    member = encode_key(message(member_type, "Key", group_id=group, member_id="m"))
    return [
        (head, encode_value(message(group_type, "Value", epoch=epoch), 0), at_ms),
        (member, encode_value(message(member_type, "Value", subscribed_topic_names=list(topics)), 0), at_ms),
    ]


def saved(folder: Path, records: Sequence[Record], first_offset: int = 0) -> str:
    """A directory for `--raw`, with one partition of the log."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    table = pa.table(
        {
            "key": pa.array([key for key, _, _ in records], pa.binary()),
            "value": pa.array([value for _, value, _ in records], pa.binary()),
            "partition": pa.array([0] * len(records), pa.int32()),
            "offset": pa.array(range(first_offset, first_offset + len(records)), pa.int64()),
            "timestamp": pa.array(
                [EPOCH + timedelta(milliseconds=at) for _, _, at in records], pa.timestamp("us", "UTC")
            ),
        }
    )
    pq.write_table(table, folder / "records.parquet")
    return str(folder)
