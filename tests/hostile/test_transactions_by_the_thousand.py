"""Very many transactional ids, open transactions, pending offsets and markers: what they cost memory and the others."""

from __future__ import annotations

import contextlib
import resource
import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import pytest

from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.framing import FrameSplitter
from kafkawire.header import request_header
from kafkawire.messages.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kafkawire.messages.end_txn_request import EndTxnRequest
from kafkawire.messages.end_txn_response import EndTxnResponse
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.init_producer_id_response import InitProducerIdResponse
from kafkawire.messages.list_transactions_request import ListTransactionsRequest
from kafkawire.messages.list_transactions_response import ListTransactionsResponse
from kafkawire.messages.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestTopic
from kafkawire.messages.offset_fetch_response import OffsetFetchResponse
from kafkawire.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafkawire.messages.txn_offset_commit_response import TxnOffsetCommitResponse
from kafkawire.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kafkawire.messages.write_txn_markers_response import WriteTxnMarkersResponse
from kafkawire.schema import Message
from tests.hostile.prober import LONGEST_MS, probing
from tests.hostile.test_before_login import Doors
from tests.hostile.test_hostile import linux, memory_mb
from tests.hostile.waits import shortest_wait
from tests.process.serving import Serving
from tests.rawclient import RawClient
from tests.waiting import until

INIT, ADD, LIST, END = (
    ApiKey.INIT_PRODUCER_ID,
    ApiKey.ADD_PARTITIONS_TO_TXN,
    ApiKey.LIST_TRANSACTIONS,
    ApiKey.END_TXN,
)
COMMIT, MARK = ApiKey.TXN_OFFSET_COMMIT, ApiKey.WRITE_TXN_MARKERS
TIMEOUT_MS = 600_000
IDLE, OPEN = 30_000, 3_000
AT_ONCE = 200
LISTENERS = 20
ID_KB = 1.5
"""Of memory that a transactional id may take."""


def pipelined(
    client: RawClient, key: int, version: int, requests: Iterable[Message], *, flexible: bool = True
) -> Iterator[bytes]:
    """The answers, from their correlation ids on, to requests that are sent many at a time."""
    left, answers = iter(requests), FrameSplitter(1 << 30)
    while some := list(islice(left, AT_ONCE)):
        heads = [
            request_header(key, version, number, "raw", flexible) + encode(one, version)
            for number, one in enumerate(some)
        ]
        client.socket.sendall(b"".join(struct.pack(">i", len(one)) + one for one in heads))
        due = len(some)
        while due:
            for buffer, start, end in answers.feed(client.socket.recv(1 << 20)):
                yield bytes(buffer[start:end])
                due -= 1


def begun(client: RawClient, names: Sequence[str], timeout_ms: int = TIMEOUT_MS) -> list[InitProducerIdResponse]:
    answers = pipelined(client, INIT, 4, (InitProducerIdRequest(name, timeout_ms) for name in names))
    return [decode(InitProducerIdResponse, 4, answer[5:]) for answer in answers]


def opened(client: RawClient, names: Sequence[str], producers: Sequence[InitProducerIdResponse]) -> None:
    topics = [AddPartitionsToTxnTopic("orders", [0])]
    for _ in pipelined(
        client,
        ADD,
        3,
        (
            AddPartitionsToTxnRequest((), name, one.producer_id, one.producer_epoch, topics)
            for name, one in zip(names, producers, strict=True)
        ),
    ):
        pass


def listed(client: RawClient, *states: str) -> int:
    data = client.exchange(LIST, 2, encode(ListTransactionsRequest(state_filters=states), 2))
    return len(decode(ListTransactionsResponse, 2, data).transaction_states)


@linux
def test_many_ids_that_are_idle_and_many_that_are_open():
    with Serving("--topic", "orders:1") as serving, RawClient(serving.servers) as client:
        before = memory_mb(serving)
        names = [f"id-{number}" for number in range(IDLE)]
        producers = begun(client, names)
        opened(client, names[:OPEN], producers[:OPEN])
        assert memory_mb(serving) - before < ID_KB * IDLE / 1000
        assert (listed(client), listed(client, "Ongoing")) == (IDLE, OPEN)

        def transactions() -> None:
            """An honest producer among them."""
            (mine,) = begun(client, ["mine"])
            for _ in range(200):
                opened(client, ["mine"], [mine])
                request = EndTxnRequest("mine", mine.producer_id, mine.producer_epoch, True)
                data = client.exchange(END, 3, encode(request, 3))
                assert decode(EndTxnResponse, 3, data).error_code == ErrorCode.NONE

        assert shortest_wait(serving.servers, transactions) <= LONGEST_MS


