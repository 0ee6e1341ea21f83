"""What a Kafka Streams application says it is made of. Kafka: StreamsTopology, StreamsGroupTopologyValue.

The members of a streams group send their topology when they join (KIP-1071); the group keeps the first one, in a
record. What the broker makes of it, with the topics that there are, is in `configured.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.java_order import string_map_order
from kafkawire.messages import streams_group_heartbeat_request as request
from kafkawire.messages import streams_group_topology_value as record

RawTopology = request.Topology | record.StreamsGroupTopologyValue
"""What a member sends and what is written have the same fields."""

MOST_ITEMS = 5_000
"""Subtopologies, topics and configurations that a member may send, together. Kafka has no such limit, but for the size
of the record that they are in."""


@dataclass(frozen=True, slots=True)
class TopicInfo:
    """An internal topic.

    Attributes:
        partitions: 0 where the broker is to find out how many.
        replication_factor: 0 for the broker's default.
        topic_configs: names and values, in the order in which they were sent.
    """

    name: str
    partitions: int = 0
    replication_factor: int = 0
    topic_configs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class CopartitionGroup:
    """Topics that must have as many partitions as each other: positions in the lists of their subtopology."""

    source_topics: tuple[int, ...] = ()
    source_topic_regex: tuple[int, ...] = ()
    repartition_source_topics: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Subtopology:
    """A part of the application that is connected in itself, and of which there is a task for each partition."""

    subtopology_id: str
    source_topics: tuple[str, ...] = ()
    source_topic_regex: tuple[str, ...] = ()
    state_changelog_topics: tuple[TopicInfo, ...] = ()
    repartition_sink_topics: tuple[str, ...] = ()
    repartition_source_topics: tuple[TopicInfo, ...] = ()
    copartition_groups: tuple[CopartitionGroup, ...] = ()

    @property
    def stateful(self) -> bool:
        """Whether it has a state that is kept in a topic."""
        return bool(self.state_changelog_topics)

    def inputs(self) -> list[str]:
        """The topics that it reads: those of others and its own, in the order in which they were sent."""
        return [*self.source_topics, *(topic.name for topic in self.repartition_source_topics)]


@dataclass(frozen=True, slots=True, eq=False)
class Topology:
    """What a group runs.

    Two are equal where epoch and subtopologies are, in whatever order these were sent, as in Kafka.

    Attributes:
        subtopologies: each id once, in the order in which they were sent and written.
        by_id: the same, in the order of Kafka's map.
    """

    epoch: int
    subtopologies: tuple[Subtopology, ...]
    by_id: Mapping[str, Subtopology] = field(init=False, repr=False)
    _sources: Mapping[str, Subtopology] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        found = {one.subtopology_id: one for one in self.subtopologies}
        by_id = {name: found[name] for name in string_map_order(found)}
        object.__setattr__(self, "by_id", by_id)
        object.__setattr__(self, "_sources", {topic: one for one in by_id.values() for topic in one.inputs()})

    @classmethod
    def of(cls, raw: RawTopology) -> Topology:
        """What a heartbeat or a record says.

        Raises UNKNOWN_SERVER_ERROR, without a text, where Kafka fails: an epoch below 0, an id that comes twice.
        """
        if raw.epoch < 0 or len({one.subtopology_id for one in raw.subtopologies}) < len(raw.subtopologies):
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        return cls(raw.epoch, tuple(map(_subtopology, raw.subtopologies)))

    from_record = of

    @classmethod
    def from_heartbeat(cls, raw: request.Topology) -> Topology:
        """What a member says. Raises INVALID_REQUEST for more than anybody has, which all others would wait for."""
        items = sum(map(_items, raw.subtopologies))
        if items > MOST_ITEMS:
            what = f"Topology has {items} subtopologies, topics and configurations; this broker takes {MOST_ITEMS}."
            raise KafkaError(ErrorCode.INVALID_REQUEST, what)
        return cls.of(raw)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Topology):
            return NotImplemented
        return self.epoch == other.epoch and self.by_id == other.by_id

    def __hash__(self) -> int:
        return hash((self.epoch, frozenset(self.subtopologies)))

    def sources(self) -> Mapping[str, Subtopology]:
        """Who reads a topic, whether it is another's or its own. What it keeps its state in is not read."""
        return self._sources

    def required_topics(self) -> list[str]:
        """All topics that must be there, each once, in the order of Kafka's set."""
        return string_map_order(
            name
            for one in self.by_id.values()
            for name in (*one.inputs(), *(topic.name for topic in one.state_changelog_topics))
        )


def _items(raw: request.Subtopology) -> int:
    names = len(raw.source_topics) + len(raw.source_topic_regex) + len(raw.repartition_sink_topics)
    topics = (*raw.state_changelog_topics, *raw.repartition_source_topics)
    joined = (len(one.source_topics) + len(one.repartition_source_topics) for one in raw.copartition_groups)
    configs = sum(len(topic.topic_configs) for topic in topics)
    return 1 + names + len(topics) + configs + len(raw.copartition_groups) + sum(joined)


def _subtopology(raw: request.Subtopology | record.Subtopology) -> Subtopology:
    return Subtopology(
        raw.subtopology_id,
        tuple(raw.source_topics),
        tuple(raw.source_topic_regex),
        tuple(map(_topic, raw.state_changelog_topics)),
        tuple(raw.repartition_sink_topics),
        tuple(map(_topic, raw.repartition_source_topics)),
        tuple(map(_copartition_group, raw.copartition_groups)),
    )


def _topic(raw: request.TopicInfo | record.TopicInfo) -> TopicInfo:
    configs = tuple((one.key, one.value) for one in raw.topic_configs)
    return TopicInfo(raw.name, raw.partitions, raw.replication_factor, configs)


def _copartition_group(raw: request.CopartitionGroup | record.CopartitionGroup) -> CopartitionGroup:
    return CopartitionGroup(
        tuple(raw.source_topics), tuple(raw.source_topic_regex), tuple(raw.repartition_source_topics)
    )
