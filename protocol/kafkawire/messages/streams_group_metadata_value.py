"""StreamsGroupMetadataValue (key 17), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class LastAssignmentConfig(Struct):
    __slots__ = ("key", "value")
    FIELDS = (
        ("key", "string", (0, 0), None, None, None),
        ("value", "string", (0, 0), None, None, None),
    )

    def __init__(
        self,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key = key
        self.value = value


class StreamsGroupMetadataValue(Message):
    __slots__ = ("epoch", "metadata_hash", "validated_topology_epoch", "last_assignment_configs", "stored_description_topology_epoch", "failed_description_topology_epoch")
    API_KEY = 17
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("epoch", "int32", (0, 0), None, None, None),
        ("metadata_hash", "int64", (0, 0), None, None, None),
        ("validated_topology_epoch", "int32", (0, 0), None, 0, (0, 0)),
        ("last_assignment_configs", "[]LastAssignmentConfig", (0, 0), (0, 0), 1, (0, 0)),
        ("stored_description_topology_epoch", "int32", (0, 0), None, 2, (0, 0)),
        ("failed_description_topology_epoch", "int32", (0, 0), None, 3, (0, 0)),
    )

    def __init__(
        self,
        epoch: int = 0,
        metadata_hash: int = 0,
        validated_topology_epoch: int = -1,
        last_assignment_configs: Sequence[LastAssignmentConfig] | None = (),
        stored_description_topology_epoch: int = -1,
        failed_description_topology_epoch: int = -1,
    ) -> None:
        self.epoch = epoch
        self.metadata_hash = metadata_hash
        self.validated_topology_epoch = validated_topology_epoch
        self.last_assignment_configs = last_assignment_configs
        self.stored_description_topology_epoch = stored_description_topology_epoch
        self.failed_description_topology_epoch = failed_description_topology_epoch
