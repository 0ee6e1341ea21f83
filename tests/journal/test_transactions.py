"""Which transaction a request belongs to: of every API, in the line for people, as a filter, in exports, over HTTP."""

from __future__ import annotations

import json
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from kafkastub import KafkaStub
from kafkastub.cli import main
from kafkastub.journal import Entry, Outcome, Raw
from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.errors import ErrorCode
from kafkawire.header import is_flexible, request_header
from kafkawire.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kafkawire.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kafkawire.messages.add_partitions_to_txn_response import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopicResult,
)
from kafkawire.messages.describe_transactions_request import DescribeTransactionsRequest
from kafkawire.messages.end_txn_request import EndTxnRequest
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.list_transactions_request import ListTransactionsRequest
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafkawire.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kafkawire.records import NewRecord, build_batch
from kafkawire.schema import Message
from tests.fronts import FRONTS, front
from tests.rawclient import RawClient

TRANSACTIONAL = 0x10


def entry_of(key: ApiKey, version: int, request: Message, answer: bytes | None = None) -> Entry:
    frame = request_header(key, version, 1, "raw", is_flexible(type(request), version)) + encode(request, version)
    raw = Raw(frame, 0, len(frame), answer, None, 0, 0, 1, Outcome.REPLY, None)
    return Entry(0, raw, 0, lambda topic_id: "by-id" if topic_id == b"i" * 16 else None)


def batch(producer_id: int, epoch: int, attributes: int = TRANSACTIONAL) -> bytes:
    record = NewRecord(timestamp=0, key=None, value=b"x")
    return build_batch([record], producer_id=producer_id, producer_epoch=epoch, base_sequence=0, attributes=attributes)


def produce(transactional_id: str | None, *batches: bytes) -> ProduceRequest:
    data = [PartitionProduceData(index, each) for index, each in enumerate(batches)]
    topics = [TopicProduceData("orders", partition_data=data)]
    return ProduceRequest(transactional_id=transactional_id, acks=-1, timeout_ms=1000, topic_data=topics)


COMMIT = [
    TxnOffsetCommitRequestTopic("orders", b"i" * 16, [TxnOffsetCommitRequestPartition(3, 5, committed_metadata="")])
]
ADDED = [AddPartitionsToTxnTopic("orders", [0, 2])]
MARKER = WritableTxnMarker(7, 2, True, [WritableTxnMarkerTopic("orders", [0, 1])], 0)
TX = ("tx", 7, 2)

CASES: list[tuple[ApiKey, int, Message, list[Any], list[str], list[Any]]] = [
    (ApiKey.FIND_COORDINATOR, 3, FindCoordinatorRequest("tx", 1), [("tx", -1, -1)], [], []),
    (
        ApiKey.FIND_COORDINATOR, 4, FindCoordinatorRequest(coordinator_keys=["a", "b"], key_type=1),
        [("a", -1, -1), ("b", -1, -1)], [], [],
    ),
    (ApiKey.FIND_COORDINATOR, 4, FindCoordinatorRequest(coordinator_keys=["g"], key_type=0), [], ["g"], []),
    (ApiKey.INIT_PRODUCER_ID, 2, InitProducerIdRequest("tx", 1000), [("tx", -1, -1)], [], []),
    (ApiKey.INIT_PRODUCER_ID, 4, InitProducerIdRequest("tx", 1000, 7, 2), [TX], [], []),
    (ApiKey.INIT_PRODUCER_ID, 4, InitProducerIdRequest(None, 1000), [], [], []),
    (
        ApiKey.ADD_PARTITIONS_TO_TXN, 3,
        AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="tx", v3_and_below_producer_id=7, v3_and_below_producer_epoch=2,
            v3_and_below_topics=ADDED,
        ),
        [TX], [], [("orders", 0), ("orders", 2)],
    ),
    (
        ApiKey.ADD_PARTITIONS_TO_TXN, 4,
        AddPartitionsToTxnRequest(
            [
                AddPartitionsToTxnTransaction("tx", 7, 2, False, ADDED),
                AddPartitionsToTxnTransaction("xt", 8, 0, True, ADDED),
            ]
        ),
        [TX, ("xt", 8, 0)], [], [("orders", 0), ("orders", 2)],
    ),
    (ApiKey.ADD_OFFSETS_TO_TXN, 3, AddOffsetsToTxnRequest("tx", 7, 2, "g"), [TX], ["g"], []),
    (ApiKey.END_TXN, 1, EndTxnRequest("tx", 7, 2, True), [TX], [], []),
    (ApiKey.WRITE_TXN_MARKERS, 1, WriteTxnMarkersRequest([MARKER]), [(None, 7, 2)], [], [("orders", 0), ("orders", 1)]),
    (ApiKey.TXN_OFFSET_COMMIT, 5, TxnOffsetCommitRequest("tx", "g", 7, 2, topics=COMMIT), [TX], ["g"], [("orders", 3)]),
    (ApiKey.TXN_OFFSET_COMMIT, 6, TxnOffsetCommitRequest("tx", "g", 7, 2, topics=COMMIT), [TX], ["g"], [("by-id", 3)]),
    (ApiKey.DESCRIBE_TRANSACTIONS, 0, DescribeTransactionsRequest(["a", "b"]), [("a", -1, -1), ("b", -1, -1)], [], []),
    (ApiKey.LIST_TRANSACTIONS, 2, ListTransactionsRequest(["Ongoing"], [7], 5, "tx"), [], [], []),
    (ApiKey.PRODUCE, 9, produce("tx", batch(7, 2), batch(7, 2)), [TX], [], [("orders", 0), ("orders", 1)]),
    (ApiKey.PRODUCE, 9, produce("tx", batch(7, 2, 0)), [("tx", -1, -1)], [], [("orders", 0)]),
    (ApiKey.PRODUCE, 9, produce(None, batch(7, 2)), [(None, 7, 2)], [], [("orders", 0)]),
    (ApiKey.PRODUCE, 9, produce(None, batch(7, 2, 0)), [], [], [("orders", 0)]),
]  # fmt: skip


