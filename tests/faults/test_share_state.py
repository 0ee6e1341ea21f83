"""Faults of the requests about what share groups have read: of one group, topic or partition among others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from kafkastub import KafkaStub
from kafkawire.errors import ErrorCode
from kafkawire.messages import alter_share_group_offsets_request as alter
from kafkawire.messages import describe_share_group_offsets_request as describe
from kafkawire.messages import initialize_share_group_state_request as initialize
from tests.fronts import FRONTS, front
from tests.share_coordinator.history import Brokers

CODE = ErrorCode.COORDINATOR_NOT_AVAILABLE


@pytest.fixture(params=FRONTS)
def stub(request: pytest.FixtureRequest) -> Iterator[KafkaStub]:
    with front(request, profile="kafka") as running:
        yield running


@pytest.fixture
def on(stub: KafkaStub) -> Iterator[Brokers]:
    with closing(Brokers(stub.bootstrap_servers)) as brokers:
        brokers.create()
        yield brokers


def test_a_partition_that_is_refused_is_not_initialised_beside_others(stub: KafkaStub, on: Brokers) -> None:
    wanted = [initialize.PartitionData(one, 1, 0) for one in range(3)]
    topic = initialize.InitializeStateData(on.topic_ids["orders"], wanted)
    request = initialize.InitializeShareGroupStateRequest("g", [topic])
    with stub.faults.add(api="InitializeShareGroupState", topic="orders", partition=1, error=CODE.name):
        (result,) = on.on.ask(request, 0).results
    assert sorted((one.partition, one.error_code) for one in result.partitions) == [(0, 0), (1, CODE), (2, 0)]
    assert [bool(on.read("g", "orders", one).error_code) for one in range(3)] == [False, True, False]


def test_a_refused_state_is_refused_at_every_partition(stub: KafkaStub, on: Brokers) -> None:
    on.initialize("g", "orders", 0, 1, 0)
    with stub.faults.add(api="ReadShareGroupState", group="g", error=CODE.name):
        found = on.read("g", "orders", 0)
        assert (found.error_code, found.error_message) == (CODE, "The coordinator is not available.")
        assert on.read("h", "orders", 0).error_code != CODE
    assert not on.read("g", "orders", 0).error_code


def test_one_group_of_several_is_not_described(stub: KafkaStub, on: Brokers) -> None:
    asked = [describe.DescribeShareGroupOffsetsRequestGroup(group, None) for group in ("g", "h")]
    with stub.faults.add(api="DescribeShareGroupOffsets", group="h", error=CODE.name):
        groups = on.on.ask(describe.DescribeShareGroupOffsetsRequest(asked), 1).groups
    assert [(one.group_id, one.error_code) for one in groups] == [("g", 0), ("h", CODE)]


def test_offsets_of_a_refused_partition_are_not_set(stub: KafkaStub, on: Brokers) -> None:
    topics = [
        alter.AlterShareGroupOffsetsRequestTopic(
            "orders", [alter.AlterShareGroupOffsetsRequestPartition(one, 5) for one in range(2)]
        )
    ]
    with stub.faults.add(api="AlterShareGroupOffsets", topic="orders", partition=0, error=CODE.name):
        answer = on.on.ask(alter.AlterShareGroupOffsetsRequest("g", topics), 0)
    (topic,) = answer.responses
    assert sorted((one.partition_index, one.error_code) for one in topic.partitions) == [(0, CODE), (1, 0)]
    (group,) = on.on.ask(
        describe.DescribeShareGroupOffsetsRequest([describe.DescribeShareGroupOffsetsRequestGroup("g", None)]), 1
    ).groups
    assert [(one.partition_index, one.start_offset) for one in group.topics[0].partitions] == [(1, 5)]
