"""Cluster: topics, their ids and replicas, names."""

from __future__ import annotations

import random

import pytest

from kafkastub.metadata import Cluster, Node, invalid_topic_name, random_uuid, uuid_text


@pytest.fixture
def cluster() -> Cluster:
    return Cluster(random.Random(1), [Node(number, "h", number) for number in (1, 2, 3)])


def test_a_topic_is_found_by_name_and_id(cluster: Cluster):
    topic = cluster.create_topic("a", 2)
    assert cluster.topic("a") is topic
    assert cluster.topic_by_id(topic.topic_id) is topic
    assert cluster.topic("b") is None


def test_a_deleted_topic_is_not_found_and_comes_back_as_another(cluster: Cluster):
    old = cluster.create_topic("a.b")
    assert cluster.delete_topic("a.b") is old
    assert (cluster.topic("a.b"), cluster.topic_by_id(old.topic_id), cluster.colliding_topic("a_b")) == (None,) * 3
    assert cluster.create_topic("a.b").topic_id != old.topic_id


def test_a_name_is_taken_once(cluster: Cluster):
    cluster.create_topic("a")
    with pytest.raises(ValueError, match="topic a exists"):
        cluster.create_topic("a")


@pytest.mark.parametrize(("name", "colliding"), [("a_b", "a.b"), ("a.b", "a.b"), ("a-b", None), ("ab", None)])
def test_names_collide_in_dots_and_underscores(cluster: Cluster, name: str, colliding: str | None):
    cluster.create_topic("a.b")
    assert cluster.colliding_topic(name) == colliding


def test_replicas_are_spread(cluster: Cluster):
    partitions = cluster.create_topic("a", 3, 2).partitions
    assert sorted(partition.leader for partition in partitions) == [1, 2, 3]
    assert all(partition.leader == partition.replicas[0] for partition in partitions)
    assert all(len(set(partition.replicas)) == 2 for partition in partitions)
    assert sorted(partition.leader for partition in cluster.add_partitions("a", 3)) == [1, 2, 3]


def test_internal_topics_are_known_by_name(cluster: Cluster):
    assert cluster.create_topic("__consumer_offsets").internal
    assert not cluster.create_topic("__other").internal


@pytest.mark.parametrize("name", ["a", "A-1._", "x" * 249, "..."])
def test_valid_names(name: str):
    assert invalid_topic_name(name) is None


@pytest.mark.parametrize("name", ["", ".", "..", "x" * 250, "a b", "ä", "a/b", "a\n", "\N{GRINNING FACE}"])
def test_invalid_names(name: str):
    assert str(invalid_topic_name(name)).startswith("Topic name is invalid: ")


def test_the_same_randomness_makes_the_same_ids():
    one, other = (Cluster(random.Random(7), [Node(1, "h", 1)]) for _ in range(2))
    assert one.cluster_id == other.cluster_id
    assert one.create_topic("a").topic_id == other.create_topic("a").topic_id


def test_uuids_are_versioned_and_printable():
    source = random.Random(3)
    for _ in range(2000):
        uuid = random_uuid(source)
        assert (uuid[6] >> 4, uuid[8] >> 6) == (4, 2)
        assert len(uuid_text(uuid)) == 22
        assert not uuid_text(uuid).startswith("-")
