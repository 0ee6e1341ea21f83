"""The records of streams groups in `__consumer_offsets`: as Apache Kafka writes them, and what they say when loaded.

golden/streams-groups.json is what Kafka has after `streams_history` (`python -m tests.offsets_topic.record`), and what
it has answered.
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
from kafkastub.config import BrokerConfig, Profile
from kafkastub.coordinator import GroupCoordinator
from kafkastub.coordinator.hard_state import HardState, key_of, weight_of_group
from kafkastub.coordinator.records import TypedRecord
from kafkastub.coordinator.streams import records
from kafkastub.coordinator.streams.codec import CODEC
from kafkastub.coordinator.typed_state import place_of
from kafkastub.state.internal_topics.offsets_codec import coordinator_record
from kafkawire.offsets_topic import decode_record
from tests.offsets_topic import consumer_records, share_records, streams_history
from tests.offsets_topic.consumer_history import raw
from tests.offsets_topic.record import GOLDEN
from tests.offsets_topic.streams_records import random_record
from tests.oracle.apache_kafka import ApacheKafka

KAFKAS: dict[str, Any] = json.loads((GOLDEN / "streams-groups.json").read_text())


def kafkas_records() -> Iterator[tuple[bytes, bytes | None]]:
    for batches in KAFKAS["partitions"]:
        for batch in batches:
            for key, value, _ in batch:
                yield bytes.fromhex(key), None if value is None else bytes.fromhex(value)


def decoded(key: bytes, value: bytes | None) -> Any:
    return coordinator_record(decode_record(key, value))


def test_every_record_of_apache_kafka_is_understood_and_written_as_it_is():
    seen = set()
    for key, value in kafkas_records():
        record = decoded(key, value)
        if isinstance(record, TypedRecord):
            assert CODEC.encode(record) == (key, value)
            seen.add(place_of(record)[::2])
    of = [one for name, one in vars(records).items() if name.startswith("StreamsGroup")]
    assert seen == {(one, has_value) for one in of for has_value in (True, False)}


@settings(deadline=None)
@given(seed=st.integers(0, 2**32))
def test_what_is_written_is_read_again(seed: int):
    record = random_record(Random(seed), "g")
    assert decoded(*CODEC.encode(record)) == record
    assert weight_of_group(record) > 0 or record.group_id


def test_what_apache_kafka_wrote_says_what_apache_kafka_told():
    hard = HardState()
    for key, value in kafkas_records():
        hard.apply(decoded(key, value))
    assert sorted(hard.streams) == sorted(set(streams_history.GROUPS) - {"gone", "wrong"})
    for group_id, state in hard.streams.items():
        assert state.metadata is not None
        assert state.target_metadata is not None
        epochs = f"group_epoch={state.metadata.epoch}, assignment_epoch={state.target_metadata.assignment_epoch}"
        lines = [one for one in KAFKAS["described"] if f"group_id='{group_id}'" in one]
        assert lines
        for line in lines:
            assert epochs in line
            assert ("group_state='Empty'" in line) == (not state.members)


def test_a_coordinator_that_loads_what_apache_kafka_wrote_tells_what_apache_kafka_told():
    """But for what a member says of its tasks' offsets, which is in no record, and the order of members."""
    config = BrokerConfig({}, Profile.named("kafka"))
    coordinator = GroupCoordinator(config, config.profile, Random(1))
    for key, value in kafkas_records():
        coordinator.apply(decoded(key, value))
    coordinator.loaded(1, 1)
    compared = 0
    for group_id in coordinator.hard.streams:
        group = coordinator.groups[group_id]
        described = coordinator.streams.describe(group)
        assert described is not None
        (*_, kafkas) = [one for one in KAFKAS["described"] if f"group_id='{group_id}'" in one]
        assert f"group_state='{group.state_name}'" in kafkas
        for member in described.members:
            if group_id != "asking":
                assert streams_history.in_words(member) in kafkas
                compared += 1
    assert compared > 15


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
        key_, has_value = key_of(record)
        assert whole.last(key_) == (record if has_value else None)
        if has_value:
            left.apply(record)
    assert shown(whole) == shown(left) == shown(whole.copy())


def test_no_record_of_another_group_takes_the_place_of_one_of_a_streams_group():
    random = Random(5)
    of_streams = {key_of(random_record(random, "g"))[0] for _ in range(200)}
    others = {key_of(share_records.random_record(random, "g"))[0] for _ in range(200)}
    others |= {key_of(consumer_records.random_record(random, "g"))[0] for _ in range(200)}
    assert len(of_streams) > 10
    assert not of_streams & others


def shown(hard: HardState) -> dict[str, Any]:
    """All that it knows of streams groups."""
    return {
        group_id: {part: getattr(state, part) for part in state.__slots__}
        for group_id, state in hard.streams.items()
    }  # fmt: skip


def test_the_history_leaves_here_what_it_leaves_in_apache_kafka_and_is_answered_as_there():
    with KafkaStub(config=streams_history.CONFIG, profile="kafka") as stub:
        player, answers = streams_history.play(stub.bootstrap_servers)
        written, told_here = raw(player), streams_history.described(player)
        player.close()
    assert answers == KAFKAS["answers"]
    assert streams_history.normalised(written) == streams_history.normalised(KAFKAS["partitions"])
    assert told_here == KAFKAS["described"]


@pytest.mark.oracle
def test_the_recorded_groups_are_apache_kafkas():
    with ApacheKafka(config=streams_history.CONFIG) as kafka:
        player, answers = streams_history.play(kafka.bootstrap_servers)
        written, told_there = raw(player), streams_history.described(player)
        player.close()
    assert answers == KAFKAS["answers"]
    assert streams_history.normalised(written) == streams_history.normalised(KAFKAS["partitions"])
    assert told_there == KAFKAS["described"]
