"""Transactions of three nodes: who coordinates one, who sends others away, and what waits for a node that is away."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer

from kafkastub import KafkaStub
from kafkastub.coordinator import partition_for
from kafkawire.errors import ErrorCode
from kafkawire.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kafkawire.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kafkawire.messages.describe_transactions_request import DescribeTransactionsRequest
from kafkawire.messages.end_txn_request import EndTxnRequest
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.list_transactions_request import ListTransactionsRequest
from tests.nodes.asking import ask
from tests.nodes.test_wrong_node import Cluster
from tests.waiting import SECONDS, until

NOT_COORDINATOR, BUSY = ErrorCode.NOT_COORDINATOR, ErrorCode.CONCURRENT_TRANSACTIONS
PARTITIONS = 50


def coordinate(stub: KafkaStub, name: str, node: int) -> None:
    stub.move_leader("__transaction_state", partition_for(name, PARTITIONS), node)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Node 1 coordinates "tx", node 2 "other"."""
    with KafkaStub(topics={"orders": 3}, nodes=3, config={"transaction.state.log.replication.factor": 3}) as stub:
        cluster = Cluster(stub)
        for name, node in (("tx", 1), ("other", 2)):
            found = cluster.ask(3, FindCoordinatorRequest(key_type=1, coordinator_keys=[name]), 4)
            assert found.coordinators[0].error_code == 0
            coordinate(stub, name, node)
        yield cluster
        cluster.close()


def begun(cluster: Cluster, name: str, node: int) -> tuple[int, int]:
    answer = cluster.ask(node, InitProducerIdRequest(name, 60_000), 4)
    assert answer.error_code == 0
    return answer.producer_id, answer.producer_epoch


def states(cluster: Cluster, node: int, *names: str) -> list[tuple[int, str]]:
    answer = cluster.ask(node, DescribeTransactionsRequest(names), 0)
    return [(one.error_code, one.transaction_state) for one in answer.transaction_states]


def test_the_coordinator_is_found_where_it_is(cluster: Cluster):
    for node in (1, 2, 3):
        asked = FindCoordinatorRequest(key_type=1, coordinator_keys=["tx", "other"])
        assert [one.node_id for one in cluster.ask(node, asked, 4).coordinators] == [1, 2]


def test_another_node_knows_nothing_of_it(cluster: Cluster):
    producer = begun(cluster, "tx", 1)
    for node in (2, 3):
        assert cluster.ask(node, InitProducerIdRequest("tx", 60_000), 4).error_code == NOT_COORDINATOR
        assert cluster.ask(node, AddOffsetsToTxnRequest("tx", *producer, "g"), 3).error_code == NOT_COORDINATOR
        assert cluster.ask(node, EndTxnRequest("tx", *producer, True), 3).error_code == NOT_COORDINATOR
        topics = [AddPartitionsToTxnTopic("orders", [0])]
        added = cluster.ask(node, AddPartitionsToTxnRequest((), "tx", *producer, topics), 3)
        assert added.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code == NOT_COORDINATOR
        assert states(cluster, node, "tx") == [(NOT_COORDINATOR, "")]
    assert states(cluster, 1, "tx") == [(0, "Empty")]


def test_of_several_each_is_asked_for_at_its_own_node(cluster: Cluster):
    producers = {name: begun(cluster, name, node) for name, node in (("tx", 1), ("other", 2))}
    assert states(cluster, 1, "other", "tx", "") == [
        (NOT_COORDINATOR, ""),
        (0, "Empty"),
        (ErrorCode.INVALID_REQUEST, ""),
    ]
    listed = [cluster.ask(node, ListTransactionsRequest(), 1).transaction_states for node in (1, 2, 3)]
    assert [[one.transactional_id for one in some] for some in listed] == [["tx"], ["other"], []]
    topics = [AddPartitionsToTxnTopic("orders", [0])]
    both = [AddPartitionsToTxnTransaction(name, *one, False, topics) for name, one in producers.items()]
    answer = cluster.ask(2, AddPartitionsToTxnRequest(both), 5)
    codes = {
        one.transactional_id: one.topic_results[0].results_by_partition[0].partition_error_code
        for one in answer.results_by_transaction
    }
    assert codes == {"tx": NOT_COORDINATOR, "other": 0}


def test_of_very_many_each_is_asked_for_at_its_own_node(cluster: Cluster):
    producers = {name: begun(cluster, name, node) for name, node in (("tx", 1), ("other", 2))}
    topics = [AddPartitionsToTxnTopic("orders", [0])] * 300
    several = [AddPartitionsToTxnTransaction(name, *one, False, topics) for name, one in producers.items()]
    answer = cluster.ask(2, AddPartitionsToTxnRequest(several), 5)
    codes = {
        one.transactional_id: {
            row.partition_error_code for topic in one.topic_results for row in topic.results_by_partition
        }
        for one in answer.results_by_transaction
    }
    assert codes == {"tx": {NOT_COORDINATOR}, "other": {0}}
    assert (states(cluster, 1, "tx"), states(cluster, 2, "other")) == ([(0, "Empty")], [(0, "Ongoing")])


