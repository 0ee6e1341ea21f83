"""What single groups are configured for, as their coordinator is told; and the topics as it sees them."""

from __future__ import annotations

import random

import pytest

from kafkastub.config import BrokerConfig, Profile
from kafkastub.coordinator.modern.settings import GroupConfig
from kafkastub.coordinator.streams.settings import StreamsGroupConfig
from kafkastub.metadata import Cluster, Node
from kafkastub.state.group_overrides import GroupOverrides
from kafkastub.state.topics_image import TopicsImage


@pytest.fixture
def cluster() -> Cluster:
    racks = {1: "a", 2: "b", 3: "a", 4: None}
    return Cluster(random.Random(1), [Node(number, "h", number, rack=rack) for number, rack in racks.items()])


def test_a_group_without_configuration_has_none(cluster: Cluster):
    assert GroupOverrides(BrokerConfig({}, Profile.named("kafka")), cluster).of("consumer", "g", GroupConfig) is None


def test_overrides_are_typed_and_followed_as_they_change(cluster: Cluster):
    overrides = GroupOverrides(BrokerConfig({}, Profile.named("kafka")), cluster)
    cluster.group_configs["g"] = {"consumer.session.timeout.ms": "46000", "consumer.assignor.offload.enable": "FALSE"}
    assert overrides.of("consumer", "g", GroupConfig) == GroupConfig(46_000, None, None, assignor_offload=False)
    cluster.group_configs["g"] = {"consumer.assignment.interval.ms": "0", "share.session.timeout.ms": "46000"}
    assert overrides.of("consumer", "g", GroupConfig) == GroupConfig(assignment_interval_ms=0)
    del cluster.group_configs["g"]
    assert overrides.of("consumer", "g", GroupConfig) is None


def test_what_was_set_under_wider_bounds_counts_as_the_bound(cluster: Cluster):
    overrides = GroupOverrides(BrokerConfig({}, Profile.named("kafka")), cluster)
    cluster.group_configs["g"] = {
        "consumer.session.timeout.ms": "6000",
        "consumer.heartbeat.interval.ms": "20000",
        "consumer.assignment.interval.ms": "99999",
    }
    assert overrides.of("consumer", "g", GroupConfig) == GroupConfig(45_000, 15_000, 15_000)


def test_share_groups_have_theirs(cluster: Cluster):
    overrides = GroupOverrides(BrokerConfig({}, Profile.named("kafka")), cluster)
    assert overrides.of("share", "g", GroupConfig) is None
    cluster.group_configs["g"] = {"share.session.timeout.ms": "46000", "consumer.session.timeout.ms": "47000"}
    assert overrides.of("share", "g", GroupConfig) == GroupConfig(46_000)
    cluster.group_configs["g"] = {
        "share.session.timeout.ms": "6000",
        "share.heartbeat.interval.ms": "20000",
        "share.assignment.interval.ms": "99999",
    }
    assert overrides.of("share", "g", GroupConfig) == GroupConfig(45_000, 15_000, 15_000)
    del cluster.group_configs["g"]
    assert overrides.of("share", "g", GroupConfig) is None


def test_topics_are_seen_as_they_are_now(cluster: Cluster):
    image = TopicsImage(cluster)
    assert (image.topic_id("t"), image.partition_count("t"), [*image.names()]) == (None, 0, [])
    topic = cluster.create_topic("t", assignments=[[1, 2], [3, 1], [4]])
    assert (image.topic_id("t"), image.topic_name(topic.topic_id), image.partition_count("t")) == (
        topic.topic_id,
        "t",
        3,
    )
    assert [*image.names()] == ["t"]
    cluster.delete_topic("t")
    assert (image.topic_id("t"), image.topic_name(topic.topic_id), image.partition_count("t")) == (None, None, 0)


def test_a_partition_is_in_the_racks_of_its_replicas(cluster: Cluster):
    cluster.create_topic("t", assignments=[[1, 2], [3, 1], [4]])
    image = TopicsImage(cluster)
    assert [[*image.racks("t", partition)] for partition in (0, 1, 2, 3)] == [["a", "b"], ["a", "a"], [], []]
    cluster.nodes[2].alive = False  # the cluster knows it still
    cluster.nodes[1].registered = False
    assert [*image.racks("t", 0)] == ["b"]


def test_overrides_of_streams_groups_are_typed_and_have_their_bounds(cluster: Cluster):
    overrides = GroupOverrides(BrokerConfig({}, Profile.named("kafka")), cluster)
    assert overrides.of("streams", "g", StreamsGroupConfig) is None
    cluster.group_configs["g"] = {
        "streams.session.timeout.ms": "1",
        "streams.heartbeat.interval.ms": "20000",
        "streams.assignment.interval.ms": "20000",
        "streams.assignor.offload.enable": "false",
        "streams.initial.rebalance.delay.ms": "0",
        "streams.num.standby.replicas": "7",
        "streams.num.warmup.replicas": "21",
        "streams.task.offset.interval.ms": "1",
        "streams.acceptable.recovery.lag": "0",
        "streams.rack.aware.assignment.tags": "zone, cluster",
        "streams.assignor.name": "sticky",
    }
    expected = StreamsGroupConfig(
        45_000, 15_000, 15_000, False, 0, 2, 20, 15_000, 0, ("zone", "cluster"), "sticky"
    )  # fmt: skip
    assert overrides.of("streams", "g", StreamsGroupConfig) == expected
    cluster.group_configs["g"] = {"consumer.session.timeout.ms": "46000"}
    assert overrides.of("streams", "g", StreamsGroupConfig) == StreamsGroupConfig()
    del cluster.group_configs["g"]
    assert overrides.of("streams", "g", StreamsGroupConfig) is None
