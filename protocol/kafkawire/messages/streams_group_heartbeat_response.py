"""StreamsGroupHeartbeatResponse (key 88), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class Status(Struct):
    __slots__ = ("status_code", "status_detail")
    FIELDS = (
        ("status_code", "int8", (0, 1), None, None, None),
        ("status_detail", "string", (0, 1), None, None, None),
    )

    def __init__(
        self,
        status_code: int = 0,
        status_detail: str = "",
    ) -> None:
        self.status_code = status_code
        self.status_detail = status_detail


class TaskIds(Struct):
    __slots__ = ("subtopology_id", "partitions")
    FIELDS = (
        ("subtopology_id", "string", (0, 1), None, None, None),
        ("partitions", "[]int32", (0, 1), None, None, None),
    )

    def __init__(
        self,
        subtopology_id: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions = partitions


class Endpoint(Struct):
    __slots__ = ("host", "port")
    FIELDS = (
        ("host", "string", (0, 1), None, None, None),
        ("port", "uint16", (0, 1), None, None, None),
    )

    def __init__(
        self,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.host = host
        self.port = port


class TopicPartition(Struct):
    __slots__ = ("topic", "partitions")
    FIELDS = (
        ("topic", "string", (0, 1), None, None, None),
        ("partitions", "[]int32", (0, 1), None, None, None),
    )

    def __init__(
        self,
        topic: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


class EndpointToPartitions(Struct):
    __slots__ = ("user_endpoint", "active_partitions", "standby_partitions")
    FIELDS = (
        ("user_endpoint", "Endpoint", (0, 1), None, None, None),
        ("active_partitions", "[]TopicPartition", (0, 1), None, None, None),
        ("standby_partitions", "[]TopicPartition", (0, 1), None, None, None),
    )

    def __init__(
        self,
        user_endpoint: Endpoint | None = None,
        active_partitions: Sequence[TopicPartition] = (),
        standby_partitions: Sequence[TopicPartition] = (),
    ) -> None:
        self.user_endpoint = Endpoint() if user_endpoint is None else user_endpoint
        self.active_partitions = active_partitions
        self.standby_partitions = standby_partitions


class StreamsGroupHeartbeatResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "member_id", "member_epoch", "heartbeat_interval_ms", "acceptable_recovery_lag_legacy", "task_offset_interval_ms", "acceptable_recovery_lag", "status", "active_tasks", "standby_tasks", "warmup_tasks", "topology_description_required", "endpoint_information_epoch", "partitions_by_user_endpoint")
    API_KEY = 88
    VERSIONS = (0, 1)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 1), None, None, None),
        ("error_code", "int16", (0, 1), None, None, None),
        ("error_message", "string", (0, 1), (0, 1), None, None),
        ("member_id", "string", (0, 1), None, None, None),
        ("member_epoch", "int32", (0, 1), None, None, None),
        ("heartbeat_interval_ms", "int32", (0, 1), None, None, None),
        ("acceptable_recovery_lag_legacy", "int32", (0, 0), None, None, None),
        ("task_offset_interval_ms", "int32", (0, 1), None, None, None),
        ("acceptable_recovery_lag", "int64", (1, 1), None, None, None),
        ("status", "[]Status", (0, 1), (0, 1), None, None),
        ("active_tasks", "[]TaskIds", (0, 1), (0, 1), None, None),
        ("standby_tasks", "[]TaskIds", (0, 1), (0, 1), None, None),
        ("warmup_tasks", "[]TaskIds", (0, 1), (0, 1), None, None),
        ("topology_description_required", "bool", (1, 1), None, None, None),
        ("endpoint_information_epoch", "int32", (0, 1), None, None, None),
        ("partitions_by_user_endpoint", "[]EndpointToPartitions", (0, 1), (0, 1), None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str = "",
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        acceptable_recovery_lag_legacy: int = 0,
        task_offset_interval_ms: int = 0,
        acceptable_recovery_lag: int = -1,
        status: Sequence[Status] | None = (),
        active_tasks: Sequence[TaskIds] | None = None,
        standby_tasks: Sequence[TaskIds] | None = None,
        warmup_tasks: Sequence[TaskIds] | None = None,
        topology_description_required: bool = False,
        endpoint_information_epoch: int = 0,
        partitions_by_user_endpoint: Sequence[EndpointToPartitions] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.acceptable_recovery_lag_legacy = acceptable_recovery_lag_legacy
        self.task_offset_interval_ms = task_offset_interval_ms
        self.acceptable_recovery_lag = acceptable_recovery_lag
        self.status = status
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.topology_description_required = topology_description_required
        self.endpoint_information_epoch = endpoint_information_epoch
        self.partitions_by_user_endpoint = partitions_by_user_endpoint
