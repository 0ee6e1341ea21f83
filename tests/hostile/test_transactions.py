"""Transactions by the thousand, and large ones: the others hardly notice, and memory does not grow without bound."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.messages.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kafkawire.messages.describe_transactions_request import DescribeTransactionsRequest
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.init_producer_id_response import InitProducerIdResponse
from kafkawire.messages.list_transactions_request import ListTransactionsRequest
from kafkawire.messages.list_transactions_response import ListTransactionsResponse
from kafkawire.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kafkawire.messages.write_txn_markers_response import WriteTxnMarkersResponse
from tests.hostile.prober import LONGEST_MS, probing
from tests.hostile.test_hostile import linux, memory_mb
from tests.hostile.waits import shortest_wait
from tests.process.serving import Serving
from tests.rawclient import RawClient

INIT, ADD = ApiKey.INIT_PRODUCER_ID, ApiKey.ADD_PARTITIONS_TO_TXN
LARGE = 9_000
"""Partitions of the topic."""
TIMEOUT_MS = 600_000


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with Serving("--topic", f"large:{LARGE}") as process:
        yield process


def begun(client: RawClient, name: str, timeout_ms: int = TIMEOUT_MS) -> InitProducerIdResponse:
    asked = encode(InitProducerIdRequest(name, timeout_ms), 4)
    answer = decode(InitProducerIdResponse, 4, client.exchange(INIT, 4, asked))
    assert answer.error_code == ErrorCode.NONE
    return answer


def add(name: str, producer: InitProducerIdResponse, partitions: range) -> bytes:
    topics = [AddPartitionsToTxnTopic("large", partitions)]
    return encode(AddPartitionsToTxnRequest((), name, producer.producer_id, producer.producer_epoch, topics), 3)


@linux
def test_a_large_transaction_that_grows_and_grows(serving: Serving):
    """Its records name all of its partitions each time; ten thousand records would have half a gigabyte."""
    with RawClient(serving.servers) as client:
        producer = begun(client, "grows")
        client.exchange(ADD, 3, add("grows", producer, range(LARGE // 2)))
        before = memory_mb(serving)

        def attack() -> None:
            for number in range(LARGE // 2, LARGE):
                client.exchange(ADD, 3, add("grows", producer, range(number, number + 1)))

        assert shortest_wait(serving.servers, attack) <= LONGEST_MS
        assert memory_mb(serving) - before < 100


def test_an_expression_for_very_many_ids(serving: Serving):
    number = itertools.count()
    with RawClient(serving.servers) as client:
        for _ in range(300):
            begun(client, f"{next(number):05d}" + "a" * 245)
        request = ListTransactionsRequest(transactional_id_pattern="[0-9]*(a*){150}b")

        def attack() -> None:
            data = client.exchange(ApiKey.LIST_TRANSACTIONS, 2, encode(request, 2))
            answer = decode(ListTransactionsResponse, 2, data)
            assert (answer.error_code, len(answer.transaction_states)) == (ErrorCode.NONE, 0)

        assert shortest_wait(serving.servers, attack) <= LONGEST_MS


def test_very_many_transactions_that_time_out_at_once():
    with Serving("--topic", "large:100") as serving, RawClient(serving.servers) as client:
        for number in range(500):
            name = f"open-{number}"
            client.exchange(ADD, 3, add(name, begun(client, name, 3_000), range(100)))
        asked = encode(ListTransactionsRequest(state_filters=["Ongoing", "PrepareAbort"]), 2)
        with probing(serving.servers) as prober:
            while decode(
                ListTransactionsResponse, 2, client.exchange(ApiKey.LIST_TRANSACTIONS, 2, asked)
            ).transaction_states:
                pass
        assert prober.longest_ms <= LONGEST_MS


@linux
def test_a_large_transaction_that_is_described_ten_thousand_times(serving: Serving):
    with RawClient(serving.servers) as client:
        client.exchange(ADD, 3, add("described", begun(client, "described"), range(1000)))
        asked = encode(DescribeTransactionsRequest(["described"] * 10_000), 0)
        before = memory_mb(serving)

        def attack() -> None:
            client.send(ApiKey.DESCRIBE_TRANSACTIONS, 0, asked, True)
            assert client.drain() is not None

        assert shortest_wait(serving.servers, attack) <= LONGEST_MS
        assert memory_mb(serving) - before < 300


def test_a_topic_that_is_large_named_again_and_again(serving: Serving):
    """Of each mention only the partitions that it names are looked at."""
    with RawClient(serving.servers) as client:
        producer = begun(client, "mentions")
        topics = [AddPartitionsToTxnTopic("large", [number % LARGE]) for number in range(10_000)]
        request = AddPartitionsToTxnRequest((), "mentions", producer.producer_id, producer.producer_epoch, topics)
        asked = encode(request, 3)
        wait = shortest_wait(serving.servers, lambda: client.exchange(ADD, 3, asked))
    assert wait <= LONGEST_MS


def test_markers_by_the_ten_thousand(serving: Serving):
    topics = [WritableTxnMarkerTopic("large", range(LARGE))]
    request = WriteTxnMarkersRequest([WritableTxnMarker(1 << 40 | number, 0, True, topics) for number in range(3)])
    asked = encode(request, 1)
    with RawClient(serving.servers) as client:

        def attack() -> None:
            answer = decode(WriteTxnMarkersResponse, 1, client.exchange(ApiKey.WRITE_TXN_MARKERS, 1, asked))
            assert sum(len(topic.partitions) for one in answer.markers for topic in one.topics) == 3 * LARGE

        assert shortest_wait(serving.servers, attack) <= LONGEST_MS
