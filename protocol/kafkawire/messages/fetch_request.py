"""FetchRequest (key 1), versions 4-18. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class ReplicaState(Struct):
    __slots__ = ("replica_id", "replica_epoch")
    FIELDS = (
        ("replica_id", "int32", (15, 18), None, None, None),
        ("replica_epoch", "int64", (15, 18), None, None, None),
    )

    def __init__(
        self,
        replica_id: int = -1,
        replica_epoch: int = -1,
    ) -> None:
        self.replica_id = replica_id
        self.replica_epoch = replica_epoch


class FetchPartition(Struct):
    __slots__ = ("partition", "current_leader_epoch", "fetch_offset", "last_fetched_epoch", "log_start_offset", "partition_max_bytes", "replica_directory_id", "high_watermark")
    FIELDS = (
        ("partition", "int32", (4, 18), None, None, None),
        ("current_leader_epoch", "int32", (9, 18), None, None, None),
        ("fetch_offset", "int64", (4, 18), None, None, None),
        ("last_fetched_epoch", "int32", (12, 18), None, None, None),
        ("log_start_offset", "int64", (5, 18), None, None, None),
        ("partition_max_bytes", "int32", (4, 18), None, None, None),
        ("replica_directory_id", "uuid", (17, 18), None, 0, (17, 18)),
        ("high_watermark", "int64", (18, 18), None, 1, (18, 18)),
    )

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = -1,
        fetch_offset: int = 0,
        last_fetched_epoch: int = -1,
        log_start_offset: int = -1,
        partition_max_bytes: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        high_watermark: int = 9223372036854775807,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.fetch_offset = fetch_offset
        self.last_fetched_epoch = last_fetched_epoch
        self.log_start_offset = log_start_offset
        self.partition_max_bytes = partition_max_bytes
        self.replica_directory_id = replica_directory_id
        self.high_watermark = high_watermark


class FetchTopic(Struct):
    __slots__ = ("topic", "topic_id", "partitions")
    FIELDS = (
        ("topic", "string", (4, 12), None, None, None),
        ("topic_id", "uuid", (13, 18), None, None, None),
        ("partitions", "[]FetchPartition", (4, 18), None, None, None),
    )

    def __init__(
        self,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[FetchPartition] = (),
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = partitions


class ForgottenTopic(Struct):
    __slots__ = ("topic", "topic_id", "partitions")
    FIELDS = (
        ("topic", "string", (7, 12), None, None, None),
        ("topic_id", "uuid", (13, 18), None, None, None),
        ("partitions", "[]int32", (7, 18), None, None, None),
    )

    def __init__(
        self,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = partitions


class FetchRequest(Message):
    __slots__ = ("cluster_id", "replica_id", "replica_state", "max_wait_ms", "min_bytes", "max_bytes", "isolation_level", "session_id", "session_epoch", "topics", "forgotten_topics_data", "rack_id")
    API_KEY = 1
    VERSIONS = (4, 18)
    FLEXIBLE = (12, 32767)
    FIELDS = (
        ("cluster_id", "string", (12, 18), (12, 18), 0, (12, 18)),
        ("replica_id", "int32", (4, 14), None, None, None),
        ("replica_state", "ReplicaState", (15, 18), None, 1, (15, 18)),
        ("max_wait_ms", "int32", (4, 18), None, None, None),
        ("min_bytes", "int32", (4, 18), None, None, None),
        ("max_bytes", "int32", (4, 18), None, None, None),
        ("isolation_level", "int8", (4, 18), None, None, None),
        ("session_id", "int32", (7, 18), None, None, None),
        ("session_epoch", "int32", (7, 18), None, None, None),
        ("topics", "[]FetchTopic", (4, 18), None, None, None),
        ("forgotten_topics_data", "[]ForgottenTopic", (7, 18), None, None, None),
        ("rack_id", "string", (11, 18), None, None, None),
    )

    def __init__(
        self,
        cluster_id: str | None = None,
        replica_id: int = -1,
        replica_state: ReplicaState | None = None,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        isolation_level: int = 0,
        session_id: int = 0,
        session_epoch: int = -1,
        topics: Sequence[FetchTopic] = (),
        forgotten_topics_data: Sequence[ForgottenTopic] = (),
        rack_id: str = "",
    ) -> None:
        self.cluster_id = cluster_id
        self.replica_id = replica_id
        self.replica_state = ReplicaState() if replica_state is None else replica_state
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.isolation_level = isolation_level
        self.session_id = session_id
        self.session_epoch = session_epoch
        self.topics = topics
        self.forgotten_topics_data = forgotten_topics_data
        self.rack_id = rack_id
