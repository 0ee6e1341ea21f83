"""/v1/nodes, /v1/leaders, /v1/coordinators and /v1/advertised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafkastub import KafkaStub
from tests.conftest import CONFIG
from tests.control.conftest import Http, commit_for
from tests.process.serving import metadata


@pytest.fixture
def cluster() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 3}, config=CONFIG, nodes=3, control_port=0) as stub:
        yield stub


@pytest.fixture
def http(cluster: KafkaStub) -> Iterator[Http]:
    http = Http(cluster.control_url)
    with http.client:
        yield http


def test_nodes_are_listed(cluster: KafkaStub, http: Http):
    nodes = http.good("GET", "/v1/nodes")["nodes"]
    assert [node["node"] for node in nodes] == [1, 2, 3]
    assert sum(node["leads"] for node in nodes) == 3
    assert ",".join(node["advertised"]["PLAINTEXT"] for node in nodes) == cluster.bootstrap_servers


def test_a_node_stops_and_comes_back(cluster: KafkaStub, http: Http):
    leader = cluster.leader_of("orders", 0)
    assert http.good("POST", f"/v1/nodes/{leader}/stop")["running"] is False
    other = next(node for node in cluster.nodes.values() if node.id != leader)
    told = metadata(other.bootstrap_servers, "orders")
    assert leader not in [broker.node_id for broker in told.brokers]
    assert http.good("POST", f"/v1/nodes/{leader}/start")["running"] is True
    assert len(metadata(cluster.nodes[leader].bootstrap_servers).brokers) == 3


def test_partitions_without_a_leader_are_listed_with_the_node_they_wait_for(cluster: KafkaStub, http: Http):
    assert http.good("GET", "/v1/nodes")["leaderless"] == []
    leader = cluster.leader_of("orders", 0)
    http.good("POST", f"/v1/nodes/{leader}/stop")
    found = http.good("GET", "/v1/nodes")["leaderless"]
    assert {"topic": "orders", "partition": 0, "nodes": [leader]} in found
    http.good("POST", f"/v1/nodes/{leader}/start")
    assert http.good("GET", "/v1/nodes")["leaderless"] == []


def test_leaders_and_coordinators_move(cluster: KafkaStub, http: Http):
    commit_for(cluster, "shipping")
    for node in (2, 3):
        assert http.good("POST", "/v1/leaders", {"topic": "orders", "partition": 0, "node": node}) == {"node": node}
        assert cluster.leader_of("orders", 0) == node
        assert http.good("POST", "/v1/coordinators", {"group": "shipping", "node": node}) == {"node": node}
        assert cluster.coordinator_of("shipping") == node
    commit_for(cluster, "shipping", 43)
    assert http.good("GET", "/v1/groups/shipping")["offset_list"][0]["offset"] == 43


def test_a_node_more(cluster: KafkaStub, http: Http):
    assert http.good("POST", "/v1/nodes", {"rack": "r4"})["node"] == 4
    assert http.good("GET", "/v1/nodes/4")["rack"] == "r4"
    assert len(metadata(cluster.nodes[4].bootstrap_servers).brokers) == 4


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "names"),
    [
        ("POST", "/v1/nodes/9/stop", None, 404, "there is no node 9, only 1, 2, 3"),
        ("GET", "/v1/nodes/one", None, 400, "node_id='one'"),
        ("POST", "/v1/leaders", {"topic": "orders", "partition": 9, "node": 1}, 404, "partition=9"),
        ("POST", "/v1/leaders", {"topic": "nope", "partition": 0, "node": 1}, 404, "topic='nope'"),
        ("POST", "/v1/leaders", {"topic": "orders", "partition": 0, "node": 9}, 400, "node 9 cannot lead"),
        ("POST", "/v1/leaders", {"topic": "orders", "partition": "0", "node": 1}, 400, "partition='0'"),
        ("POST", "/v1/coordinators", {"group": "g", "node": 9}, 400, "node 9"),
        ("PUT", "/v1/advertised", {"address": "localhost:1"}, 400, "say of which of the 3 nodes"),
        ("PUT", "/v1/advertised", {"address": "localhost:1", "node": 9}, 404, "there is no node 9"),
        ("PUT", "/v1/advertised", {"address": "nonsense", "node": 1}, 400, "address='nonsense'"),
        ("PUT", "/v1/advertised", {}, 400, "address is missing"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(http: Http, method: str, path: str, body: Any, status: int, names: str):
    got, said = http.ask(method, path, body)
    assert (got, names in said["error"]) == (status, True), said


def test_clients_are_told_another_address(stub: KafkaStub):
    http = Http(stub.control_url)
    with http.client:
        before = http.good("GET", "/v1/advertised")
        assert before["bootstrap_servers"] == stub.bootstrap_servers
        told = http.good("PUT", "/v1/advertised", {"address": "localhost:32768"})
        assert told == {"bootstrap_servers": "localhost:32768", "nodes": {"1": {"PLAINTEXT": "localhost:32768"}}}
    (broker,) = metadata(f"127.0.0.1:{stub.port}").brokers
    assert (broker.host, broker.port) == ("localhost", 32768)
