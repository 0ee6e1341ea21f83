"""ShareUpdateValue (key 1), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class StateBatch(Struct):
    __slots__ = ("first_offset", "last_offset", "delivery_state", "delivery_count")
    FIELDS = (
        ("first_offset", "int64", (0, 0), None, None, None),
        ("last_offset", "int64", (0, 0), None, None, None),
        ("delivery_state", "int8", (0, 0), None, None, None),
        ("delivery_count", "int16", (0, 0), None, None, None),
    )

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_state: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_state = delivery_state
        self.delivery_count = delivery_count


class ShareUpdateValue(Message):
    __slots__ = ("snapshot_epoch", "leader_epoch", "start_offset", "delivery_complete_count", "state_batches")
    API_KEY = 1
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("snapshot_epoch", "int32", (0, 0), None, None, None),
        ("leader_epoch", "int32", (0, 0), None, None, None),
        ("start_offset", "int64", (0, 0), None, None, None),
        ("delivery_complete_count", "int32", (0, 0), None, 0, (0, 0)),
        ("state_batches", "[]StateBatch", (0, 0), None, None, None),
    )

    def __init__(
        self,
        snapshot_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
        state_batches: Sequence[StateBatch] = (),
    ) -> None:
        self.snapshot_epoch = snapshot_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.delivery_complete_count = delivery_complete_count
        self.state_batches = state_batches
