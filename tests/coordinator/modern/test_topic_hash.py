"""Hashes of topics and groups, as Kafka's own."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kafkastub.coordinator.modern.topic_hash import group_hash, topic_hash
from kafkastub.metadata.ids import random_uuid, uuid_text
from tests.oracle.apache_kafka import run_java

_ID = bytes(range(200, 216))


@pytest.mark.oracle
def test_hashes_are_those_of_kafka():
    chance = random.Random(1101)
    lines: list[str] = []
    found: list[int] = []
    for _ in range(300):
        hashes = {}
        for _ in range(chance.choice((0, 1, 2, 3, 9, 40))):
            name = "".join(chance.choices("abcXYZ0189._-é\uff5e\U0001f600", k=chance.choice((1, 2, 7, 30, 249))))
            racks = [
                chance.choices(("a", "eu-west-1a", "größe", "\U0001f600", "b"), k=chance.choice((0, 0, 1, 3)))
                for _ in range(chance.choice((0, 1, 2, 3, 30, 200)))
            ]
            if chance.random() < 0.4:
                racks = [[] for _ in racks]
            topic_id = random_uuid(chance)
            lines.append(f"T {name} {uuid_text(topic_id)} {';'.join(','.join(one) or '-' for one in racks) or '!'}")
            hashes[name] = topic_hash(name, topic_id, racks)
            found.append(hashes[name])
        lines.append("G")
        found.append(group_hash(hashes))
    done = run_java(Path(__file__).with_name("TopicHashes.java"), stdin="\n".join(lines) + "\n")
    assert done.returncode == 0, done.stderr
    assert [int(line) for line in done.stdout.split()] == found
    assert min(found) < 0 < max(found)


def test_the_order_of_replicas_makes_no_difference_and_how_many_share_a_rack_does():
    assert topic_hash("t", _ID, [["a", "b"]]) == topic_hash("t", _ID, [["b", "a"]])
    assert topic_hash("t", _ID, [["a", "a"]]) != topic_hash("t", _ID, [["a"]])


def test_a_group_without_topics_has_no_hash():
    assert group_hash({}) == 0
    assert group_hash({"a": 1, "b": 2}) == group_hash({"b": 2, "a": 1}) != group_hash({"a": 2, "b": 1})
