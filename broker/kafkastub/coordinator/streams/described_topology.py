"""A topology as StreamsGroupDescribe tells it. Kafka: asStreamsGroupDescribeTopology of both kinds of topology."""

from __future__ import annotations

from collections.abc import Iterable

from kafkastub.coordinator.streams.configured import ConfiguredInternalTopic, ConfiguredTopology
from kafkastub.coordinator.streams.topology import TopicInfo, Topology
from kafkawire.java_order import string_order
from kafkawire.messages.streams_group_describe_response import KeyValue, Subtopology
from kafkawire.messages.streams_group_describe_response import TopicInfo as ToldTopic
from kafkawire.messages.streams_group_describe_response import Topology as ToldTopology


def topology_described(topology: Topology, configured: ConfiguredTopology | None) -> ToldTopology:
    """What the group runs: with partitions as decided where it is ready, else as its members sent it."""
    if configured is None or not configured.is_ready or configured.subtopologies is None:
        by_id = topology.by_id
        return ToldTopology(
            topology.epoch,
            [
                Subtopology(
                    name,
                    _in_order(by_id[name].source_topics),
                    _in_order(by_id[name].repartition_sink_topics),
                    _told(map(_as_sent, by_id[name].state_changelog_topics)),
                    _told(map(_as_sent, by_id[name].repartition_source_topics)),
                )
                for name in _in_order(by_id)
            ],
        )
    return ToldTopology(
        configured.epoch,
        [
            Subtopology(
                name,
                _in_order(one.source_topics),
                _in_order(one.repartition_sink_topics),
                _told(map(_as_decided, one.state_changelog_topics.values())),
                _told(map(_as_decided, one.repartition_source_topics.values())),
            )
            for name, one in configured.subtopologies.items()
        ],
    )


def _in_order(names: Iterable[str]) -> list[str]:
    return sorted(names, key=string_order)


def _told(topics: Iterable[ToldTopic]) -> list[ToldTopic]:
    return sorted(topics, key=lambda topic: string_order(topic.name))


def _as_sent(topic: TopicInfo) -> ToldTopic:
    return ToldTopic(topic.name, topic.partitions, topic.replication_factor, _configs(topic.topic_configs))


def _as_decided(topic: ConfiguredInternalTopic) -> ToldTopic:
    return ToldTopic(
        topic.name, topic.number_of_partitions, topic.replication_factor or 0, _configs(topic.topic_configs)
    )


def _configs(configs: tuple[tuple[str, str], ...]) -> list[KeyValue]:
    return [KeyValue(name, value) for name, value in configs]
