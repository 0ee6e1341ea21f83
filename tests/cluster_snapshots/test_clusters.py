"""Clusters of several nodes, of older releases, behind TLS, with schemas, and such that go on while they are read."""

from __future__ import annotations

import threading

import pytest

from kafkastub import KafkaStub, Snapshot
from kafkastub.client import Client, groups, topics


@pytest.mark.parametrize("release", ["2.1", "2.8", "3.3", "3.9", "4.3"])
def test_older_releases(release: str) -> None:
    with KafkaStub({"orders": 2}, as_version=release) as cluster:
        cluster.produce("orders", "value", partition=1)
        cluster.commit("g", {("orders", 1): 0})
        saved = Snapshot.from_cluster(cluster.bootstrap_servers, records={"orders": "all"})
    assert saved.missing == []
    with KafkaStub(snapshot=saved) as stub:
        assert [(one.partition, one.value) for one in stub.records("orders")] == [(1, b"value")]
        assert stub.lag("g") == {("orders", 1): 1}


def test_a_node_that_is_down_is_down() -> None:
    with KafkaStub(nodes=3, config={"default.replication.factor": 1}) as cluster:
        cluster.create_topic("orders", 6)
        for partition in range(6):
            cluster.produce("orders", f"{partition}", partition=partition)
        lost = {partition for partition in range(6) if cluster.leader_of("orders", partition) == 3}
        assert len(lost) == 2
        cluster.nodes[3].stop()
        saved = Snapshot.from_cluster(cluster.bootstrap_servers, records={"orders": "all"}, timeout=1)
    assert {what for what, _ in saved.missing} == {f"offsets of orders-{partition}" for partition in lost}
    with KafkaStub(snapshot=saved) as stub:
        assert [stub.nodes[node].running for node in (1, 2, 3)] == [True, True, False]
        assert {one.partition for one in stub.records("orders")} == set(range(6)) - lost


def test_a_log_whose_leaders_changed() -> None:
    """Consumers ask in which epoch a log has which offsets."""
    with KafkaStub(nodes=3) as cluster:
        cluster.create_topic("orders", 1)
        for leader in (2, 3, 2, 1):
            cluster.move_leader("orders", 0, leader)
            cluster.produce("orders", f"of {leader}")
        saved = Snapshot.from_cluster(cluster.bootstrap_servers)
        expected = epochs(cluster)
    with KafkaStub(snapshot=saved) as stub:
        assert epochs(stub) == expected
    assert len(set(expected)) > 3


def epochs(stub: KafkaStub) -> list[tuple[int, int]]:
    """Where each epoch of `orders`-0 ends."""
    from kafkawire.messages.offset_for_leader_epoch_request import (
        OffsetForLeaderEpochRequest,
        OffsetForLeaderPartition,
        OffsetForLeaderTopic,
    )

    found = []
    with Client(stub.bootstrap_servers) as client:
        for epoch in range(8):
            asked = [OffsetForLeaderTopic("orders", [OffsetForLeaderPartition(0, leader_epoch=epoch)])]
            (answer,) = client.ask_leaders(
                [("orders", 0)], lambda own, asked=asked: OffsetForLeaderEpochRequest(topics=asked)
            )
            (one,) = answer.topics[0].partitions
            found.append((one.leader_epoch, one.end_offset))
    return found


def test_tls() -> None:
    config = {"listeners": "SSL://127.0.0.1:0", "security.inter.broker.protocol": "SSL"}
    with KafkaStub({"orders": 1}, config=config) as cluster:
        client = {"security.protocol": "SSL", "ssl.ca.location": cluster.ca_file}
        assert Snapshot.from_cluster(cluster.bootstrap_servers, command_config=client).topics == {"orders": 1}


def test_an_address_that_is_reached_elsewhere() -> None:
    with KafkaStub({"orders": 1}) as cluster:
        there = cluster.bootstrap_servers
        cluster.advertise("kafka.invalid:9092")
        assert Snapshot.from_cluster(there, reach={"kafka.invalid:9092": there}).topics == {"orders": 1}


def test_schemas_are_there_and_readable() -> None:
    schema = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'
    with KafkaStub({"orders": 1}, registry=True) as cluster:
        cluster.registry.register("orders-value", schema)
        cluster.produce("orders", cluster.registry.encode("orders-value", {"id": 7}))
        saved = Snapshot.from_cluster(cluster.bootstrap_servers, records={"orders": "all"}, redact=None)
        hidden = Snapshot.from_cluster(cluster.bootstrap_servers, redact="all")
    for one in (saved, hidden):
        with KafkaStub(snapshot=one, registry=True) as stub:
            assert stub.registry.subjects() == ["orders-value"]
    with KafkaStub(snapshot=saved, registry=True) as stub:
        (record,) = stub.records("orders")
        assert record.value is not None
        assert stub.registry.decode(record.value) == {"id": 7}


def test_no_offset_is_behind_the_end_of_its_log_while_the_cluster_goes_on() -> None:
    with KafkaStub({"orders": 4}) as cluster:
        done = threading.Event()

        def go_on() -> None:
            number = 0
            while not done.is_set():
                number += 1
                cluster.produce("orders", "value", partition=number % 4)
                cluster.commit("g", {("orders", number % 4): number // 4 + (number % 4 > 0)})

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            taken = [Snapshot.from_cluster(cluster.bootstrap_servers, records={"orders": "all"}) for _ in range(5)]
        finally:
            done.set()
            thread.join()
    for saved in taken:
        with KafkaStub(snapshot=saved) as stub, Client(stub.bootstrap_servers) as client:
            ends = topics.list_offsets(client, {("orders", index): topics.LATEST for index in range(4)})
            committed = groups.offsets(client, "g")
            assert all(one.offset <= ends[place] for place, one in committed.items())
            assert len(stub.records("orders")) == sum(ends.values())
