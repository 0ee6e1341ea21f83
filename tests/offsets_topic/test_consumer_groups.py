"""The records of consumer groups in `__consumer_offsets`: as Apache Kafka writes them, and what they say when loaded.

golden/consumer-groups.json is what Kafka has after `consumer_history` (`python -m tests.offsets_topic.record`).
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
from kafkastub.coordinator import Turn
from kafkastub.coordinator.consumer import records
from kafkastub.coordinator.consumer.codec import CODEC
from kafkastub.coordinator.hard_state import HardState
from kafkastub.coordinator.records import TypedRecord
from kafkastub.state.internal_topics.offsets_codec import coordinator_record
from kafkastub.state.topics import ensure_offsets_topic
from kafkawire.messages.consumer_group_current_member_assignment_key import ConsumerGroupCurrentMemberAssignmentKey
from kafkawire.messages.consumer_group_current_member_assignment_value import (
    ConsumerGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from kafkawire.messages.consumer_group_partition_metadata_key import ConsumerGroupPartitionMetadataKey
from kafkawire.messages.consumer_group_partition_metadata_value import (
    ConsumerGroupPartitionMetadataValue,
    PartitionMetadata,
    TopicMetadata,
)
from kafkawire.offsets_topic import decode_record, encode_key, encode_value
from tests.coordinator.context import CoordinatorTestContext
from tests.offsets_topic import consumer_history
from tests.offsets_topic.consumer_records import IDS, random_record
from tests.offsets_topic.record import GOLDEN
from tests.oracle.apache_kafka import ApacheKafka

KAFKAS: dict[str, Any] = json.loads((GOLDEN / "consumer-groups.json").read_text())


def kafkas_records() -> Iterator[tuple[bytes, bytes | None]]:
    for batches in KAFKAS["partitions"]:
        for batch in batches:
            for key, value, _ in batch:
                yield bytes.fromhex(key), None if value is None else bytes.fromhex(value)


def decoded(key: bytes, value: bytes | None) -> Any:
    return coordinator_record(decode_record(key, value))


def test_every_record_of_apache_kafka_is_written_as_kafka_writes_it():
    seen = set()
    for key, value in kafkas_records():
        record = decoded(key, value)
        if isinstance(record, TypedRecord):
            assert CODEC.encode(record) == (key, value), record
            seen.add(type(record))
    everything = {one for name, one in vars(records).items() if name.startswith("ConsumerGroup")}
    assert everything - seen == {records.ConsumerGroupPartitionMetadata}, "which Kafka reads only"


@settings(deadline=None)
@given(seed=st.integers(0, 2**32))
def test_what_is_written_is_read_again(seed: int):
    record = random_record(Random(seed), "g")
    assert decoded(*CODEC.encode(record)) == record


def test_what_apache_kafka_wrote_says_what_apache_kafka_told():
    hard = HardState()
    for key, value in kafkas_records():
        record = decoded(key, value)
        assert record is not None
        hard.apply(record)
    assert sorted(hard.consumer) == ["cg", "empty", "regex", "static"], "the group that was deleted is gone"
    assert sorted(told(hard)) == sorted(line for line in KAFKAS["described"] if line.startswith("  "))
    epochs = {name: (state.metadata, state.target_metadata) for name, state in hard.consumer.items()}
    for line in KAFKAS["described"]:
        if not line.startswith("  ") and not line.startswith("gone"):
            group_id, _, about = line.partition(" ")
            metadata, target = epochs[group_id]
            assert metadata is not None
            assert target is not None
            assert f"{metadata.epoch}, {target.assignment_epoch}, " in about
    assert [(one.regular_expression, one.topics) for one in hard.consumer["regex"].expressions.values()] == [
        ("o.*r|nothing", ("other",))
    ]


def told(hard: HardState) -> Iterator[str]:
    """Members as `consumer_history.described` writes them."""
    names = {bytes.fromhex(topic_id): name for topic_id, name in KAFKAS["topic_ids"].items()}
    for state in hard.consumer.values():
        for member_id, m in state.members.items():
            current, target = state.current[member_id], state.target.get(member_id)
            has: dict[str, list[int]] = {}
            for some in (current.assigned, current.pending_revocation):
                for topic_id, epochs in some.items():
                    has.setdefault(names[topic_id], []).extend(epochs)
            wants = {} if target is None else {names[i]: sorted(some) for i, some in target.partitions.items()}
            yield (
                f"  {member_id} {m.instance_id} {m.rack_id} {current.member_epoch} {m.client_id} {m.client_host}"
                f" {sorted(m.subscribed_topic_names)} {m.subscribed_topic_regex!r} {0 if m.classic else 1}"
                f" has {sorted((name, sorted(some)) for name, some in has.items())} target {sorted(wants.items())}"
            )


@pytest.mark.parametrize(("member_epoch", "epochs", "expected"), [
    (5, None, {0: 5, 2: 5}),
    (5, [3], {0: 5, 2: 5}),
    (-2, None, {0: 0, 2: 0}),
    (5, [3, 4], {0: 3, 2: 4}),
])  # fmt: skip
def test_where_an_older_broker_wrote_no_epochs_of_partitions_the_members_stands(
    member_epoch: int, epochs: list[int] | None, expected: dict[int, int]
):
    key = ConsumerGroupCurrentMemberAssignmentKey("g", "m")
    value = ConsumerGroupCurrentMemberAssignmentValue(member_epoch, 1, 0, [TopicPartitions(IDS[0], [0, 2], epochs)])
    record = decoded(encode_key(key), encode_value(value, 0))
    assert record.assigned == {IDS[0]: expected}


def test_the_partitions_that_kafka_before_4_1_wrote_are_read_and_ended():
    topics = [TopicMetadata(IDS[0], name, 2, [PartitionMetadata(0, ["r1"])]) for name in ("b", "a")]
    key = encode_key(ConsumerGroupPartitionMetadataKey("g"))
    record = decoded(key, encode_value(ConsumerGroupPartitionMetadataValue(topics), 0))
    assert record == records.ConsumerGroupPartitionMetadata("g", ("a", "b"))
    hard = HardState()
    hard.apply(record)
    assert hard.knows("g")
    hard.apply(decoded(key, None))
    assert not hard.knows("g")


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
        if CODEC.encode(record)[1] is not None:
            left.apply(record)
    assert shown(whole) == shown(left)


def shown(hard: HardState) -> dict[str, Any]:
    """All that it knows of consumer groups."""
    return {
        group_id: {part: getattr(state, part) for part in state.__slots__}
        for group_id, state in hard.consumer.items()
    }  # fmt: skip


def test_long_records_are_not_remembered_by_the_hundred_thousand():
    """A member of a large group whose assignment changes with every heartbeat."""
    context = CoordinatorTestContext(offsets_topic_num_partitions=1)
    ensure_offsets_topic(context.state)
    for epoch in range(600):
        turn = Turn(context.broker_ms, context.timer_ms)
        assigned = {IDS[0]: dict.fromkeys(range(10_000), epoch)}
        record = records.ConsumerGroupCurrentMemberAssignment("g", "m", epoch, epoch - 1, 0, assigned, {})
        context.coordinator.log(turn, record)
        context.state.settle(turn)
    log = context.state.offsets_topic.logs[0]
    assert log.log_end_offset == 600
    left = [one.offset for one in log.records()]
    assert left[-1] == 599
    assert len(left) < 500


def test_the_history_leaves_here_what_it_leaves_in_apache_kafka():
    names = {bytes.fromhex(topic_id): name for topic_id, name in KAFKAS["topic_ids"].items()}
    with KafkaStub(config=consumer_history.CONFIG, profile="kafka") as stub:
        player = consumer_history.play(stub.bootstrap_servers)
        written, told_here = consumer_history.raw(player), consumer_history.described(player)
        topic_ids = player.topic_ids
        player.close()
    assert consumer_history.normalised(topic_ids, written) == consumer_history.normalised(names, KAFKAS["partitions"])
    assert told_here == KAFKAS["described"]


@pytest.mark.oracle
def test_the_recorded_groups_are_apache_kafkas():
    names = {bytes.fromhex(topic_id): name for topic_id, name in KAFKAS["topic_ids"].items()}
    with ApacheKafka(config=consumer_history.CONFIG) as kafka:
        player = consumer_history.play(kafka.bootstrap_servers)
        written, told_there = consumer_history.raw(player), consumer_history.described(player)
        topic_ids = player.topic_ids
        player.close()
    assert consumer_history.normalised(topic_ids, written) == consumer_history.normalised(names, KAFKAS["partitions"])
    assert told_there == KAFKAS["described"]
