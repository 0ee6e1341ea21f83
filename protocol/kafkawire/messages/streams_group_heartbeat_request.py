"""StreamsGroupHeartbeatRequest (key 88), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class KeyValue(Struct):
    __slots__ = ("key", "value")
    FIELDS = (
        ("key", "string", (0, 1), None, None, None),
        ("value", "string", (0, 1), None, None, None),
    )

    def __init__(
        self,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key = key
        self.value = value


class TopicInfo(Struct):
    __slots__ = ("name", "partitions", "replication_factor", "topic_configs")
    FIELDS = (
        ("name", "string", (0, 1), None, None, None),
        ("partitions", "int32", (0, 1), None, None, None),
        ("replication_factor", "int16", (0, 1), None, None, None),
        ("topic_configs", "[]KeyValue", (0, 1), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        partitions: int = 0,
        replication_factor: int = 0,
        topic_configs: Sequence[KeyValue] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions
        self.replication_factor = replication_factor
        self.topic_configs = topic_configs


class CopartitionGroup(Struct):
    __slots__ = ("source_topics", "source_topic_regex", "repartition_source_topics")
    FIELDS = (
        ("source_topics", "[]int16", (0, 1), None, None, None),
        ("source_topic_regex", "[]int16", (0, 1), None, None, None),
        ("repartition_source_topics", "[]int16", (0, 1), None, None, None),
    )

    def __init__(
        self,
        source_topics: Sequence[int] = (),
        source_topic_regex: Sequence[int] = (),
        repartition_source_topics: Sequence[int] = (),
    ) -> None:
        self.source_topics = source_topics
        self.source_topic_regex = source_topic_regex
        self.repartition_source_topics = repartition_source_topics


class Subtopology(Struct):
    __slots__ = ("subtopology_id", "source_topics", "source_topic_regex", "state_changelog_topics", "repartition_sink_topics", "repartition_source_topics", "copartition_groups")
    FIELDS = (
        ("subtopology_id", "string", (0, 1), None, None, None),
        ("source_topics", "[]string", (0, 1), None, None, None),
        ("source_topic_regex", "[]string", (0, 1), None, None, None),
        ("state_changelog_topics", "[]TopicInfo", (0, 1), None, None, None),
        ("repartition_sink_topics", "[]string", (0, 1), None, None, None),
        ("repartition_source_topics", "[]TopicInfo", (0, 1), None, None, None),
        ("copartition_groups", "[]CopartitionGroup", (0, 1), None, None, None),
    )

    def __init__(
        self,
        subtopology_id: str = "",
        source_topics: Sequence[str] = (),
        source_topic_regex: Sequence[str] = (),
        state_changelog_topics: Sequence[TopicInfo] = (),
        repartition_sink_topics: Sequence[str] = (),
        repartition_source_topics: Sequence[TopicInfo] = (),
        copartition_groups: Sequence[CopartitionGroup] = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics = source_topics
        self.source_topic_regex = source_topic_regex
        self.state_changelog_topics = state_changelog_topics
        self.repartition_sink_topics = repartition_sink_topics
        self.repartition_source_topics = repartition_source_topics
        self.copartition_groups = copartition_groups


class Topology(Struct):
    __slots__ = ("epoch", "subtopologies")
    FIELDS = (
        ("epoch", "int32", (0, 1), None, None, None),
        ("subtopologies", "[]Subtopology", (0, 1), None, None, None),
    )

    def __init__(
        self,
        epoch: int = 0,
        subtopologies: Sequence[Subtopology] = (),
    ) -> None:
        self.epoch = epoch
        self.subtopologies = subtopologies


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


class TaskOffset(Struct):
    __slots__ = ("subtopology_id", "partition", "offset")
    FIELDS = (
        ("subtopology_id", "string", (0, 1), None, None, None),
        ("partition", "int32", (0, 1), None, None, None),
        ("offset", "int64", (0, 1), None, None, None),
    )

    def __init__(
        self,
        subtopology_id: str = "",
        partition: int = 0,
        offset: int = 0,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partition = partition
        self.offset = offset


class StreamsGroupHeartbeatRequest(Message):
    __slots__ = ("group_id", "member_id", "member_epoch", "endpoint_information_epoch", "instance_id", "rack_id", "rebalance_timeout_ms", "topology", "active_tasks", "standby_tasks", "warmup_tasks", "process_id", "user_endpoint", "client_tags", "task_offsets", "task_end_offsets", "shutdown_application")
    API_KEY = 88
    VERSIONS = (0, 1)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("group_id", "string", (0, 1), None, None, None),
        ("member_id", "string", (0, 1), None, None, None),
        ("member_epoch", "int32", (0, 1), None, None, None),
        ("endpoint_information_epoch", "int32", (0, 1), None, None, None),
        ("instance_id", "string", (0, 1), (0, 1), None, None),
        ("rack_id", "string", (0, 1), (0, 1), None, None),
        ("rebalance_timeout_ms", "int32", (0, 1), None, None, None),
        ("topology", "Topology", (0, 1), (0, 1), None, None),
        ("active_tasks", "[]TaskIds", (0, 1), (0, 1), None, None),
        ("standby_tasks", "[]TaskIds", (0, 1), (0, 1), None, None),
        ("warmup_tasks", "[]TaskIds", (0, 1), (0, 1), None, None),
        ("process_id", "string", (0, 1), (0, 1), None, None),
        ("user_endpoint", "Endpoint", (0, 1), (0, 1), None, None),
        ("client_tags", "[]KeyValue", (0, 1), (0, 1), None, None),
        ("task_offsets", "[]TaskOffset", (0, 1), (0, 1), None, None),
        ("task_end_offsets", "[]TaskOffset", (0, 1), (0, 1), None, None),
        ("shutdown_application", "bool", (0, 1), None, None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        endpoint_information_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        topology: Topology | None = None,
        active_tasks: Sequence[TaskIds] | None = None,
        standby_tasks: Sequence[TaskIds] | None = None,
        warmup_tasks: Sequence[TaskIds] | None = None,
        process_id: str | None = None,
        user_endpoint: Endpoint | None = None,
        client_tags: Sequence[KeyValue] | None = None,
        task_offsets: Sequence[TaskOffset] | None = None,
        task_end_offsets: Sequence[TaskOffset] | None = None,
        shutdown_application: bool = False,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.endpoint_information_epoch = endpoint_information_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.topology = topology
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = client_tags
        self.task_offsets = task_offsets
        self.task_end_offsets = task_end_offsets
        self.shutdown_application = shutdown_application