@linux
def test_lists_of_very_many_that_nobody_reads():
    """Each connection holds one answer at most, and what they ask for takes turns."""
    with Serving() as serving, RawClient(serving.servers) as client:
        begun(client, [f"id-{number}" for number in range(IDLE)])
        asked = encode(ListTransactionsRequest(), 2)
        data = client.exchange(LIST, 2, asked)
        before = memory_mb(serving)

        def attack() -> None:
            with contextlib.ExitStack() as stack:
                for _ in range(LISTENERS):
                    deaf = stack.enter_context(RawClient(serving.servers))
                    for _ in range(50):
                        deaf.send(LIST, 2, asked, True)
                assert listed(client) == IDLE  # behind all that was asked for before

        assert shortest_wait(serving.servers, attack) <= LONGEST_MS
        assert memory_mb(serving) - before < 4 * LISTENERS * len(data) / 1e6


@linux
def test_offsets_that_stay_pending():
    """The same partition again and again is one pending offset; ever new groups end with the transaction's timeout."""
    options = ("--topic", "orders:1", "--config", "offsets.topic.num.partitions=1")
    with Serving(*options) as serving, RawClient(serving.servers) as client:
        (mine,) = begun(client, ["mine"], timeout_ms=TIMEOUT_MS)
        (other,) = begun(client, ["other"], timeout_ms=4_000)

        def commits(name: str, one: InitProducerIdResponse, groups: Iterable[str]) -> None:
            topics = [TxnOffsetCommitRequestTopic("orders", partitions=[TxnOffsetCommitRequestPartition(0, 7)])]
            requests = (
                TxnOffsetCommitRequest(name, group, one.producer_id, one.producer_epoch, topics=topics)
                for group in groups
            )
            for data in pipelined(client, COMMIT, 5, requests):
                (topic,) = decode(TxnOffsetCommitResponse, 5, data[5:]).topics
                assert topic.partitions[0].error_code == ErrorCode.NONE

        commits("mine", mine, ["g"] * 1000)
        before = memory_mb(serving)
        commits("mine", mine, ["g"] * 20_000)
        assert memory_mb(serving) - before < 30
        with probing(serving.servers) as prober:
            commits("other", other, [f"g{number}" for number in range(3_000)])
            until(lambda: not listed(client, "Ongoing", "PrepareAbort") - 1, "the end of what timed out")
        assert prober.longest_ms <= LONGEST_MS
        topics = [OffsetFetchRequestTopic("orders", [0])]
        for group, code in (("g", ErrorCode.UNSTABLE_OFFSET_COMMIT), ("g7", ErrorCode.NONE)):
            request = OffsetFetchRequest(group, topics, require_stable=True)
            data = client.exchange(ApiKey.OFFSET_FETCH, 7, encode(request, 7))
            (topic,) = decode(OffsetFetchResponse, 7, data).topics
            assert topic.partitions[0].error_code == code


@linux
def test_markers_of_ever_new_producers():
    """Each is kept in the log, and its producer beside it; nothing more stays of the request."""
    with Serving("--topic", "orders:1") as serving, RawClient(serving.servers) as client:
        topics = [WritableTxnMarkerTopic("orders", [0])]
        before = memory_mb(serving)
        markers = 40_000
        request = WriteTxnMarkersRequest(
            [WritableTxnMarker(1 << 40 | number, 0, True, topics, 0) for number in range(markers)]
        )
        data = client.exchange(MARK, 1, encode(request, 1))
        assert len(decode(WriteTxnMarkersResponse, 1, data).markers) == markers
        assert memory_mb(serving) - before < 1.5 * markers / 1000


MANY_TOPICS = [AddPartitionsToTxnTopic("orders", [0])] * 10_000
MANY_OFFSETS = [TxnOffsetCommitRequestTopic("orders", partitions=[TxnOffsetCommitRequestPartition(0, 1)])] * 4_000
MANY_MARKERS = [
    WritableTxnMarker(1 << 40 | number, 0, True, [WritableTxnMarkerTopic("orders", [0])], 0) for number in range(4_000)
]
LARGE: dict[str, tuple[int, Message]] = {
    "AddPartitionsToTxn": (3, AddPartitionsToTxnRequest((), "tx", 0, 0, MANY_TOPICS)),
    "TxnOffsetCommit": (5, TxnOffsetCommitRequest("tx", "g", 0, 0, topics=MANY_OFFSETS)),
    "WriteTxnMarkers": (1, WriteTxnMarkersRequest(MANY_MARKERS)),
    "InitProducerId": (4, InitProducerIdRequest("tx" * 10_000, 60_000)),
    "EndTxn": (3, EndTxnRequest("tx", 0, 0, True)),
    "ListTransactions": (2, ListTransactionsRequest(state_filters=[str(number) for number in range(20_000)])),
}