def test_who_has_no_transactional_id_goes_anywhere(cluster: Cluster):
    assert [cluster.ask(node, InitProducerIdRequest(None, 0), 4).producer_id for node in (1, 2, 3)] == [0, 1, 2]


@pytest.mark.parametrize("stops", [False, True])
def test_a_transaction_goes_on_at_another_coordinator(stops: bool):
    """As librdkafka finds it, in the middle of its transaction."""
    config = {"transaction.state.log.replication.factor": 3, "default.replication.factor": 3}
    with KafkaStub(topics={"orders": 3}, nodes=3, config=config) as stub:
        producer = Producer({"bootstrap.servers": stub.bootstrap_servers, "transactional.id": "tx", "log_level": 0})
        producer.init_transactions(SECONDS)
        for number, node in enumerate((1, 2, 3)):
            producer.begin_transaction()
            producer.produce("orders", f"before-{number}".encode(), partition=number)
            producer.flush(SECONDS)
            if stops and number == 1:
                stub.nodes[stub.leader_of("__transaction_state", partition_for("tx", PARTITIONS))].stop()
            else:
                coordinate(stub, "tx", node)
            producer.produce("orders", f"after-{number}".encode(), partition=number)
            producer.commit_transaction(SECONDS) if number != 1 or stops else producer.abort_transaction(SECONDS)
            for one in stub.nodes.values():
                one.start()
        settings = {"group.id": "g", "auto.offset.reset": "earliest", "isolation.level": "read_committed"}
        consumer = Consumer({"bootstrap.servers": stub.bootstrap_servers, "log_level": 0, **settings})
        consumer.subscribe(["orders"])
        wanted = {f"{when}-{n}".encode() for when in ("before", "after") for n in ((0, 1, 2) if stops else (0, 2))}
        found: set[bytes] = set()

        def read() -> bool:
            message = consumer.poll(1)
            if message is not None and not message.error():
                found.add(message.value() or b"")
            return found >= wanted

        until(read, "every record of what was committed")
        assert found == wanted
        consumer.close()


def test_a_marker_waits_for_the_node_that_leads():
    with KafkaStub(topics={"orders": 3}, nodes=3, config={"transaction.state.log.replication.factor": 3}) as stub:
        cluster = Cluster(stub)
        cluster.ask(1, FindCoordinatorRequest(key_type=1, coordinator_keys=["tx"]), 4)
        coordinate(stub, "tx", 1)
        away = next(partition for partition in range(3) if stub.leader_of("orders", partition) == 2)
        producer = begun(cluster, "tx", 1)
        topics = [AddPartitionsToTxnTopic("orders", [0, 1, 2])]
        cluster.ask(1, AddPartitionsToTxnRequest((), "tx", *producer, topics), 3)
        stub.nodes[2].stop()
        assert cluster.ask(1, EndTxnRequest("tx", *producer, True), 3).error_code == 0
        (told,) = cluster.ask(1, DescribeTransactionsRequest(["tx"]), 0).transaction_states
        assert (told.transaction_state, [(one.topic, list(one.partitions)) for one in told.topics]) == (
            "PrepareCommit",
            [("orders", [away])],
        )
        assert cluster.ask(1, InitProducerIdRequest("tx", 60_000), 4).error_code == BUSY
        stub.nodes[2].start()
        assert states(cluster, 1, "tx") == [(0, "CompleteCommit")]
        assert begun(cluster, "tx", 1) == (producer[0], producer[1] + 1)
        cluster.close()


def test_markers_wait_for_a_coordinator():
    """It goes away with its log before it could send them; they are sent when it is back."""
    with KafkaStub(topics={"orders": 3}, nodes=3, config={"transaction.state.log.replication.factor": 1}) as stub:
        cluster = Cluster(stub)
        cluster.ask(2, FindCoordinatorRequest(key_type=1, coordinator_keys=["any"]), 4)
        names = (f"tx-{number}" for number in range(100))
        name = next(one for one in names if stub.leader_of("__transaction_state", partition_for(one, PARTITIONS)) == 1)
        producer = begun(cluster, name, 1)
        away = next(partition for partition in range(3) if stub.leader_of("orders", partition) == 3)
        topics = [AddPartitionsToTxnTopic("orders", [away])]
        cluster.ask(1, AddPartitionsToTxnRequest((), name, *producer, topics), 3)
        stub.nodes[3].stop()
        assert cluster.ask(1, EndTxnRequest(name, *producer, True), 3).error_code == 0
        stub.nodes[1].stop()
        stub.nodes[3].start()
        assert end_of(stub, away) == 0
        stub.nodes[1].start()
        assert end_of(stub, away) == 1
        again = Cluster(stub)
        assert states(again, 1, name) == [(0, "CompleteCommit")]
        again.close()
        cluster.close()


def end_of(stub: KafkaStub, partition: int) -> int:
    """How far the partition of orders goes, which node 3 leads."""
    asked = ListOffsetsTopic("orders", [ListOffsetsPartition(partition, -1, -1)])
    answer = ask(stub.nodes[3].bootstrap_servers, ListOffsetsRequest(-1, 0, [asked]), 5).topics[0].partitions[0]
    assert answer.error_code == 0
    offset: int = answer.offset
    return offset
