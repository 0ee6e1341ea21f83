"""The same wrong-node requests to three nodes of the stub and of Apache Kafka: the same answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkawire.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafkawire.messages.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestGroup
from kafkawire.messages.sync_group_request import SyncGroupRequest
from kafkawire.schema import Message
from tests.nodes.asking import ask
from tests.nodes.conftest import CONFIG
from tests.nodes.test_wrong_node import commit, epoch_end, fetch, join, list_offsets, produce
from tests.oracle.apache_cluster import ApacheCluster
from tests.waiting import until

EPOCHS = (-1, 0, 1)
"""Unknown, the present one, one to come."""


def leaders(servers: str) -> dict[str, int]:
    topics = ask(servers, MetadataRequest(topics=None), 12).topics
    return {topic.name: topic.partitions[0].leader_id for topic in topics if topic.partitions}


def answers(nodes: Mapping[int, str]) -> dict[str, Any]:
    """What a node says that leads nothing, follows, or does not coordinate."""
    topics = [CreatableTopic("orders", 1, 1), CreatableTopic("wide", 1, 3)]
    ask(nodes[1], CreateTopicsRequest(topics=topics, timeout_ms=10_000), 5)
    until(lambda: all({"orders", "wide"} <= leaders(one).keys() for one in nodes.values()), "the leaders")
    led = leaders(nodes[1])
    coordinator = until(
        lambda: (one := ask(nodes[1], FindCoordinatorRequest(key="g"), 3)).error_code == 0 and one.node_id,
        "a coordinator",
    )
    until(lambda: ask(nodes[coordinator], HeartbeatRequest("g", 1, "m"), 3).error_code == 25, "its offsets are loaded")
    stranger, follower, elsewhere = (
        next(servers for node_id, servers in nodes.items() if node_id != owner)
        for owner in (led["orders"], led["wide"], coordinator)
    )
    return {**_partitions(stranger, follower, led["orders"]), **_groups(elsewhere), **_empty(nodes)}


def _partitions(stranger: str, follower: str, leader: int) -> dict[str, Any]:
    produced = ask(stranger, produce(), 12)
    one = produced.responses[0].partition_responses[0]
    hints = one.current_leader.leader_id == leader, [node.node_id == leader for node in produced.node_endpoints]
    found: dict[str, Any] = {
        "produce": (one.error_code, one.base_offset, one.log_start_offset, one.error_message, hints)
    }
    for epoch in EPOCHS:
        found[f"fetch {epoch}"] = str(ask(stranger, fetch(epoch), 12).responses)
        found[f"list {epoch}"] = str(ask(stranger, list_offsets(epoch), 7).topics)
        found[f"end {epoch}"] = str(ask(stranger, epoch_end(epoch), 4).topics)
        wide_list, wide_end = list_offsets(epoch), epoch_end(epoch)
        wide_list.topics[0].name = wide_end.topics[0].topic = "wide"
        found[f"follower list {epoch}"] = str(ask(follower, wide_list, 7).topics)
        found[f"follower end {epoch}"] = str(ask(follower, wide_end, 4).topics)
        for version in (10, 11, 12):
            wide = fetch(epoch)
            wide.topics[0].topic = "wide"
            found[f"follower fetch {epoch} v{version}"] = str(ask(follower, wide, version).responses)
    return found


def _groups(node: str) -> dict[str, Any]:
    delete = [OffsetDeleteRequestPartition(0)]
    asked: list[tuple[Message, int]] = [
        (join(), 5),
        (join(), 9),
        (SyncGroupRequest("g", 1, "m"), 3),
        (HeartbeatRequest("g", 1, "m"), 3),
        (LeaveGroupRequest("g", members=[MemberIdentity("m")]), 3),
        (commit(), 8),
        (commit("nope"), 8),
        (OffsetFetchRequest("g", topics=None), 7),
        (OffsetFetchRequest("g", topics=[]), 1),
        (OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)]), 8),
        (DescribeGroupsRequest(["g"]), 5),
        (DescribeGroupsRequest(["g"]), 6),
        (DeleteGroupsRequest(["g"]), 2),
        (OffsetDeleteRequest("g", [OffsetDeleteRequestTopic("orders", delete)]), 0),
        (OffsetDeleteRequest("g", [OffsetDeleteRequestTopic("nope", delete)]), 0),
    ]
    return {f"{request} v{version}": str(ask(node, request, version)) for request, version in asked}


def _empty(nodes: Mapping[int, str]) -> dict[str, Any]:
    """The group "", on every node."""
    asked: list[tuple[Message, int]] = [
        (HeartbeatRequest("", 1, "m"), 3),
        (SyncGroupRequest("", 1, "m"), 3),
        (LeaveGroupRequest("", members=[MemberIdentity("m")]), 3),
        (OffsetDeleteRequest("", []), 0),
    ]
    return {str(request): [str(ask(node, request, version)) for node in nodes.values()] for request, version in asked}


@pytest.mark.oracle
def test_wrong_nodes_answer_as_kafkas(apache_cluster: ApacheCluster):
    with KafkaStub(nodes=3, config=CONFIG, profile="kafka") as stub:
        ours = answers({node.id: node.bootstrap_servers for node in stub.nodes.values()})
    theirs = answers({node_id: node.bootstrap_servers for node_id, node in apache_cluster.nodes.items()})
    assert ours == theirs


def test_every_node_of_the_empty_group_says_that_it_is_invalid():
    with KafkaStub(nodes=3, config=CONFIG) as stub:
        found = _empty({node.id: node.bootstrap_servers for node in stub.nodes.values()})
    assert all("error_code=24" in answer for said in found.values() for answer in said)
