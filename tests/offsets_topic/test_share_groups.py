"""The records of share groups in `__consumer_offsets`: as Apache Kafka writes them, and what they say when loaded.

golden/share-groups.json is what Kafka has after `share_history` (`python -m tests.offsets_topic.record`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkastub import KafkaStub
from kafkastub.coordinator.hard_state import HardState, key_of
from kafkastub.coordinator.records import TypedRecord
from kafkastub.coordinator.share import records
from kafkastub.coordinator.share.codec import CODEC
from kafkastub.coordinator.typed_state import place_of
from kafkastub.state.internal_topics.offsets_codec import coordinator_record
from kafkawire.offsets_topic import decode_record
from tests.offsets_topic import consumer_records, share_history
from tests.offsets_topic.consumer_history import raw
from tests.offsets_topic.record import GOLDEN
from tests.offsets_topic.share_records import random_record
from tests.oracle.apache_kafka import ApacheKafka

KAFKAS: dict[str, Any] = json.loads((GOLDEN / "share-groups.json").read_text())


def kafkas_records() -> Iterator[tuple[bytes, bytes | None]]:
    for batches in KAFKAS["partitions"]:
        for batch in batches:
            for key, value, _ in batch:
                yield bytes.fromhex(key), None if value is None else bytes.fromhex(value)


def decoded(key: bytes, value: bytes | None) -> Any:
    return coordinator_record(decode_record(key, value))


def test_every_record_of_apache_kafka_is_understood():
    """In what order partitions are written, `test_the_history_leaves_here_what_it_leaves_in_apache_kafka` compares."""
    seen = set()
    for key, value in kafkas_records():
        record = decoded(key, value)
        assert isinstance(record, TypedRecord)
        ours = CODEC.encode(record)
        assert (ours[0], decoded(*ours)) == (key, record)
        assert (ours[1] is None, len(ours[1] or b"")) == (value is None, len(value or b""))
        seen.add(place_of(record)[::2])
    of = [one for name, one in vars(records).items() if name.startswith("ShareGroup")]
    assert seen == {(one, has_value) for one in of for has_value in (True, False)}


@settings(deadline=None)
@given(seed=st.integers(0, 2**32))
def test_what_is_written_is_read_again(seed: int):
    record = random_record(Random(seed), "g")
    assert decoded(*CODEC.encode(record)) == record


def test_what_apache_kafka_wrote_says_what_apache_kafka_told():
    hard = HardState()
    for key, value in kafkas_records():
        hard.apply(decoded(key, value))
    assert sorted(hard.share) == sorted(set(share_history.GROUPS) - {"gone"})
    lines = [line for line in KAFKAS["described"] if not line.startswith("  ")]
    epochs = {}
    for line in lines:
        group_id, _, about = line.partition(" ")
        epochs[group_id] = about
    for group_id, state in hard.share.items():
        metadata, target = state.metadata, state.target_metadata
        epoch = 1 if metadata is None else metadata.epoch
        target_epoch = 1 if target is None else target.assignment_epoch
        assert f", {epoch}, {target_epoch}, " in epochs[group_id]
        assert ("'Stable'" in epochs[group_id]) == bool(state.members)


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**32), count=st.integers(1, 60))
def test_the_last_record_of_every_key_says_all(seed: int, count: int):
    """So that it makes no difference what compaction has left."""
    random, whole, left = Random(seed), HardState(), HardState()
    written = [random_record(random, random.choice("gh")) for _ in range(count)]
    last: dict[bytes, TypedRecord] = {}
    for record in written:
        whole.apply(record)
        key, _ = CODEC.encode(record)
        last.pop(key, None)
        last[key] = record
    for record in last.values():
        key, has_value = key_of(record)
        assert whole.last(key) == (record if has_value else None)
        if has_value:
            left.apply(record)
    assert shown(whole) == shown(left)


def test_no_record_of_a_consumer_group_takes_the_place_of_one_of_a_share_group():
    random = Random(5)
    of_share = {key_of(random_record(random, "g"))[0] for _ in range(200)}
    of_consumer = {key_of(consumer_records.random_record(random, "g"))[0] for _ in range(200)}
    assert len(of_share) > 10
    assert not of_share & of_consumer


def shown(hard: HardState) -> dict[str, Any]:
    """All that it knows of share groups."""
    return {
        group_id: {part: getattr(state, part) for part in state.__slots__}
        for group_id, state in hard.share.items()
    }  # fmt: skip


def test_the_history_leaves_here_what_it_leaves_in_apache_kafka():
    names = {bytes.fromhex(topic_id): name for topic_id, name in KAFKAS["topic_ids"].items()}
    with KafkaStub(config=share_history.CONFIG, profile="kafka") as stub:
        player = share_history.play(stub.bootstrap_servers)
        written, told_here = raw(player), share_history.described(player)
        topic_ids = player.topic_ids
        player.close()
    assert share_history.normalised(topic_ids, written) == share_history.normalised(names, KAFKAS["partitions"])
    assert told_here == KAFKAS["described"]


@pytest.mark.oracle
def test_the_recorded_groups_are_apache_kafkas():
    names = {bytes.fromhex(topic_id): name for topic_id, name in KAFKAS["topic_ids"].items()}
    with ApacheKafka(config=share_history.CONFIG) as kafka:
        player = share_history.play(kafka.bootstrap_servers)
        written, told_there = raw(player), share_history.described(player)
        topic_ids = player.topic_ids
        player.close()
    assert share_history.normalised(topic_ids, written) == share_history.normalised(names, KAFKAS["partitions"])
    assert told_there == KAFKAS["described"]


@pytest.mark.oracle
def test_as_4_3_it_leaves_here_what_it_leaves_in_kafka_4_3():
    found = []
    config = {**share_history.CONFIG, "kafkastub.as.version": "4.3"}
    with KafkaStub(config=config, profile="kafka") as stub:
        found.append(_left(stub.bootstrap_servers))
    with ApacheKafka(config=share_history.CONFIG, release="4.3.1") as kafka:
        found.append(_left(kafka.bootstrap_servers))
    assert found[0] == found[1]


def _left(servers: str) -> tuple[list[list[list[str]]], list[str]]:
    player = share_history.play(servers)
    left = share_history.normalised(player.topic_ids, raw(player)), share_history.described(player)
    player.close()
    return left
