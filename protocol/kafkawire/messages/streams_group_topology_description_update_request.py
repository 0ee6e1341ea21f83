"""StreamsGroupTopologyDescriptionUpdateRequest (key 93), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class TopologyDescriptionNode(Struct):
    __slots__ = ("name", "node_type", "source_topics", "sink_topic", "stores", "successors")
    FIELDS = (
        ("name", "string", (0, 0), None, None, None),
        ("node_type", "int8", (0, 0), None, None, None),
        ("source_topics", "[]string", (0, 0), None, None, None),
        ("sink_topic", "string", (0, 0), (0, 0), None, None),
        ("stores", "[]string", (0, 0), None, None, None),
        ("successors", "[]string", (0, 0), None, None, None),
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
        ("subtopology_id", "string", (0, 0), None, None, None),
        ("nodes", "[]TopologyDescriptionNode", (0, 0), None, None, None),
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
        ("source", "TopologyDescriptionNode", (0, 0), None, None, None),
        ("processor", "TopologyDescriptionNode", (0, 0), None, None, None),
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
        ("subtopologies", "[]TopologyDescriptionSubtopology", (0, 0), None, None, None),
        ("global_stores", "[]TopologyDescriptionGlobalStore", (0, 0), None, None, None),
    )

    def __init__(
        self,
        subtopologies: Sequence[TopologyDescriptionSubtopology] = (),
        global_stores: Sequence[TopologyDescriptionGlobalStore] = (),
    ) -> None:
        self.subtopologies = subtopologies
        self.global_stores = global_stores


class StreamsGroupTopologyDescriptionUpdateRequest(Message):
    __slots__ = ("group_id", "member_id", "topology_epoch", "topology_description")
    API_KEY = 93
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("group_id", "string", (0, 0), None, None, None),
        ("member_id", "string", (0, 0), None, None, None),
        ("topology_epoch", "int32", (0, 0), None, None, None),
        ("topology_description", "TopologyDescription", (0, 0), None, None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        topology_epoch: int = 0,
        topology_description: TopologyDescription | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.topology_epoch = topology_epoch
        self.topology_description = TopologyDescription() if topology_description is None else topology_description
