"""DescribeLogDirsResponse (key 35), versions 1-5. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class DescribeLogDirsPartition(Struct):
    __slots__ = ("partition_index", "partition_size", "offset_lag", "is_future_key")
    FIELDS = (
        ("partition_index", "int32", (1, 5), None, None, None),
        ("partition_size", "int64", (1, 5), None, None, None),
        ("offset_lag", "int64", (1, 5), None, None, None),
        ("is_future_key", "bool", (1, 5), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        partition_size: int = 0,
        offset_lag: int = 0,
        is_future_key: bool = False,
    ) -> None:
        self.partition_index = partition_index
        self.partition_size = partition_size
        self.offset_lag = offset_lag
        self.is_future_key = is_future_key


class DescribeLogDirsTopic(Struct):
    __slots__ = ("name", "partitions")
    FIELDS = (
        ("name", "string", (1, 5), None, None, None),
        ("partitions", "[]DescribeLogDirsPartition", (1, 5), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[DescribeLogDirsPartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class DescribeLogDirsResult(Struct):
    __slots__ = ("error_code", "log_dir", "topics", "total_bytes", "usable_bytes", "is_cordoned")
    FIELDS = (
        ("error_code", "int16", (1, 5), None, None, None),
        ("log_dir", "string", (1, 5), None, None, None),
        ("topics", "[]DescribeLogDirsTopic", (1, 5), None, None, None),
        ("total_bytes", "int64", (4, 5), None, None, None),
        ("usable_bytes", "int64", (4, 5), None, None, None),
        ("is_cordoned", "bool", (5, 5), None, None, None),
    )

    def __init__(
        self,
        error_code: int = 0,
        log_dir: str = "",
        topics: Sequence[DescribeLogDirsTopic] = (),
        total_bytes: int = -1,
        usable_bytes: int = -1,
        is_cordoned: bool = False,
    ) -> None:
        self.error_code = error_code
        self.log_dir = log_dir
        self.topics = topics
        self.total_bytes = total_bytes
        self.usable_bytes = usable_bytes
        self.is_cordoned = is_cordoned


class DescribeLogDirsResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "results")
    API_KEY = 35
    VERSIONS = (1, 5)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (1, 5), None, None, None),
        ("error_code", "int16", (3, 5), None, None, None),
        ("results", "[]DescribeLogDirsResult", (1, 5), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results: Sequence[DescribeLogDirsResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results = results
