"""The records of the share coordinator: the only things that change what it knows, live and at load alike.

Each is one record of `__share_group_state`: a snapshot has all of a share partition, an update what has changed since.
They are not compacted: whoever reads the topic puts them together. Kafka: ShareCoordinatorRecordHelpers,
ShareCoordinatorRecordSerde, ShareGroupOffset.
"""

from __future__ import annotations

import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from kafkastub.share_coordinator.state_batches import StateBatch
from kafkawire.codec import decode_from, encoder
from kafkawire.errors import MalformedMessage
from kafkawire.messages import share_snapshot_value, share_update_value
from kafkawire.messages.share_snapshot_key import ShareSnapshotKey
from kafkawire.messages.share_snapshot_value import ShareSnapshotValue
from kafkawire.messages.share_update_key import ShareUpdateKey
from kafkawire.messages.share_update_value import ShareUpdateValue
from kafkawire.schema import Message

_int16 = struct.Struct(">h")
_VERSION: Final = 0
_WHAT: Final = "record of __share_group_state"
_LONG: Final = 300
"""Characters of a group id that nobody has who means well; keys with it are not kept."""


class SharePartitionKey(NamedTuple):
    """A partition as a share group reads it.

    Attributes:
        topic_id: 16 bytes.
    """

    group_id: str
    topic_id: bytes
    partition: int


class ShareSnapshot(NamedTuple):
    """All that is kept of a share partition.

    Attributes:
        snapshot_epoch: counts its snapshots.
        state_epoch: counts how often it was initialised.
        leader_epoch: of the leader that has read it last.
        start_offset: before it everything is done with; -1: never set.
        delivery_complete_count: so many records behind it are done with; -1: unknown.
        batches: ascending.
        create_timestamp: when it was written because something had changed, broker ms.
        write_timestamp: the same, or later where it was written again because long nothing had.
    """

    key: SharePartitionKey
    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    batches: Sequence[StateBatch]
    create_timestamp: int
    write_timestamp: int


class ShareUpdate(NamedTuple):
    """What has changed since the snapshot, and the updates since then.

    Attributes:
        snapshot_epoch: of the snapshot.
        leader_epoch: -1: as before.
        start_offset: -1: as before.
    """

    key: SharePartitionKey
    snapshot_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    batches: Sequence[StateBatch]


class ShareTombstone(NamedTuple):
    """The share partition is not known any more."""

    key: SharePartitionKey


ShareRecord = ShareSnapshot | ShareUpdate | ShareTombstone
"""What the share coordinator appends to `__share_group_state` and what it is restored from."""


def coordinator_key(key: SharePartitionKey) -> str:
    """What decides which partition of the topic has it, and what FindCoordinator is asked: "group:topic id:partition".

    Kafka: SharePartitionKey.asCoordinatorKey.
    """
    return _coordinator_key(key) if len(key.group_id) <= _LONG else _joined(key)


@lru_cache(10_000)
def _coordinator_key(key: SharePartitionKey) -> str:
    return _joined(key)


def _joined(key: SharePartitionKey) -> str:
    topic_id = urlsafe_b64encode(key.topic_id).rstrip(b"=").decode("ascii")
    return f"{key.group_id}:{topic_id}:{key.partition}"


def key_of(owner: str) -> SharePartitionKey:
    """Whose `coordinator_key` it is."""
    group_id, topic_id, partition = owner.rsplit(":", 2)
    return SharePartitionKey(group_id, urlsafe_b64decode(topic_id + "=="), int(partition))


class ShareCodec:
    """Records as keys and values of the topic, and back: a `RecordCodec` of the internal topic."""

    __slots__ = ()

    def owner(self, record: ShareRecord) -> str:
        return coordinator_key(record.key)

    def encode(self, record: ShareRecord) -> tuple[bytes, bytes | None]:
        if isinstance(record, ShareUpdate):
            return _encoded(ShareUpdateKey(*record.key)), _encoded(_update(record))
        key = _encoded(ShareSnapshotKey(*record.key))
        return key, None if isinstance(record, ShareTombstone) else _encoded(_snapshot(record))

    def decode(self, key: bytes | None, value: bytes | None) -> ShareRecord | None:
        """MalformedMessage for what is no record of the topic. An update without a value means nothing."""
        kind = _int16.unpack_from(key)[0] if key is not None and len(key) >= 2 else -1
        if key is None or kind not in _DECODERS:
            raise MalformedMessage(_WHAT, "key", 0, f"type {kind} is not known")
        key_type, value_type = _DECODERS[kind]
        found = decode_from(key_type, _VERSION, key, 2)[0]
        about = SharePartitionKey(found.group_id, found.topic_id, found.partition)
        if value is None:
            return ShareTombstone(about) if value_type is ShareSnapshotValue else None
        version = _int16.unpack_from(value)[0] if len(value) >= 2 else -1
        if version != _VERSION:
            raise MalformedMessage(_WHAT, "value", 0, f"version {version} is not known")
        return _record(about, decode_from(value_type, _VERSION, value, 2)[0])


def _encoded(message: Message) -> bytes:
    """A key begins with its type, a value with its version."""
    first = message.API_KEY if isinstance(message, ShareSnapshotKey | ShareUpdateKey) else _VERSION
    return b"".join((_int16.pack(first), *encoder(type(message), _VERSION)(message)))


def _snapshot(record: ShareSnapshot) -> ShareSnapshotValue:
    return ShareSnapshotValue(
        snapshot_epoch=record.snapshot_epoch,
        state_epoch=record.state_epoch,
        leader_epoch=record.leader_epoch,
        start_offset=record.start_offset,
        delivery_complete_count=record.delivery_complete_count,
        create_timestamp=record.create_timestamp,
        write_timestamp=record.write_timestamp,
        state_batches=[share_snapshot_value.StateBatch(*one) for one in record.batches],
    )


def _update(record: ShareUpdate) -> ShareUpdateValue:
    return ShareUpdateValue(
        snapshot_epoch=record.snapshot_epoch,
        leader_epoch=record.leader_epoch,
        start_offset=record.start_offset,
        delivery_complete_count=record.delivery_complete_count,
        state_batches=[share_update_value.StateBatch(*one) for one in record.batches],
    )


_DECODERS: Final[dict[int, tuple[type[Any], type[Any]]]] = {
    0: (ShareSnapshotKey, ShareSnapshotValue),
    1: (ShareUpdateKey, ShareUpdateValue),
}


def _record(key: SharePartitionKey, value: ShareSnapshotValue | ShareUpdateValue) -> ShareRecord:
    batches = tuple(
        StateBatch(one.first_offset, one.last_offset, one.delivery_state, one.delivery_count)
        for one in value.state_batches
    )
    if isinstance(value, ShareUpdateValue):
        return ShareUpdate(
            key, value.snapshot_epoch, value.leader_epoch, value.start_offset, value.delivery_complete_count, batches
        )
    return ShareSnapshot(
        key,
        value.snapshot_epoch,
        value.state_epoch,
        value.leader_epoch,
        value.start_offset,
        value.delivery_complete_count,
        batches,
        value.create_timestamp,
        value.write_timestamp,
    )
