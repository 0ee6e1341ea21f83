"""What a node answers that is not the leader, not the coordinator, or not up to date; raw frames to each of three."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import pytest

from kafkastub import KafkaStub
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.messages import RESPONSES
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kafkawire.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from kafkawire.messages.list_groups_request import ListGroupsRequest
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafkawire.messages.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestGroup
from kafkawire.messages.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.sync_group_request import SyncGroupRequest
from kafkawire.records import NewRecord, build_batch
from kafkawire.schema import Message
from tests.nodes.asking import ask
from tests.rawclient import RawClient
from tests.waiting import until

M = TypeVar("M", bound=Message)
NOT_LEADER, FENCED = ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH
UNKNOWN_EPOCH, NOT_COORDINATOR = ErrorCode.UNKNOWN_LEADER_EPOCH, ErrorCode.NOT_COORDINATOR


class Cluster:
    """Three nodes and a connection to each."""

    def __init__(self, stub: KafkaStub) -> None:
        self.stub = stub
        self.clients = {node.id: RawClient(node.bootstrap_servers) for node in stub.nodes.values()}

    def ask(self, node: int, request: Message, version: int) -> Any:
        import importlib

        key = int(request.API_KEY)
        module, name, _ = RESPONSES[key]
        answer = self.clients[node].exchange(key, version, encode(request, version))
        return decode(getattr(importlib.import_module(module), name), version, answer)

    def close(self) -> None:
        for client in self.clients.values():
            client.close()


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    config = {"group.initial.rebalance.delay.ms": 0}
    with KafkaStub(topics={"orders": 1}, nodes=3, config=config) as stub:
        stub.move_leader("orders", 0, 1)
        stub.move_coordinator("g", 1)
        cluster = Cluster(stub)
        yield cluster
        cluster.close()


def produce(acks: int = -1) -> ProduceRequest:
    data = PartitionProduceData(0, build_batch([NewRecord(b"k", b"v", 1)]))
    return ProduceRequest(None, acks, 1000, [TopicProduceData(name="orders", partition_data=[data])])


def fetch(epoch: int = -1, wait_ms: int = 0) -> FetchRequest:
    partition = FetchPartition(partition=0, current_leader_epoch=epoch, partition_max_bytes=1000)
    return FetchRequest(
        max_wait_ms=wait_ms, min_bytes=1, session_epoch=-1, topics=[FetchTopic(topic="orders", partitions=[partition])]
    )


def list_offsets(epoch: int = -1) -> ListOffsetsRequest:
    partition = ListOffsetsPartition(partition_index=0, current_leader_epoch=epoch, timestamp=-1)
    return ListOffsetsRequest(topics=[ListOffsetsTopic(name="orders", partitions=[partition])])


def epoch_end(epoch: int = -1) -> OffsetForLeaderEpochRequest:
    partition = OffsetForLeaderPartition(partition=0, current_leader_epoch=epoch, leader_epoch=0)
    return OffsetForLeaderEpochRequest(topics=[OffsetForLeaderTopic(topic="orders", partitions=[partition])])


def test_a_node_that_does_not_lead_says_so_and_who_does(cluster: Cluster):
    leader = cluster.clients[1].socket.getpeername()[1]
    for node in (2, 3):
        answer = cluster.ask(node, produce(), 12)
        one = answer.responses[0].partition_responses[0]
        assert (one.error_code, one.current_leader.leader_id) == (NOT_LEADER, 1)
        assert [(hint.node_id, hint.port) for hint in answer.node_endpoints] == [(1, leader)]
        assert cluster.ask(node, produce(), 8).responses[0].partition_responses[0].error_code == NOT_LEADER
        assert cluster.ask(node, fetch(), 12).responses[0].partitions[0].error_code == NOT_LEADER
        assert cluster.ask(node, list_offsets(), 7).topics[0].partitions[0].error_code == NOT_LEADER
        assert cluster.ask(node, epoch_end(), 4).topics[0].partitions[0].error_code == NOT_LEADER
    assert cluster.ask(1, produce(), 12).responses[0].partition_responses[0].error_code == 0


def test_epochs_are_checked_where_there_is_a_replica(cluster: Cluster):
    """The leader knows what is old and what is new; a node without a replica knows nothing."""
    now = cluster.stub._running().state.cluster.topics["orders"].partitions[0].leader_epoch
    for epoch, on_leader in ((now, 0), (now + 1, UNKNOWN_EPOCH), (now - 1, FENCED)):
        if epoch < 0:
            continue
        assert cluster.ask(1, fetch(epoch), 12).responses[0].partitions[0].error_code == on_leader
        assert cluster.ask(1, list_offsets(epoch), 7).topics[0].partitions[0].error_code == on_leader
        assert cluster.ask(1, epoch_end(epoch), 4).topics[0].partitions[0].error_code == on_leader
        assert cluster.ask(2, fetch(epoch), 12).responses[0].partitions[0].error_code == NOT_LEADER
    cluster.stub.move_leader("orders", 0, 2)
    cluster.stub.move_leader("orders", 0, 1)
    later = cluster.stub._running().state.cluster.topics["orders"].partitions[0].leader_epoch
    assert later >= now + 2
    for epoch, code in ((now, FENCED), (later - 1, FENCED), (later, 0), (later + 1, UNKNOWN_EPOCH)):
        assert cluster.ask(1, fetch(epoch), 12).responses[0].partitions[0].error_code == code


@pytest.mark.behaviour("FE-18")
def test_a_follower_serves_consumers_of_new_versions():
    config = {"default.replication.factor": 3}
    with KafkaStub(topics={"orders": 1}, nodes=3, config=config) as stub:
        stub.move_leader("orders", 0, 1)
        cluster = Cluster(stub)
        cluster.ask(1, produce(), 12)
        answer = cluster.ask(2, fetch(), 12).responses[0].partitions[0]
        assert (answer.error_code, answer.high_watermark) == (0, 1)
        assert cluster.ask(2, fetch(), 10).responses[0].partitions[0].error_code == NOT_LEADER
        assert cluster.ask(2, produce(), 12).responses[0].partition_responses[0].error_code == NOT_LEADER
        cluster.close()


def test_a_parked_fetch_is_answered_when_the_leader_moves(cluster: Cluster):
    client = cluster.clients[1]
    client.send(1, 11, encode(fetch(wait_ms=60_000), 11))
    stub = cluster.stub
    until(lambda: stub._call(lambda: len(stub._running().state.fetch_purgatory)) == 1, "a fetch that is parked")
    cluster.stub.move_leader("orders", 0, 2)
    answer = client.receive()
    assert answer is not None
    from kafkawire.messages.fetch_response import FetchResponse

    assert decode(FetchResponse, 11, answer[4:]).responses[0].partitions[0].error_code == NOT_LEADER


def join(member_id: str = "") -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol("range", b"")],
    )


def commit(topic: str = "orders") -> OffsetCommitRequest:
    partition = OffsetCommitRequestPartition(0, 5)
    return OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic(topic, partitions=[partition])])


def test_a_node_that_does_not_coordinate_says_so_where_each_api_can(cluster: Cluster):
    for node in (2, 3):
        assert cluster.ask(node, join(), 5).error_code == NOT_COORDINATOR
        assert cluster.ask(node, SyncGroupRequest("g", 1, "m"), 3).error_code == NOT_COORDINATOR
        assert cluster.ask(node, HeartbeatRequest("g", 1, "m"), 3).error_code == NOT_COORDINATOR
        leave = LeaveGroupRequest("g", members=[MemberIdentity("m")])
        assert cluster.ask(node, leave, 3).error_code == NOT_COORDINATOR
        topics = cluster.ask(node, commit(), 8).topics
        assert topics[0].partitions[0].error_code == NOT_COORDINATOR
        unknown = cluster.ask(node, commit("nope"), 8).topics
        assert unknown[0].partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert cluster.ask(node, OffsetFetchRequest("g", topics=None), 7).error_code == NOT_COORDINATOR
        several = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)])
        assert cluster.ask(node, several, 8).groups[0].error_code == NOT_COORDINATOR
        assert cluster.ask(node, DescribeGroupsRequest(["g"]), 5).groups[0].error_code == NOT_COORDINATOR
        assert cluster.ask(node, DeleteGroupsRequest(["g"]), 2).results[0].error_code == NOT_COORDINATOR
        delete = OffsetDeleteRequest("g", [OffsetDeleteRequestTopic("orders", [OffsetDeleteRequestPartition(0)])])
        assert cluster.ask(node, delete, 0).error_code == NOT_COORDINATOR
    assert cluster.ask(1, commit(), 8).topics[0].partitions[0].error_code == 0
    listed = {node: [one.group_id for one in cluster.ask(node, ListGroupsRequest(), 4).groups] for node in (1, 2, 3)}
    assert listed == {1: ["g"], 2: [], 3: []}


def test_the_empty_group_id_is_invalid_on_every_node(cluster: Cluster):
    for node in (1, 2, 3):
        assert cluster.ask(node, HeartbeatRequest("", 1, "m"), 3).error_code == ErrorCode.INVALID_GROUP_ID


def test_groups_of_several_nodes_in_one_request(cluster: Cluster):
    groups = [f"group-{number}" for number in range(12)]
    owner = {group: cluster.stub.coordinator_of(group) for group in groups}
    assert len(set(owner.values())) > 1
    for node in (1, 2, 3):
        wanted = {group: NOT_COORDINATOR if owner[group] != node else ErrorCode.NONE for group in groups}
        fetched = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, topics=None) for group in groups])
        answer = cluster.ask(node, fetched, 8)
        assert [(one.group_id, one.error_code) for one in answer.groups] == list(wanted.items())
        described = cluster.ask(node, DescribeGroupsRequest(groups), 5)
        assert {one.group_id: one.error_code for one in described.groups} == wanted


def test_members_survive_a_move_of_their_coordinator_and_a_parked_join_does_not(cluster: Cluster):
    member = cluster.ask(1, join(), 5).member_id
    joined = cluster.ask(1, join(member), 5)
    cluster.ask(1, SyncGroupRequest("g", joined.generation_id, member), 3)
    heartbeat = HeartbeatRequest("g", joined.generation_id, member)
    assert cluster.ask(1, heartbeat, 3).error_code == 0
    cluster.stub.move_coordinator("g", 2)
    assert cluster.ask(1, heartbeat, 3).error_code == NOT_COORDINATOR
    assert cluster.ask(2, heartbeat, 3).error_code == 0
    # somebody else wants to join: its request waits for the member, until the coordinator moves again
    other = cluster.ask(2, join(), 5).member_id
    client = cluster.clients[2]
    client.send(11, 5, encode(join(other), 5))
    beside = RawClient(cluster.stub.nodes[2].bootstrap_servers)
    until(
        lambda: decode_code(beside.exchange(12, 3, encode(heartbeat, 3))) == ErrorCode.REBALANCE_IN_PROGRESS,
        "the join is there",
    )
    beside.close()
    cluster.stub.move_coordinator("g", 3)
    answer = client.receive()
    assert answer is not None
    assert int.from_bytes(answer[8:10], "big") == NOT_COORDINATOR
    # the new coordinator has the last complete generation: the member is in it, the other one never was
    assert cluster.ask(3, heartbeat, 3).error_code == 0
    assert cluster.ask(3, join(other), 5).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def decode_code(answer: bytes) -> int:
    """The error code of a Heartbeat v3."""
    return int.from_bytes(answer[4:6], "big", signed=True)


@pytest.mark.behaviour("FC-3", "FC-9")
def test_a_group_whose_only_node_has_stopped_has_no_coordinator():
    config = {"offsets.topic.replication.factor": 1, "group.initial.rebalance.delay.ms": 0}
    with KafkaStub(topics={"orders": 1}, nodes=3, config=config) as stub:
        stub.move_coordinator("g", 2)
        cluster = Cluster(stub)
        assert cluster.ask(2, commit(), 8).topics[0].partitions[0].error_code == 0
        stub.nodes[2].stop()
        assert stub.coordinator_of("g") == -1
        old = cluster.ask(1, FindCoordinatorRequest(key="g"), 3)
        new = cluster.ask(1, FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]), 4).coordinators[0]
        text = "The coordinator is not available."
        assert (old.error_code, old.error_message, old.node_id) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, text, -1)
        assert (new.error_code, new.error_message, new.node_id) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, "", -1)
        assert cluster.ask(1, HeartbeatRequest("g", 1, "m"), 3).error_code == NOT_COORDINATOR
        # it is back with what it had
        stub.nodes[2].start()
        assert stub.coordinator_of("g") == 2
        fetched = OffsetFetchRequest("g", topics=None)
        answer = ask(stub.nodes[2].bootstrap_servers, fetched, 7)
        assert answer.topics[0].partitions[0].committed_offset == 5
        cluster.close()


@pytest.mark.behaviour("PR-23")
def test_too_few_replicas_in_sync_for_all_acks():
    config = {"default.replication.factor": 3, "min.insync.replicas": 2}
    with KafkaStub(topics={"orders": 1}, nodes=3, config=config) as stub:
        stub.move_leader("orders", 0, 1)
        cluster = Cluster(stub)
        stub.nodes[2].stop()
        assert cluster.ask(1, produce(), 12).responses[0].partition_responses[0].error_code == 0
        stub.nodes[3].stop()
        refused = cluster.ask(1, produce(), 12).responses[0].partition_responses[0]
        assert refused.error_code == ErrorCode.NOT_ENOUGH_REPLICAS
        assert cluster.ask(1, produce(acks=1), 12).responses[0].partition_responses[0].error_code == 0
        stub.nodes[3].start()
        assert cluster.ask(1, produce(), 12).responses[0].partition_responses[0].error_code == 0
        cluster.close()
