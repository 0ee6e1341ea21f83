"""Transactions by the thousand, and large ones: the others hardly notice, and memory does not grow without bound."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.messages.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kafkawire.messages.end_txn_request import EndTxnRequest
from kafkawire.messages.end_txn_response import EndTxnResponse
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.init_producer_id_response import InitProducerIdResponse
from kafkawire.messages.list_transactions_request import ListTransactionsRequest
from kafkawire.messages.list_transactions_response import ListTransactionsResponse
from tests.hostile.prober import LONGEST_MS
from tests.hostile.test_hostile import linux, memory_mb
from tests.hostile.waits import shortest_wait
from tests.process.serving import Serving
from tests.rawclient import RawClient

INIT, ADD, END = ApiKey.INIT_PRODUCER_ID, ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.END_TXN
LARGE = 10_000
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


def end(client: RawClient, name: str, producer: InitProducerIdResponse) -> int:
    asked = encode(EndTxnRequest(name, producer.producer_id, producer.producer_epoch, False), 3)
    return decode(EndTxnResponse, 3, client.exchange(END, 3, asked)).error_code


@linux
def test_large_transactions_again_and_again(serving: Serving):
    """Ten thousand records are remembered: these would have a gigabyte within a thousand."""
    with RawClient(serving.servers) as client:
        producer = begun(client, "again")
        asked = add("again", producer, range(LARGE))

        def once() -> None:
            client.send(ADD, 3, asked, True)
            assert client.drain() is not None
            while end(client, "again", producer) == ErrorCode.CONCURRENT_TRANSACTIONS:
                pass
            while end(client, "again", producer) == ErrorCode.CONCURRENT_TRANSACTIONS:
                pass

        once()
        before = memory_mb(serving)
        assert before < 300


def test_an_expression_for_very_many_ids(serving: Serving):
    number = itertools.count()
    with RawClient(serving.servers) as client:
        for _ in range(300):
            begun(client, f"{next(number):05d}" + "a" * 245)
        request = ListTransactionsRequest(transactional_id_pattern="[0-9]*(a?){90}a{90}b")

        def attack() -> None:
            answer = client.exchange(ApiKey.LIST_TRANSACTIONS, 2, encode(request, 2))
            assert not decode(ListTransactionsResponse, 2, answer).transaction_states

        assert shortest_wait(serving.servers, attack) <= LONGEST_MS


def test_a_producer_that_ends_none_of_its_transactions(tmp_path: Path):
    """All of them time out at once."""
    count = 3000
    with Serving("--topic", "large:100") as serving, RawClient(serving.servers) as client:

        def attack() -> None:
            for number in range(count):
                name = f"open-{number}"
                client.exchange(ADD, 3, add(name, begun(client, name, 5_000), range(100)))
            left = encode(ListTransactionsRequest(state_filters=["Ongoing", "PrepareAbort"]), 2)
            while decode(
                ListTransactionsResponse, 2, client.exchange(ApiKey.LIST_TRANSACTIONS, 2, left)
            ).transaction_states:
                pass

        assert shortest_wait(serving.servers, attack) <= LONGEST_MS
