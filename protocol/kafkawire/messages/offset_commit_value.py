"""OffsetCommitValue (key 1), versions 0-4. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import ZERO_UUID, Message


class OffsetCommitValue(Message):
    __slots__ = ("offset", "leader_epoch", "metadata", "commit_timestamp", "expire_timestamp", "topic_id")
    API_KEY = 1
    VERSIONS = (0, 4)
    FLEXIBLE = (4, 32767)
    FIELDS = (
        ("offset", "int64", (0, 4), None, None, None),
        ("leader_epoch", "int32", (3, 4), None, None, None),
        ("metadata", "string", (0, 4), None, None, None),
        ("commit_timestamp", "int64", (0, 4), None, None, None),
        ("expire_timestamp", "int64", (1, 1), None, None, None),
        ("topic_id", "uuid", (4, 4), None, 0, (4, 4)),
    )

    def __init__(
        self,
        offset: int = 0,
        leader_epoch: int = -1,
        metadata: str = "",
        commit_timestamp: int = 0,
        expire_timestamp: int = -1,
        topic_id: bytes = ZERO_UUID,
    ) -> None:
        self.offset = offset
        self.leader_epoch = leader_epoch
        self.metadata = metadata
        self.commit_timestamp = commit_timestamp
        self.expire_timestamp = expire_timestamp
        self.topic_id = topic_id
