"""A topology beside the topics that there are: what it has for tasks, and what it still lacks.

Kafka: InternalTopicManager, ConfiguredTopology, ConfiguredSubtopology, ConfiguredInternalTopic.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import islice

from kafkastub.coordinator.cluster import ClusterImage
from kafkastub.coordinator.streams import changelog_topics, repartition_topics
from kafkastub.coordinator.streams.copartitioning import Copartitioning, groups_of
from kafkastub.coordinator.streams.statuses import Status, TopicConfigurationError, misfit
from kafkastub.coordinator.streams.topology import Subtopology, TopicInfo, Topology
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.java_order import copied, string_map_order, string_order

MOST_TASKS = 20_000
"""Of a group. Kafka has no such limit, but for the size of the records that tell members' tasks."""
_NAMED = 3
"""So many of the topics that are missing are named; of more, it is said how many."""


@dataclass(frozen=True, slots=True)
class ConfiguredInternalTopic:
    """An internal topic whose partitions are known.

    Attributes:
        replication_factor: None for the broker's default.
        topic_configs: in the order of Kafka's map.
    """

    name: str
    number_of_partitions: int
    replication_factor: int | None
    topic_configs: tuple[tuple[str, str], ...]


InternalTopics = Mapping[str, ConfiguredInternalTopic]
"""By name, in the order of Kafka's map."""


@dataclass(frozen=True, slots=True)
class ConfiguredSubtopology:
    """A subtopology with its tasks: one for each partition of its widest input.

    Attributes:
        source_topics: each once, in the order of Kafka's set; so are the topics that it writes to.
    """

    number_of_tasks: int
    source_topics: tuple[str, ...]
    repartition_source_topics: InternalTopics
    repartition_sink_topics: tuple[str, ...]
    state_changelog_topics: InternalTopics

    @property
    def stateful(self) -> bool:
        """Whether it has a state that is kept in a topic: then its tasks have standbys."""
        return bool(self.state_changelog_topics)


@dataclass(frozen=True, slots=True)
class ConfiguredTopology:
    """What came of a topology.

    Attributes:
        metadata_hash: of the topics that were looked at.
        subtopologies: by id, in the order of `String.compareTo`; None where the topics do not do for them.
        internal_topics_to_create: those that are not there.
        error: what members are to be told; None where tasks can be assigned.
        requested: those of them that the controller was asked for. Kafka keeps the entries of its request and can put
            none of them into a second one: what is deleted again, or failed, is asked for when the topics are others.
    """

    epoch: int
    metadata_hash: int
    subtopologies: Mapping[str, ConfiguredSubtopology] | None
    internal_topics_to_create: InternalTopics
    error: TopicConfigurationError | None
    requested: set[str] = field(default_factory=set, compare=False, repr=False)

    @property
    def is_ready(self) -> bool:
        """Whether tasks can be assigned."""
        return self.error is None


def configure(topology: Topology, metadata_hash: int, image: ClusterImage) -> ConfiguredTopology:
    """The topology with the topics as they are now.

    Raises STREAMS_INVALID_TOPOLOGY where no topics could do for it, UNKNOWN_SERVER_ERROR where Kafka fails at it, and
    INVALID_REQUEST for more tasks than anybody has, which all others would wait for.
    """
    copartition_groups = [group for one in topology.by_id.values() for group in groups_of(one)]
    try:
        _check_sources(topology, image)
        decided = _decide(topology, image, copartition_groups)
        counts = _Counts(image, decided)
        subtopologies = {
            name: _configured(topology.by_id[name], counts, decided)
            for name in sorted(topology.by_id, key=string_order)
        }
        _check_size(subtopologies)
        missing = _missing(topology, subtopologies, image)
    except TopicConfigurationError as error:
        return ConfiguredTopology(topology.epoch, metadata_hash, None, {}, error)
    why = None
    if missing:
        text = f"Internal topics are missing: {_summary(missing)}"
        why = TopicConfigurationError(Status.MISSING_INTERNAL_TOPICS, text)
    return ConfiguredTopology(topology.epoch, metadata_hash, subtopologies, missing, why)


