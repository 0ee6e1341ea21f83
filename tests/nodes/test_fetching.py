"""Fetches in a cluster of several nodes: whose session it is, and from which replica a consumer had better read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkawire.errors import ErrorCode
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from tests.nodes.asking import ask
from tests.nodes.test_wrong_node import produce

RACKS = {
    "default.replication.factor": 3,
    "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
}


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    """orders-0 on three nodes in the racks a, b and a; node 1 leads."""
    with KafkaStub(topics={"orders": 1}, nodes=3, racks=["a", "b"], config=RACKS) as stub:
        stub.move_leader("orders", 0, 1)
        ask(stub.nodes[1].bootstrap_servers, produce(), 12)
        yield stub


def fetch(stub: KafkaStub, node: int, request: FetchRequest, version: int = 12) -> Any:
    return ask(stub.nodes[node].bootstrap_servers, request, version)


def founding() -> FetchRequest:
    partition = FetchPartition(partition=0, partition_max_bytes=1000)
    return FetchRequest(min_bytes=1, session_epoch=0, topics=[FetchTopic(topic="orders", partitions=[partition])])


def incremental(session_id: int, epoch: int = 1) -> FetchRequest:
    return FetchRequest(min_bytes=0, session_id=session_id, session_epoch=epoch)


@pytest.mark.behaviour("FE-20")
def test_a_session_is_one_of_its_node_alone(stub: KafkaStub):
    one, two = (fetch(stub, node, founding()).session_id for node in (1, 2))
    assert one > 0
    assert two > 0
    assert fetch(stub, 2, incremental(one)).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert fetch(stub, 1, incremental(one)).error_code == 0
    for node in (1, 2):
        stub.nodes[node].stop()
        stub.nodes[node].start()
    assert fetch(stub, 1, incremental(one, 2)).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert fetch(stub, 2, incremental(two)).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def from_rack(rack: str, offset: int = 0, wait_ms: int = 0) -> FetchRequest:
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1000)
    topics = [FetchTopic(topic="orders", partitions=[partition])]
    return FetchRequest(max_wait_ms=wait_ms, min_bytes=1, session_epoch=-1, topics=topics, rack_id=rack)


def preferred(stub: KafkaStub, rack: str, version: int = 12, node: int = 1, offset: int = 0) -> tuple[int, int, bool]:
    """(error code, preferred read replica, whether there are records)."""
    one = fetch(stub, node, from_rack(rack, offset), version).responses[0].partitions[0]
    return one.error_code, one.preferred_read_replica, bool(one.records)


@pytest.mark.behaviour("FE-21")
def test_the_leader_sends_a_consumer_to_a_replica_in_its_rack(stub: KafkaStub):
    assert preferred(stub, "b") == preferred(stub, "b", version=11) == (0, 2, False)
    assert preferred(stub, "a") == (0, -1, True), "the leader's own rack"
    assert preferred(stub, "c") == preferred(stub, "") == (0, -1, True)
    assert preferred(stub, "b", node=2) == (0, -1, True), "a follower gives what it has"
    assert preferred(stub, "b", offset=9)[0] == ErrorCode.OFFSET_OUT_OF_RANGE
    # at the end of the log nothing is waited for: the other replica is asked to wait
    end = fetch(stub, 1, from_rack("b", 1, wait_ms=600_000)).responses[0].partitions[0]
    assert (end.error_code, end.preferred_read_replica, end.high_watermark) == (0, 2, 1)
    stub.nodes[2].stop()
    assert preferred(stub, "b") == (0, -1, True)
    stub.nodes[2].start()
    assert preferred(stub, "b") == (0, 2, False)


@pytest.mark.behaviour("FE-21")
def test_without_a_selector_every_consumer_reads_from_the_leader():
    config = {"default.replication.factor": 2}
    with KafkaStub(topics={"orders": 1}, nodes=2, racks=["a", "b"], config=config) as stub:
        stub.move_leader("orders", 0, 1)
        ask(stub.nodes[1].bootstrap_servers, produce(), 12)
        assert preferred(stub, "b") == (0, -1, True)
