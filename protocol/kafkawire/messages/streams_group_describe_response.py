"""StreamsGroupDescribeResponse (key 89), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

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


class Subtopology(Struct):
    __slots__ = ("subtopology_id", "source_topics", "repartition_sink_topics", "state_changelog_topics", "repartition_source_topics")
    FIELDS = (
        ("subtopology_id", "string", (0, 1), None, None, None),
        ("source_topics", "[]string", (0, 1), None, None, None),
        ("repartition_sink_topics", "[]string", (0, 1), None, None, None),
        ("state_changelog_topics", "[]TopicInfo", (0, 1), None, None, None),
        ("repartition_source_topics", "[]TopicInfo", (0, 1), None, None, None),
    )

    def __init__(
        self,
        subtopology_id: str = "",
        source_topics: Sequence[str] = (),
        repartition_sink_topics: Sequence[str] = (),
        state_changelog_topics: Sequence[TopicInfo] = (),
        repartition_source_topics: Sequence[TopicInfo] = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics = source_topics
        self.repartition_sink_topics = repartition_sink_topics
        self.state_changelog_topics = state_changelog_topics
        self.repartition_source_topics = repartition_source_topics


class Topology(Struct):
    __slots__ = ("epoch", "subtopologies")
    FIELDS = (
        ("epoch", "int32", (0, 1), None, None, None),
        ("subtopologies", "[]Subtopology", (0, 1), (0, 1), None, None),
    )

    def __init__(
        self,
        epoch: int = 0,
        subtopologies: Sequence[Subtopology] | None = None,
    ) -> None:
        self.epoch = epoch
        self.subtopologies = subtopologies


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


class Assignment(Struct):
    __slots__ = ("active_tasks", "standby_tasks", "warmup_tasks")
    FIELDS = (
        ("active_tasks", "[]TaskIds", (0, 1), None, None, None),
        ("standby_tasks", "[]TaskIds", (0, 1), None, None, None),
        ("warmup_tasks", "[]TaskIds", (0, 1), None, None, None),
    )

    def __init__(
        self,
        active_tasks: Sequence[TaskIds] = (),
        standby_tasks: Sequence[TaskIds] = (),
        warmup_tasks: Sequence[TaskIds] = (),
    ) -> None:
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks


class Member(Struct):
    __slots__ = ("member_id", "member_epoch", "instance_id", "rack_id", "client_id", "client_host", "topology_epoch", "process_id", "user_endpoint", "client_tags", "task_offsets", "task_end_offsets", "assignment", "target_assignment", "is_classic")
    FIELDS = (
        ("member_id", "string", (0, 1), None, None, None),
        ("member_epoch", "int32", (0, 1), None, None, None),
        ("instance_id", "string", (0, 1), (0, 1), None, None),
        ("rack_id", "string", (0, 1), (0, 1), None, None),
        ("client_id", "string", (0, 1), None, None, None),
        ("client_host", "string", (0, 1), None, None, None),
        ("topology_epoch", "int32", (0, 1), None, None, None),
        ("process_id", "string", (0, 1), None, None, None),
        ("user_endpoint", "Endpoint", (0, 1), (0, 1), None, None),
        ("client_tags", "[]KeyValue", (0, 1), None, None, None),
        ("task_offsets", "[]TaskOffset", (0, 1), None, None, None),
        ("task_end_offsets", "[]TaskOffset", (0, 1), None, None, None),
        ("assignment", "Assignment", (0, 1), None, None, None),
        ("target_assignment", "Assignment", (0, 1), None, None, None),
        ("is_classic", "bool", (0, 1), None, None, None),
    )

    def __init__(
        self,
        member_id: str = "",
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        topology_epoch: int = 0,
        process_id: str = "",
        user_endpoint: Endpoint | None = None,
        client_tags: Sequence[KeyValue] = (),
        task_offsets: Sequence[TaskOffset] = (),
        task_end_offsets: Sequence[TaskOffset] = (),
        assignment: Assignment | None = None,
        target_assignment: Assignment | None = None,
        is_classic: bool = False,
    ) -> None:
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.topology_epoch = topology_epoch
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = client_tags
        self.task_offsets = task_offsets
        self.task_end_offsets = task_end_offsets
        self.assignment = Assignment() if assignment is None else assignment
        self.target_assignment = Assignment() if target_assignment is None else target_assignment
        self.is_classic = is_classic


class TopologyDescriptionNode(Struct):
    __slots__ = ("name", "node_type", "source_topics", "sink_topic", "stores", "successors")
    FIELDS = (
        ("name", "string", (1, 1), None, None, None),
        ("node_type", "int8", (1, 1), None, None, None),
        ("source_topics", "[]string", (1, 1), None, None, None),
        ("sink_topic", "string", (1, 1), (1, 1), None, None),
        ("stores", "[]string", (1, 1), None, None, None),
        ("successors", "[]string", (1, 1), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        node_type: int = 0,
        source_topics: Sequence[str] = (),
        sink_topic: str | None = None,
        stores: Sequence[str] = (),
        successors: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.node_type = node_type
        self.source_topics = source_topics
        self.sink_topic = sink_topic
        self.stores = stores
        self.successors = successors


class TopologyDescriptionSubtopology(Struct):
    __slots__ = ("subtopology_id", "nodes")
    FIELDS = (
        ("subtopology_id", "string", (1, 1), None, None, None),
        ("nodes", "[]TopologyDescriptionNode", (1, 1), None, None, None),
    )

    def __init__(
        self,
        subtopology_id: str = "",
        nodes: Sequence[TopologyDescriptionNode] = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.nodes = nodes


class TopologyDescriptionGlobalStore(Struct):
    __slots__ = ("source", "processor")
    FIELDS = (
        ("source", "TopologyDescriptionNode", (1, 1), None, None, None),
        ("processor", "TopologyDescriptionNode", (1, 1), None, None, None),
    )

    def __init__(
        self,
        source: TopologyDescriptionNode | None = None,
        processor: TopologyDescriptionNode | None = None,
    ) -> None:
        self.source = TopologyDescriptionNode() if source is None else source
        self.processor = TopologyDescriptionNode() if processor is None else processor


class TopologyDescription(Struct):
    __slots__ = ("subtopologies", "global_stores")
    FIELDS = (
        ("subtopologies", "[]TopologyDescriptionSubtopology", (1, 1), None, None, None),
        ("global_stores", "[]TopologyDescriptionGlobalStore", (1, 1), None, None, None),
    )

    def __init__(
        self,
        subtopologies: Sequence[TopologyDescriptionSubtopology] = (),
        global_stores: Sequence[TopologyDescriptionGlobalStore] = (),
    ) -> None:
        self.subtopologies = subtopologies
        self.global_stores = global_stores


class DescribedGroup(Struct):
    __slots__ = ("error_code", "error_message", "group_id", "group_state", "group_epoch", "assignment_epoch", "topology", "members", "authorized_operations", "topology_description", "topology_description_status", "assignor_name")
    FIELDS = (
        ("error_code", "int16", (0, 1), None, None, None),
        ("error_message", "string", (0, 1), (0, 1), None, None),
        ("group_id", "string", (0, 1), None, None, None),
        ("group_state", "string", (0, 1), None, None, None),
        ("group_epoch", "int32", (0, 1), None, None, None),
        ("assignment_epoch", "int32", (0, 1), None, None, None),
        ("topology", "Topology", (0, 1), (0, 1), None, None),
        ("members", "[]Member", (0, 1), None, None, None),
        ("authorized_operations", "int32", (0, 1), None, None, None),
        ("topology_description", "TopologyDescription", (1, 1), (1, 1), None, None),
        ("topology_description_status", "int8", (1, 1), None, None, None),
        ("assignor_name", "string", (1, 1), (1, 1), None, None),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        topology: Topology | None = None,
        members: Sequence[Member] = (),
        authorized_operations: int = -2147483648,
        topology_description: TopologyDescription | None = None,
        topology_description_status: int = 0,
        assignor_name: str | None = None,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch
        self.topology = topology
        self.members = members
        self.authorized_operations = authorized_operations
        self.topology_description = topology_description
        self.topology_description_status = topology_description_status
        self.assignor_name = assignor_name


class StreamsGroupDescribeResponse(Message):
    __slots__ = ("throttle_time_ms", "groups")
    API_KEY = 89
    VERSIONS = (0, 1)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 1), None, None, None),
        ("groups", "[]DescribedGroup", (0, 1), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: Sequence[DescribedGroup] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = groups