def _check_size(subtopologies: Mapping[str, ConfiguredSubtopology]) -> None:
    tasks = sum(one.number_of_tasks for one in subtopologies.values())
    if tasks > MOST_TASKS:
        what = f"Topology has {tasks} tasks; this broker takes {MOST_TASKS}."
        raise KafkaError(ErrorCode.INVALID_REQUEST, what)


class _Counts:
    """The partitions of topics: as they are, and of those that are not there as they are to be."""

    def __init__(self, image: ClusterImage, decided: Mapping[str, int]) -> None:
        self._image = image
        self._decided = decided

    def existing_or_decided(self, name: str) -> int | None:
        """None where they are not known."""
        return self._image.partition_count(name) or self._decided.get(name)

    def of(self, name: str) -> int:
        """Raises UNKNOWN_SERVER_ERROR where they are not known."""
        count = self.existing_or_decided(name)
        if count is None:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        return count


def _check_sources(topology: Topology, image: ClusterImage) -> None:
    missing = {name for one in topology.by_id.values() for name in one.source_topics if not image.partition_count(name)}
    if missing:
        text = f"Source topics {_summary(sorted(missing, key=string_order))} are missing."
        raise TopicConfigurationError(Status.MISSING_SOURCE_TOPICS, text)


def _decide(topology: Topology, image: ClusterImage, copartition_groups: list[list[str]]) -> dict[str, int]:
    """The partitions that internal topics are to have, whether they are there or not."""
    subtopologies = list(topology.by_id.values())
    decided: dict[str, int] = {}
    counts = _Counts(image, decided)
    decided.update(repartition_topics.partition_counts(subtopologies, counts.existing_or_decided))
    read = [topic for one in subtopologies for topic in one.repartition_source_topics]
    copartitioning = Copartitioning(read, counts.of)
    for group in copartition_groups:
        decided.update(copartitioning.decided(group))
    decided.update(changelog_topics.partition_counts(subtopologies, counts.of))
    return decided


def _configured(one: Subtopology, counts: _Counts, decided: Mapping[str, int]) -> ConfiguredSubtopology:
    tasks = max(map(counts.of, one.inputs()))
    if tasks < 1:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return ConfiguredSubtopology(
        tasks,
        _set_of(one.source_topics),
        _internal_topics(one.repartition_source_topics, decided),
        _set_of(one.repartition_sink_topics),
        _internal_topics(one.state_changelog_topics, decided),
    )


def _set_of(names: Collection[str]) -> tuple[str, ...]:
    """As Kafka's set iterates that is made from the list."""
    return tuple(string_map_order(names, copied(len(names))))


def _internal_topics(topics: tuple[TopicInfo, ...], decided: Mapping[str, int]) -> InternalTopics:
    """Raises UNKNOWN_SERVER_ERROR for a topic, or a configuration of one, that comes twice, and for no partitions."""
    found: dict[str, ConfiguredInternalTopic] = {}
    for topic in topics:
        count = topic.partitions or decided.get(topic.name, 0)
        configs = dict(topic.topic_configs)
        if count < 1 or topic.name in found or len(configs) < len(topic.topic_configs):
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        in_order = tuple((name, configs[name]) for name in string_map_order(configs))
        found[topic.name] = ConfiguredInternalTopic(topic.name, count, topic.replication_factor or None, in_order)
    return {name: found[name] for name in string_map_order(found)}


def _missing(
    topology: Topology, subtopologies: Mapping[str, ConfiguredSubtopology], image: ClusterImage
) -> InternalTopics:
    """The internal topics that are not there. Raises TopicConfigurationError where one has other partitions."""
    wanted: dict[str, ConfiguredInternalTopic] = {}
    for one in subtopologies.values():
        wanted.update(one.repartition_source_topics)
        wanted.update(one.state_changelog_topics)
    there = {name: image.partition_count(name) for name in topology.required_topics()}
    for name, found in there.items():
        expected = wanted.get(name)
        if found and expected is not None and found != expected.number_of_partitions:
            raise misfit(
                f"Existing topic {name} has different number of partitions: "
                f"expected {expected.number_of_partitions}, found {found}"
            )
    return {name: wanted[name] for name in string_map_order(wanted) if not there[name]}


def _summary(names: Collection[str]) -> str:
    """The first of them, and how many more there are."""
    more = len(names) - _NAMED
    text = ", ".join(islice(names, _NAMED))
    return f"{text} and {more} additional topics" if more > 0 else text