@pytest.fixture(scope="module")
def doors() -> Iterator[Doors]:
    with Doors() as process:
        yield process


@pytest.mark.parametrize("name", LARGE)
def test_before_a_login_nothing_of_it_is_served(doors: Doors, name: str):
    version, request = LARGE[name]
    body = encode(request, version)

    def attack() -> None:
        with RawClient(doors.sasl) as stranger, pytest.raises(ConnectionError):
            stranger.exchange(request.API_KEY, version, body)

    assert shortest_wait(doors.plain, attack) <= LONGEST_MS
    with RawClient(doors.plain) as client:
        assert listed(client) == 0


@pytest.mark.parametrize("name", ["AddPartitionsToTxn", "TxnOffsetCommit", "WriteTxnMarkers"])
def test_a_full_disk_under_a_request_in_parts(name: str, tmp_path: Path):
    """It is refused, nothing hangs, and what was not acknowledged is not there when the disk has room again."""
    version, request = LARGE[name]
    options = ["--topic", "orders:1", "--data-dir", str(tmp_path), "--config", "transaction.state.log.num.partitions=1"]
    with Serving(*options) as serving, RawClient(serving.servers) as client:
        (one,) = begun(client, ["tx"])
        assert (one.producer_id, one.producer_epoch) == (0, 0)
        if name == "TxnOffsetCommit":  # there is a transaction, and the files are there
            opened(client, ["tx"], [one])
        assert serving.process.pid
        resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
        data = client.exchange(request.API_KEY, version, encode(request, version))
        assert codes(name, data) == {ErrorCode.KAFKA_STORAGE_ERROR}
        with RawClient(serving.servers) as other:
            assert listed(other) == 1
        assert "Traceback" not in serving.stderr
    with Serving(*options) as serving, RawClient(serving.servers) as client:
        assert listed(client, "Ongoing") == (name == "TxnOffsetCommit")
        data = client.exchange(request.API_KEY, version, encode(request, version))
        assert codes(name, data) == {ErrorCode.NONE}


@pytest.mark.parametrize("name", ["AddPartitionsToTxn", "TxnOffsetCommit", "WriteTxnMarkers"])
def test_killed_in_the_middle_of_a_request_in_parts(name: str, tmp_path: Path):
    version, request = LARGE[name]
    options = ["--topic", "orders:1", "--data-dir", str(tmp_path), "--config", "transaction.state.log.num.partitions=1"]
    with Serving(*options) as serving, RawClient(serving.servers) as client:
        begun(client, ["tx"])
        client.send(request.API_KEY, version, encode(request, version), version != 1 or name == "WriteTxnMarkers")
        with RawClient(serving.servers) as other:
            listed(other)  # served between the parts, or behind them
        serving.process.kill()
        serving.process.wait()
    with Serving(*options) as serving, RawClient(serving.servers) as client:
        assert listed(client) == 1
        data = client.exchange(request.API_KEY, version, encode(request, version))
        assert codes(name, data) == {ErrorCode.NONE}
        (again,) = begun(client, ["tx"])
        if again.error_code == ErrorCode.CONCURRENT_TRANSACTIONS:  # what is open is aborted
            (again,) = begun(client, ["tx"])
        assert again.error_code == ErrorCode.NONE


def codes(name: str, data: bytes) -> set[int]:
    """All that stand in an answer."""
    from kafkawire.messages.add_partitions_to_txn_response import AddPartitionsToTxnResponse

    if name == "AddPartitionsToTxn":
        added = decode(AddPartitionsToTxnResponse, 3, data)
        return {
            row.partition_error_code for one in added.results_by_topic_v3_and_below for row in one.results_by_partition
        }
    if name == "TxnOffsetCommit":
        return {row.error_code for one in decode(TxnOffsetCommitResponse, 5, data).topics for row in one.partitions}
    marked = decode(WriteTxnMarkersResponse, 1, data)
    return {row.error_code for one in marked.markers for topic in one.topics for row in topic.partitions}
