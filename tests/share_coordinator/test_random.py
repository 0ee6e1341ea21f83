"""Random requests of other brokers, put to Apache Kafka and here: every answer, and every record, is the same."""

from __future__ import annotations

from contextlib import closing
from random import Random
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkawire.messages import delete_share_group_state_request as delete
from kafkawire.messages import initialize_share_group_state_request as initialize
from kafkawire.messages import read_share_group_state_request as read
from kafkawire.messages import read_share_group_state_summary_request as summary
from kafkawire.messages import write_share_group_state_request as write
from kafkawire.schema import Message
from tests.oracle.apache_kafka import ApacheKafka
from tests.share_coordinator.history import CONFIG, Brokers
from tests.share_coordinator.test_as_kafka import decoded

GROUPS, PARTITIONS = ("g", "h"), (0, 1, 2, 5, -1)


def request_of(random: Random, topic_id: bytes) -> tuple[Message, int]:
    """One of the five, about one partition, mostly of those that are there; and its version."""
    group = random.choice(GROUPS)
    partition = random.choices(PARTITIONS, (8, 8, 8, 1, 1))[0]
    state_epoch = random.choices((3, 4, 2, -1), (30, 4, 2, 1))[0]
    leader_epoch = random.choices((5, 6, 4, -1), (30, 4, 2, 1))[0]
    start_offset = random.choice((0, 0, 0, 5, 12, -1))
    kind = random.choices(range(5), (4, 8, 24, 1, 6))[0]
    if kind == 0:
        init = initialize.InitializeStateData(
            topic_id, [initialize.PartitionData(partition, state_epoch, start_offset)]
        )
        return initialize.InitializeShareGroupStateRequest(group, [init]), 0
    if kind == 1:
        asked = read.ReadStateData(topic_id, [read.PartitionData(partition, leader_epoch)])
        return read.ReadShareGroupStateRequest(group, [asked]), 0
    if kind == 2:
        batches = []
        for _ in range(random.choice((0, 1, 1, 2, 5))):
            first = random.randrange(40)
            last = first + random.choice((0, 0, 3, 15))
            batches.append(write.StateBatch(first, last, random.choice((0, 2, 4)), random.randint(1, 3)))
        written = write.PartitionData(
            partition, state_epoch, leader_epoch, start_offset, random.randrange(-1, 5), batches
        )
        version = random.choice((0, 1, 1))
        return write.WriteShareGroupStateRequest(group, [write.WriteStateData(topic_id, [written])]), version
    if kind == 3:
        gone = delete.DeleteStateData(topic_id, [delete.PartitionData(partition)])
        return delete.DeleteShareGroupStateRequest(group, [gone]), 0
    told = summary.ReadStateSummaryData(topic_id, [summary.PartitionData(partition, leader_epoch)])
    return summary.ReadShareGroupStateSummaryRequest(group, [told]), random.choice((0, 1))


def played(on: Brokers, seed: int, steps: int) -> list[str]:
    """Each request with its answer, without the topic's id."""
    random, topic_id = Random(seed), on.topic_ids["orders"]
    found = []
    for _ in range(steps):
        request, version = request_of(random, topic_id)
        answer: Any = on.on.ask(request, version)
        found.append(f"{request} v{version} -> {answer}".replace(str(topic_id), "orders"))
    return found


@pytest.mark.oracle
def test_random_requests_are_answered_and_written_down_as_by_apache_kafka() -> None:
    with (
        ApacheKafka(config=CONFIG) as kafka,
        closing(Brokers(kafka.bootstrap_servers)) as there,
        KafkaStub(config=CONFIG, profile="kafka") as stub,
        closing(Brokers(stub.bootstrap_servers)) as here,
    ):
        for on in there, here:
            on.create()
        for seed in range(10):
            expected, got = played(there, seed, 150), played(here, seed, 150)
            assert got == expected
        assert decoded(here.batches()) == decoded(there.batches())