@pytest.mark.parametrize(
    "case", CASES, ids=[f"{key.camel} v{version} {i}" for i, (key, version, *_) in enumerate(CASES)]
)
def test_what_a_request_says_of_its_transaction(case: tuple[ApiKey, int, Message, list[Any], list[str], Any]) -> None:
    key, version, request, transactions, groups, partitions = case
    entry = entry_of(key, version, request)
    assert list(entry.transactions) == transactions
    assert list(entry.groups) == groups
    named = {topic for topic, _ in partitions}
    assert set(entry.topics) - {"orders"} <= named  # by name and by id, where a message says both
    assert [place for place in entry.partitions if place[0] in named] == partitions


def test_the_errors_of_partitions_that_were_to_be_added_are_counted() -> None:
    results = [AddPartitionsToTxnPartitionResult(0, 3), AddPartitionsToTxnPartitionResult(1, 55)]
    answer = AddPartitionsToTxnResponse(
        results_by_topic_v3_and_below=[AddPartitionsToTxnTopicResult("orders", results)]
    )
    body = (1).to_bytes(4) + b"\0" + encode(answer, 3)
    request = AddPartitionsToTxnRequest(v3_and_below_transactional_id="tx", v3_and_below_topics=ADDED)
    entry = entry_of(ApiKey.ADD_PARTITIONS_TO_TXN, 3, request, len(body).to_bytes(4) + body)
    assert entry.errors == {3: 1, int(ErrorCode.OPERATION_NOT_ATTEMPTED): 1}


def test_a_line_for_people_names_the_transaction_and_its_producer() -> None:
    assert "transaction tx producer 7/2 ->" in str(entry_of(ApiKey.END_TXN, 1, EndTxnRequest("tx", 7, 2, True)))
    marker = str(entry_of(ApiKey.WRITE_TXN_MARKERS, 1, WriteTxnMarkersRequest([MARKER])))
    assert "transaction producer 7/2 orders-0 orders-1" in marker
    many = str(entry_of(ApiKey.DESCRIBE_TRANSACTIONS, 0, DescribeTransactionsRequest([f"t{n}" for n in range(9)])))
    assert "transaction t3 … 5 more" in many


def initialise(client: RawClient, transactional_id: str | None) -> None:
    request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=1000)
    client.exchange(ApiKey.INIT_PRODUCER_ID, 4, encode(request, 4))


@pytest.fixture(params=FRONTS)
def stub(request: pytest.FixtureRequest) -> Iterator[KafkaStub]:
    with front(request, control_port=0) as running:
        yield running


def test_filters_exports_http_and_the_command(
    stub: KafkaStub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with RawClient(stub.bootstrap_servers) as client:
        for name in ("a", None, "b"):
            initialise(client, name)
        (first,) = stub.journal.requests(transactional_id="a")
        (told,) = first.transactions
        assert told.transactional_id == "a"
        assert told.producer_id >= 0  # of the answer
        assert [entry.sequence for entry in stub.journal.requests(producer_id=told.producer_id)] == [first.sequence]
        assert stub.journal.requests(transactional_id="c") == []

        lines = stub.journal.to_jsonl(tmp_path / "j.jsonl").read_text().splitlines()
        assert next(json.loads(line)["transactions"] for line in lines) == [told._asdict()]
        rows = pq.read_table(stub.journal.to_parquet(tmp_path / "j.parquet")).to_pylist()
        assert [row["transactions"] for row in rows][:2] == [[told._asdict()], []]

        asked = urllib.parse.urlencode({"transactional_id": "a"})
        with urllib.request.urlopen(f"{stub.control_url}/v1/journal?{asked}") as answer:
            (entry,) = json.load(answer)["entries"]
        assert entry["transactions"] == [told._asdict()]
        for wanted in (["--transactional-id", "a"], ["--producer-id", str(told.producer_id)]):
            assert main(["journal", "tail", *wanted, "--control", str(stub.control_url)]) == 0
            assert capsys.readouterr().out.splitlines() == [str(first)]
