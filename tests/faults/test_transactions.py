"""Faults that know transactions: which requests a `transactional_id` meets, and where the error then stands."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.cli import main
from kafkastub.client import Client
from kafkastub.client.routing import TRANSACTION
from kafkastub.faults import Action, FaultError, FaultRule, Plan
from kafkastub.handlers.registry import registrations
from kafkawire.api import ApiKey
from kafkawire.codec import decode_from, encode
from kafkawire.errors import ErrorCode
from kafkawire.messages import REQUESTS
from kafkawire.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kafkawire.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kafkawire.messages.add_partitions_to_txn_response import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)
from kafkawire.messages.describe_transactions_request import DescribeTransactionsRequest
from kafkawire.messages.describe_transactions_response import DescribeTransactionsResponse, TransactionState
from kafkawire.messages.end_txn_request import EndTxnRequest
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.init_producer_id_response import InitProducerIdResponse
from kafkawire.messages.list_transactions_request import ListTransactionsRequest
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafkawire.messages.txn_offset_commit_response import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from kafkawire.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kafkawire.messages.write_txn_markers_response import WriteTxnMarkersResponse
from kafkawire.records import NewRecord, build_batch
from tests.clients.transactional import RawProducer
from tests.fronts import FRONTS, front
from tests.rawclient import RawClient

TRANSACTIONAL = (
    ApiKey.PRODUCE, ApiKey.FIND_COORDINATOR, ApiKey.INIT_PRODUCER_ID, ApiKey.ADD_PARTITIONS_TO_TXN,
    ApiKey.ADD_OFFSETS_TO_TXN, ApiKey.END_TXN, ApiKey.TXN_OFFSET_COMMIT, ApiKey.DESCRIBE_TRANSACTIONS,
)  # fmt: skip
SERVED = {key: REQUESTS[key][2] for key in (*TRANSACTIONAL, ApiKey.WRITE_TXN_MARKERS, ApiKey.METADATA)}
FENCED = int(ErrorCode.PRODUCER_FENCED)
CONCURRENT = int(ErrorCode.CONCURRENT_TRANSACTIONS)


def plan_of(**rule: Any) -> Plan:
    plan = Plan(SERVED, lambda _: None, lambda *_: (), lambda: None)
    plan.add(FaultRule(**rule), 0)
    return plan


def met(plan: Plan, key: ApiKey, version: int, request: Any) -> Action | None:
    first, last = SERVED[key]
    route = SimpleNamespace(key=key, version=version, api=SimpleNamespace(first=first, last=last))
    return plan.match(route, None, request)


def answered(action: Action | None, answer: Any) -> Any:
    """What the rule makes of an answer."""
    assert action is not None
    assert action.rewrite is not None
    return action.rewrite(answer)


def topics(**partitions: list[int]) -> list[AddPartitionsToTxnTopic]:
    return [AddPartitionsToTxnTopic(name, indexes) for name, indexes in partitions.items()]


def committed(**partitions: list[int]) -> list[TxnOffsetCommitRequestTopic]:
    return [
        TxnOffsetCommitRequestTopic(name, partitions=[TxnOffsetCommitRequestPartition(i, 5) for i in indexes])
        for name, indexes in partitions.items()
    ]


def requests_of(tx: str | None) -> list[tuple[ApiKey, int, Any]]:
    """One of each API and shape that names a transaction."""
    produce = ProduceRequest(transactional_id=tx, acks=-1, topic_data=[TopicProduceData("a")])
    named = tx or ""
    several = [AddPartitionsToTxnTransaction("other"), AddPartitionsToTxnTransaction(named, topics=topics(a=[0]))]
    return [
        (ApiKey.PRODUCE, 9, produce),
        (ApiKey.FIND_COORDINATOR, 3, FindCoordinatorRequest(key=named, key_type=1)),
        (ApiKey.FIND_COORDINATOR, 4, FindCoordinatorRequest(coordinator_keys=["other", named], key_type=1)),
        (ApiKey.INIT_PRODUCER_ID, 4, InitProducerIdRequest(transactional_id=tx)),
        (ApiKey.ADD_PARTITIONS_TO_TXN, 3, AddPartitionsToTxnRequest(v3_and_below_transactional_id=named)),
        (ApiKey.ADD_PARTITIONS_TO_TXN, 5, AddPartitionsToTxnRequest(transactions=several)),
        (ApiKey.ADD_OFFSETS_TO_TXN, 3, AddOffsetsToTxnRequest(transactional_id=named)),
        (ApiKey.END_TXN, 5, EndTxnRequest(transactional_id=named)),
        (ApiKey.TXN_OFFSET_COMMIT, 3, TxnOffsetCommitRequest(transactional_id=named)),
        (ApiKey.DESCRIBE_TRANSACTIONS, 0, DescribeTransactionsRequest(["other", named])),
    ]


def shown(requests: list[tuple[ApiKey, int, Any]]) -> list[str]:
    return [f"{key.camel} v{version}" for key, version, _ in requests]


@pytest.mark.parametrize("number", range(10), ids=shown(requests_of("tx")))
def test_a_rule_meets_the_requests_of_its_transaction_and_no_others(number: int) -> None:
    plan = plan_of(transactional_id="tx", delay_ms=1)
    assert met(plan, *requests_of("tx")[number]) is not None
    assert met(plan, *requests_of("xt")[number]) is None
    assert met(plan, *requests_of(None)[number]) is None


def test_the_coordinator_of_a_group_of_the_same_name_is_another() -> None:
    plan = plan_of(transactional_id="tx", delay_ms=1)
    for version in (3, 4):
        request = FindCoordinatorRequest(key="tx", coordinator_keys=["tx"], key_type=0)
        assert met(plan, ApiKey.FIND_COORDINATOR, version, request) is None
        assert met(plan_of(group="tx", delay_ms=1), ApiKey.FIND_COORDINATOR, version, request) is not None


def test_a_group_and_a_transaction_together_mean_both() -> None:
    plan = plan_of(transactional_id="tx", group="g", delay_ms=1)
    commit = TxnOffsetCommitRequest(transactional_id="tx", group_id="g")
    assert met(plan, ApiKey.TXN_OFFSET_COMMIT, 3, commit) is not None
    commit.group_id = "h"
    assert met(plan, ApiKey.TXN_OFFSET_COMMIT, 3, commit) is None
    assert met(plan, ApiKey.ADD_OFFSETS_TO_TXN, 3, AddOffsetsToTxnRequest("tx", group_id="g")) is not None


def test_what_does_not_name_a_transaction_is_never_kept_from_the_fast_path() -> None:
    plan = plan_of(transactional_id="tx", api="Produce", error="PRODUCER_FENCED")
    first, last = SERVED[ApiKey.PRODUCE]
    route = SimpleNamespace(key=ApiKey.PRODUCE, version=9, api=SimpleNamespace(first=first, last=last))
    request = ProduceRequest(transactional_id=None, acks=-1, topic_data=[TopicProduceData("a")])
    assert plan.never_matches(route, request)
    request.transactional_id = "tx"
    assert not plan.never_matches(route, request)


def test_an_api_without_transactions_is_refused() -> None:
    for api in ("Metadata", "WriteTxnMarkers"):
        with pytest.raises(FaultError, match="names no transaction"):
            plan_of(api=api, transactional_id="tx", delay_ms=1)
    with pytest.raises(FaultError, match="expected a string"):
        FaultRule(api="EndTxn", transactional_id=7, delay_ms=1)  # type: ignore[arg-type]


def test_an_error_for_one_of_several_transactions_leaves_the_others_alone() -> None:
    request = AddPartitionsToTxnRequest(
        transactions=[
            AddPartitionsToTxnTransaction("a", topics=topics(x=[0, 1])),
            AddPartitionsToTxnTransaction("b", topics=topics(x=[0])),
        ]
    )
    plan = plan_of(transactional_id="a", error="CONCURRENT_TRANSACTIONS")
    action = met(plan, ApiKey.ADD_PARTITIONS_TO_TXN, 4, request)
    assert action is not None
    assert action.narrow is not None
    left: Any = action.narrow(request)
    assert [each.transactional_id for each in left.transactions] == ["b"]
    done = AddPartitionsToTxnTopicResult("x", [AddPartitionsToTxnPartitionResult(0, 0)])
    answer = answered(
        action, AddPartitionsToTxnResponse(results_by_transaction=[AddPartitionsToTxnResult("b", [done])])
    )
    found = {
        (each.transactional_id, topic.name, one.partition_index): one.partition_error_code
        for each in answer.results_by_transaction
        for topic in each.topic_results
        for one in topic.results_by_partition
    }
    assert found == {("b", "x", 0): 0, ("a", "x", 0): CONCURRENT, ("a", "x", 1): CONCURRENT}


def test_a_transaction_takes_all_of_its_partitions_or_none() -> None:
    """Kafka says OPERATION_NOT_ATTEMPTED of those beside one that fails, and adds none."""
    request = AddPartitionsToTxnRequest(v3_and_below_transactional_id="tx", v3_and_below_topics=topics(a=[0, 1], b=[0]))
    rule = plan_of(api="AddPartitionsToTxn", topic="a", partition=1, error="UNKNOWN_TOPIC_OR_PARTITION")
    action = met(rule, ApiKey.ADD_PARTITIONS_TO_TXN, 3, request)
    assert action is not None
    assert (action.work, action.error) == (False, ErrorCode.OPERATION_NOT_ATTEMPTED)
    others = [
        AddPartitionsToTxnTopicResult(
            topic.name, [AddPartitionsToTxnPartitionResult(i, action.error) for i in topic.partitions]
        )
        for topic in request.v3_and_below_topics
    ]
    answer = answered(action, AddPartitionsToTxnResponse(results_by_topic_v3_and_below=others))
    found = {
        (topic.name, one.partition_index): one.partition_error_code
        for topic in answer.results_by_topic_v3_and_below
        for one in topic.results_by_partition
    }
    assert found == {("a", 0): 55, ("a", 1): 3, ("b", 0): 55}


def test_an_error_for_one_partition_of_a_transactional_commit() -> None:
    request = TxnOffsetCommitRequest(transactional_id="tx", group_id="g", topics=committed(a=[0, 1]))
    plan = plan_of(transactional_id="tx", topic="a", partition=0, error="COORDINATOR_LOAD_IN_PROGRESS")
    action = met(plan, ApiKey.TXN_OFFSET_COMMIT, 5, request)
    assert action is not None
    assert action.narrow is not None
    left: Any = action.narrow(request)
    assert [[one.partition_index for one in topic.partitions] for topic in left.topics] == [[1]]
    done = [TxnOffsetCommitResponseTopic("a", partitions=[TxnOffsetCommitResponsePartition(1, 0)])]
    answer = answered(action, TxnOffsetCommitResponse(topics=done))
    assert {one.partition_index: one.error_code for one in answer.topics[0].partitions} == {1: 0, 0: 14}


def test_an_error_for_one_transaction_that_is_described() -> None:
    plan = plan_of(transactional_id="a", error="NOT_COORDINATOR")
    action = met(plan, ApiKey.DESCRIBE_TRANSACTIONS, 0, DescribeTransactionsRequest(["a", "b"]))
    states = [TransactionState(0, "a", "Ongoing", producer_id=7), TransactionState(0, "b", "Ongoing", producer_id=8)]
    answer = answered(action, DescribeTransactionsResponse(transaction_states=states))
    found = [(one.transactional_id, one.error_code, one.transaction_state) for one in answer.transaction_states]
    assert found == [("a", 16, ""), ("b", 0, "Ongoing")]


def test_an_error_for_one_partition_of_a_marker() -> None:
    markers = [WritableTxnMarker(7, 0, True, [WritableTxnMarkerTopic("a", [0, 1])], 0)]
    plan = plan_of(api="WriteTxnMarkers", topic="a", partition=1, error="NOT_LEADER_OR_FOLLOWER")
    action = met(plan, ApiKey.WRITE_TXN_MARKERS, 1, WriteTxnMarkersRequest(markers))
    assert action is not None
    assert action.narrow is not None
    left: Any = action.narrow(WriteTxnMarkersRequest(markers))
    assert left.markers[0].topics[0].partition_indexes == (0,)
    (marker,) = answered(action, WriteTxnMarkersResponse()).markers
    assert (marker.producer_id, marker.topics[0].partitions[0].error_code) == (7, 6)


# -- on the wire


@pytest.fixture(params=FRONTS)
def stub(request: pytest.FixtureRequest) -> Iterator[KafkaStub]:
    with front(request, {"a": 1, "b": 1}) as running:
        yield running


def state_of(stub: KafkaStub, transactional_id: str) -> str:
    """By asking the broker, or the cluster; "" where there is none."""
    with Client(stub.bootstrap_servers) as client:
        (told,) = client.ask_coordinator(
            transactional_id, DescribeTransactionsRequest([transactional_id]), TRANSACTION
        ).transaction_states
    return str(told.transaction_state)


def initialised(client: RawClient, transactional_id: str | None) -> int:
    request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=1000)
    body = client.exchange(ApiKey.INIT_PRODUCER_ID, 4, encode(request, 4))
    return decode_from(InitProducerIdResponse, 4, body, 0)[0].error_code


def test_only_the_producer_of_that_transaction_is_fenced(stub: KafkaStub) -> None:
    with RawClient(stub.bootstrap_servers) as client:
        stub.faults.add(api="InitProducerId", transactional_id="tx", error="PRODUCER_FENCED", times=1)
        assert initialised(client, None) == 0
        assert initialised(client, "tx") == FENCED


def test_a_rule_meets_every_batch_of_its_transaction(stub: KafkaStub) -> None:
    """The first goes its way through the handler, those behind it the fast path, unless a rule may care for them."""
    with Client(stub.bootstrap_servers) as client:
        own, other = RawProducer(client, "tx"), RawProducer(client, "xt")
        with stub.faults.add(api="Produce", transactional_id="tx", error="INVALID_PRODUCER_EPOCH", after=3) as fault:
            for producer in (own, other):
                producer.add("a", 0)
                for _ in range(3):
                    assert producer.produce("a", 0, b"x", 1) is ErrorCode.NONE
            assert fault.matched == 3
            assert own.produce("a", 0, b"x", 1) is ErrorCode.INVALID_PRODUCER_EPOCH
            assert other.produce("a", 0, b"x", 1) is ErrorCode.NONE
        assert own.produce("a", 0, b"x", 1) is ErrorCode.NONE


def test_a_rule_over_http_and_from_the_command_line_names_a_transaction() -> None:
    with KafkaStub(control_port=0) as stub:
        rule = ["api=EndTxn", "transactional_id=7", "drop=after"]
        assert main(["faults", "add", *rule, "--control", stub.control_url]) == 0
        body = json.dumps({"api": "EndTxn", "transactional_id": "shop", "drop": "after"}).encode()
        with urllib.request.urlopen(f"{stub.control_url}/v1/faults", body) as answer:
            assert json.load(answer)["rule"]["transactional_id"] == "shop"
        assert [fault.rule.transactional_id for fault in stub.faults] == ["7", "shop"]


def test_partitions_beside_one_that_fails_are_not_added(stub: KafkaStub) -> None:
    with Client(stub.bootstrap_servers) as asking, RawClient(stub.bootstrap_servers) as client:
        producer = RawProducer(asking, "tx")
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="tx", v3_and_below_producer_id=producer.producer_id,
            v3_and_below_producer_epoch=producer.epoch, v3_and_below_topics=topics(a=[0], b=[0]),
        )  # fmt: skip
        stub.faults.add(transactional_id="tx", topic="a", error="UNKNOWN_TOPIC_OR_PARTITION", times=1)
        for expected, state in (({3: 1, 55: 1}, "Empty"), ({0: 2}, "Ongoing")):
            client.exchange(ApiKey.ADD_PARTITIONS_TO_TXN, 3, encode(request, 3))
            assert stub.journal.requests(api="AddPartitionsToTxn")[-1].errors == expected
            assert state_of(stub, "tx") == state


def put_at(key: ApiKey, version: int) -> int:
    """How often an error for the whole request stands in the answer: at the top, or for all that the request names."""
    if key is ApiKey.ADD_PARTITIONS_TO_TXN:
        return 3 if version < 4 else 1
    return {ApiKey.TXN_OFFSET_COMMIT: 3, ApiKey.WRITE_TXN_MARKERS: 3, ApiKey.DESCRIBE_TRANSACTIONS: 2}.get(key, 1)


WHOLE = {
    ApiKey.ADD_PARTITIONS_TO_TXN: AddPartitionsToTxnRequest(
        [AddPartitionsToTxnTransaction("tx", topics=topics(a=[0, 1], b=[0]))],
        "tx",
        v3_and_below_topics=topics(a=[0, 1], b=[0]),
    ),
    ApiKey.ADD_OFFSETS_TO_TXN: AddOffsetsToTxnRequest("tx", group_id="g"),
    ApiKey.END_TXN: EndTxnRequest("tx"),
    ApiKey.WRITE_TXN_MARKERS: WriteTxnMarkersRequest(
        [WritableTxnMarker(7, 0, True, [WritableTxnMarkerTopic("a", [0, 1]), WritableTxnMarkerTopic("b", [0])], 0)]
    ),
    ApiKey.TXN_OFFSET_COMMIT: TxnOffsetCommitRequest("tx", "g", topics=committed(a=[0, 1], b=[0])),
    ApiKey.DESCRIBE_TRANSACTIONS: DescribeTransactionsRequest(["tx", "xt"]),
    ApiKey.LIST_TRANSACTIONS: ListTransactionsRequest(),
    ApiKey.INIT_PRODUCER_ID: InitProducerIdRequest("tx", 1000),
}


@pytest.mark.parametrize("key", WHOLE, ids=[key.camel for key in WHOLE])
def test_an_error_for_the_whole_request_stands_where_each_version_has_it(stub: KafkaStub, key: ApiKey) -> None:
    before = state_of(stub, "tx")  # of earlier tests, in front of a cluster
    with RawClient(stub.bootstrap_servers) as client:
        stub.faults.add(api=key.camel, error="COORDINATOR_NOT_AVAILABLE")
        first, last = registrations()[key].first, registrations()[key].last
        for version in range(first, last + 1):
            client.exchange(key, version, encode(WHOLE[key], version))
        told = [(one.api_version, one.errors) for one in stub.journal.requests(api=key.camel, client_id="raw")]
        assert told == [(version, {15: put_at(key, version)}) for version in range(first, last + 1)]
    stub.faults.clear()
    assert state_of(stub, "tx") == before


def test_batches_without_a_transaction_go_on_beside_a_rule(stub: KafkaStub) -> None:
    batch = build_batch([NewRecord(timestamp=0, key=None, value=b"x")])
    data = [TopicProduceData("a", partition_data=[PartitionProduceData(0, batch)])]
    with RawClient(stub.bootstrap_servers) as client:
        fault = stub.faults.add(api="Produce", transactional_id="tx", drop="before")
        plain = encode(ProduceRequest(acks=-1, timeout_ms=1000, topic_data=data), 9)
        client.exchange(ApiKey.PRODUCE, 9, plain)
        client.exchange(ApiKey.PRODUCE, 9, plain)
        assert fault.matched == 0
        transactional = ProduceRequest(transactional_id="tx", acks=-1, timeout_ms=1000, topic_data=data)
        client.send(ApiKey.PRODUCE, 9, encode(transactional, 9), flexible=True)
        assert client.receive() is None
        assert fault.hits == 1
