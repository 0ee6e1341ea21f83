"""A cluster of several nodes, seen from outside: who leads, who is there, what is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkastub import KafkaStub, TopicError
from kafkastub.config import ConfigError
from kafkawire.errors import ErrorCode
from kafkawire.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kafkawire.messages.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from tests.nodes.asking import ask
from tests.process.serving import Serving
from tests.rawclient import RawClient

THREE = {"default.replication.factor": 3, "min.insync.replicas": 2}


def test_leaders_are_spread_and_coordinators_too():
    with KafkaStub(topics={"orders": 6}, nodes=3) as stub:
        assert sorted(stub.leader_of("orders", partition) for partition in range(6)) == [1, 1, 2, 2, 3, 3]
        assert {stub.coordinator_of(f"group-{number}") for number in range(50)} == {1, 2, 3}


def test_nodes_are_told_and_wrong_names_refused():
    with KafkaStub(topics={"orders": 1}, nodes=2) as stub:
        assert repr(stub.nodes) == f"<nodes {stub.nodes[1]!r}, {stub.nodes[2]!r}>"
        with pytest.raises(TypeError, match="expected a list of names"):
            stub.elect_leaders("orders")
        with pytest.raises(KeyError, match="there is no topic 'orderz'"):
            stub.elect_leaders(["orders", "orderz"])
        with pytest.raises(TypeError, match="partition='0' is refused"):
            stub.leader_of("orders", "0")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="rack=5 is refused"):
            stub.add_node(rack=5)  # type: ignore[arg-type]


def test_a_node_stops_and_comes_back_where_it_was():
    with KafkaStub(topics={"orders": 3}, nodes=3, config=THREE) as stub:
        led = next(partition for partition in range(3) if stub.leader_of("orders", partition) == 2)
        node = stub.nodes[2]
        address = node.bootstrap_servers
        with RawClient(address) as client:
            node.stop()
            assert client.receive() is None
        assert not node.running
        assert stub.leader_of("orders", led) in (1, 3)
        with pytest.raises(ConnectionRefusedError):
            RawClient(address)
        node.stop()  # twice does no harm
        node.start()
        assert node.running
        assert node.bootstrap_servers == address
        RawClient(address).close()
        assert stub.leader_of("orders", led) != 2
        stub.elect_leaders(["orders"])
        assert stub.leader_of("orders", led) == 2


def test_a_partition_of_a_stopped_node_alone_has_no_leader_until_it_is_back():
    with KafkaStub(topics={"orders": 3}, nodes=3) as stub:
        led = next(partition for partition in range(3) if stub.leader_of("orders", partition) == 2)
        stub.nodes[2].stop()
        assert stub.leader_of("orders", led) == -1
        stub.elect_leaders(unclean=True)
        assert stub.leader_of("orders", led) == -1
        stub.nodes[2].start()
        assert stub.leader_of("orders", led) == 2


def test_new_topics_avoid_a_stopped_node():
    with KafkaStub(nodes=3, config={"default.replication.factor": 2}) as stub:
        stub.nodes[1].stop()
        stub.create_topic("orders", 6)
        assert {stub.leader_of("orders", partition) for partition in range(6)} == {2, 3}


def test_nodes_come_and_go():
    with KafkaStub(topics={"orders": 1}) as stub:
        added = stub.add_node(rack="b")
        assert (added.id, added.rack, list(stub.nodes)) == (2, "b", [1, 2])
        address = added.bootstrap_servers
        stub.move_leader("orders", 0, 2)
        assert stub.leader_of("orders", 0) == 2
        stub.move_leader("orders", 0, 1)
        stub.remove_node(2)
        assert list(stub.nodes) == [1]
        with pytest.raises(ConnectionRefusedError):
            RawClient(address)


def test_what_cannot_be_is_refused_with_a_reason():
    with KafkaStub(topics={"orders": 1}, nodes=2) as stub:
        stub.nodes[2].stop()
        with pytest.raises(ValueError, match="node 2 cannot lead orders-0: running are the nodes 1"):
            stub.move_leader("orders", 0, 2)
        with pytest.raises(ValueError, match="node 9 cannot lead"):
            stub.move_coordinator("g", 9)
        with pytest.raises(KeyError, match="there is no partition 7 of a topic 'orders'"):
            stub.move_leader("orders", 7, 1)
        with pytest.raises(KeyError, match="there is no node 9, only 1, 2"):
            stub.nodes[9]
        with pytest.raises(ConfigError, match="say of which of the 2 nodes"):
            stub.advertise("h:1")
    for nodes in (0, 101):
        with pytest.raises(ValueError, match="1 to 100"):
            KafkaStub(nodes=nodes)
    with pytest.raises(TypeError, match="racks"):
        KafkaStub(nodes=2, racks="ab")


def test_a_cluster_is_kept_in_a_data_directory(tmp_path: Path):
    with KafkaStub(topics={"orders": 6}, nodes=3, config=THREE, data_dir=tmp_path) as stub:
        stub.nodes[1].stop()
        before = [stub.leader_of("orders", partition) for partition in range(6)]
    with KafkaStub(nodes=3, config=THREE, data_dir=tmp_path) as stub:
        assert [stub.leader_of("orders", partition) for partition in range(6)] == before
        stub.elect_leaders()
        assert {stub.leader_of("orders", partition) for partition in range(6)} == {1, 2, 3}
    with KafkaStub(nodes=1, config=THREE, data_dir=tmp_path) as stub:
        assert {stub.leader_of("orders", partition) for partition in range(6)} == {1}


def test_a_partition_that_nobody_led_when_the_data_directory_was_left_is_led_again(tmp_path: Path):
    """Its ISR was empty, and who might have led had been forgotten: it never had a leader any more."""
    config = {"default.replication.factor": 2}
    with KafkaStub(topics={"orders": 1}, nodes=3, config=config, data_dir=tmp_path) as stub:
        last = stub.leader_of("orders", 0)
        for node in [*(node for node in stub.nodes if node != last), last]:
            stub.nodes[node].stop()
        assert stub.leader_of("orders", 0) == -1
    with KafkaStub(nodes=3, config=config, data_dir=tmp_path) as stub:
        assert stub.leader_of("orders", 0) == last


def test_a_reassignment_is_still_under_way_after_a_restart(tmp_path: Path):
    """Its new replica is on a node that is not there yet."""
    config = {"default.replication.factor": 1}
    with KafkaStub(topics={"orders": 1}, nodes=2, config=config, data_dir=tmp_path) as stub:
        leader = stub.leader_of("orders", 0)
        other = 3 - leader
        stub.nodes[other].stop()
        assigned = [ReassignableTopic("orders", [ReassignablePartition(0, [other])])]
        answer = ask(stub.nodes[leader].bootstrap_servers, AlterPartitionReassignmentsRequest(1000, True, assigned), 1)
        assert answer.responses[0].partitions[0].error_code == 0
        assert stub.leader_of("orders", 0) == leader
    with KafkaStub(nodes=2, config=config, data_dir=tmp_path) as stub:
        assert stub.leader_of("orders", 0) == other


def test_a_process_of_three_nodes():
    with Serving("--nodes", "3", "--racks", "a", "b", "--topic", "orders:3") as process:
        brokers = process.metadata().brokers
        assert [(node.node_id, node.rack) for node in brokers] == [(1, "a"), (2, "b"), (3, "a")]
        assert len({node.port for node in brokers}) == 3
        assert process.ready_line.count("127.0.0.1:") == 3


def test_what_has_no_place_is_refused():
    with KafkaStub(nodes=3, config=THREE, topics={"orders": 1}) as stub:
        stub.remove_node(3)
        more = CreatePartitionsRequest(topics=[CreatePartitionsTopic("orders", 2, None)], timeout_ms=1000)
        (refused,) = ask(stub.nodes[1].bootstrap_servers, more, 3).results
        assert refused.error_code == ErrorCode.INVALID_REPLICATION_FACTOR
        assert "because only 2 broker(s) are registered" in refused.error_message
        for node in stub.nodes.values():
            node.stop()
        assert stub.coordinator_of("g") == -1
        with pytest.raises(ValueError, match="no node is running"):
            stub.move_coordinator("g", 1)
        with pytest.raises(TopicError, match="All brokers are currently fenced"):
            stub.create_topic("late", 1)
        stub.nodes[1].start()
        stub.nodes[2].start()
        assert stub.coordinator_of("g") in (1, 2)
