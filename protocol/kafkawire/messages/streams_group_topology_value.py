"""StreamsGroupTopologyValue (key 23), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class TopicConfig(Struct):
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


class TopicInfo(Struct):
    __slots__ = ("name", "partitions", "replication_factor", "topic_configs")
    FIELDS = (
        ("name", "string", (0, 0), None, None, None),
        ("partitions", "int32", (0, 0), None, None, None),
        ("replication_factor", "int16", (0, 0), None, None, None),
        ("topic_configs", "[]TopicConfig", (0, 0), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        partitions: int = 0,
        replication_factor: int = 0,
        topic_configs: Sequence[TopicConfig] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions
        self.replication_factor = replication_factor
        self.topic_configs = topic_configs


class CopartitionGroup(Struct):
    __slots__ = ("source_topics", "source_topic_regex", "repartition_source_topics")
    FIELDS = (
        ("source_topics", "[]int16", (0, 0), None, None, None),
        ("source_topic_regex", "[]int16", (0, 0), None, None, None),
        ("repartition_source_topics", "[]int16", (0, 0), None, None, None),
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
        ("subtopology_id", "string", (0, 0), None, None, None),
        ("source_topics", "[]string", (0, 0), None, None, None),
        ("source_topic_regex", "[]string", (0, 0), None, None, None),
        ("state_changelog_topics", "[]TopicInfo", (0, 0), None, None, None),
        ("repartition_sink_topics", "[]string", (0, 0), None, None, None),
        ("repartition_source_topics", "[]TopicInfo", (0, 0), None, None, None),
        ("copartition_groups", "[]CopartitionGroup", (0, 0), None, None, None),
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


class StreamsGroupTopologyValue(Message):
    __slots__ = ("epoch", "subtopologies")
    API_KEY = 23
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("epoch", "int32", (0, 0), None, None, None),
        ("subtopologies", "[]Subtopology", (0, 0), None, None, None),
    )

    def __init__(
        self,
        epoch: int = 0,
        subtopologies: Sequence[Subtopology] = (),
    ) -> None:
        self.epoch = epoch
        self.subtopologies = subtopologies
