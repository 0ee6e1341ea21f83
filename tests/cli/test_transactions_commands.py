"""`kafkastub transactions` beyond what Kafka's tool has: JSON, statuses, filters, brokers that are older."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from kafkastub import KafkaStub
from tests.cli.kafkas_tools import run
from tests.clients.jvm import Finished
from tests.stub.test_transactions import producing
from tests.waiting import SECONDS

MARCH = 1_772_366_400_000
"""2026-03-01T12:00:00Z in ms."""


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 2}) as stub:
        stub.clock.freeze()
        stub.clock.set(MARCH)
        yield stub


def ask(stub: KafkaStub, line: str) -> Finished:
    return run("transactions", *line.split(), "--bootstrap-server", stub.bootstrap_servers)


def said(stub: KafkaStub, line: str) -> object:
    """As JSON."""
    return json.loads(ask(stub, f"{line} -o json").out)


def test_listing_as_json_and_by_filters(stub: KafkaStub) -> None:
    producing(stub, "a")
    producing(stub, "b").commit_transaction(SECONDS)
    first = {"transactional_id": "a", "coordinator": 1, "producer_id": 0, "state": "Ongoing"}
    second = {"transactional_id": "b", "coordinator": 1, "producer_id": 1, "state": "CompleteCommit"}
    assert said(stub, "list --state Ongoing") == [first]
    assert said(stub, "list --producer-id 1") == [second]
    assert said(stub, "list --state Ongoing --state CompleteCommit --producer-id 7") == []
    assert said(stub, "list --transactional-id-pattern ^b$") == [second]
    assert said(stub, "list --duration-filter 60000") == []
    stub.clock.advance(minutes=2)
    assert said(stub, "list --duration-filter 60000 --state Ongoing") == [first]
    wrong = ask(stub, "list --transactional-id-pattern (")
    assert (wrong.status, wrong.out) == (1, "")
    assert "'(' is not a regular expression" in wrong.err
    assert ask(stub, "list --state Finished").status == 2


def test_one_transaction_as_json(stub: KafkaStub) -> None:
    producing(stub)
    assert said(stub, "describe --transactional-id shop") == {
        "transactional_id": "shop", "coordinator": 1, "producer_id": 0, "producer_epoch": 0, "state": "Ongoing",
        "timeout_ms": 60_000, "start_ms": MARCH,
        "partitions": [{"topic": "orders", "partition": 0}, {"topic": "orders", "partition": 1}],
    }  # fmt: skip
    missing = ask(stub, "describe --transactional-id nobody -o json")
    assert missing.status == 1
    assert json.loads(missing.out)["error"] == "TRANSACTIONAL_ID_NOT_FOUND"


def test_a_hanging_transaction_is_found_and_ended(stub: KafkaStub) -> None:
    stub.transactions.hang("orders", 1)
    (found,) = json.loads(ask(stub, "find-hanging --topic orders --max-transaction-timeout 0 -o json").out)
    assert (found["topic"], found["partition"]) == ("orders", 1)
    assert found["producer"]["start_offset"] == 0
    assert said(stub, "describe-producers --topic orders --partition 1") == [found["producer"]]
    assert said(stub, "abort --topic orders --partition 1 --start-offset 0") == {
        "topic": "orders", "partition": 1, "producer_id": found["producer"]["producer_id"],
    }  # fmt: skip
    assert stub.transactions.find_hanging() == []


def test_hanging_transactions_are_looked_for_on_one_broker() -> None:
    with KafkaStub(topics={"orders": 2}, nodes=2) as stub:
        producing(stub).commit_transaction(SECONDS)  # makes __transaction_state, with a replica on either broker
        made = [stub.transactions.hang("orders", index) for index in (0, 1)]
        found = []
        for node in (1, 2):
            on = said(stub, f"find-hanging --broker-id {node} --max-transaction-timeout 0")
            found += [(each["topic"], each["partition"]) for each in on]
        assert sorted(found) == [(each.topic, each.partition) for each in made]


def test_who_is_ended_by_force_is_fenced(stub: KafkaStub) -> None:
    producing(stub)
    assert said(stub, "force-terminate --transactional-id shop") == {"transactional_id": "shop"}
    assert (stub.transactions["shop"].state, stub.transactions["shop"].producer_epoch) == ("Empty", 2)


def test_what_is_not_there_is_told_at_once(stub: KafkaStub) -> None:
    lost = ask(stub, "describe-producers --topic orders --partition 7")
    assert lost.status == 1
    assert "partition orders-7 on leader: This server does not host this topic-partition." in lost.err
    away = ask(stub, "describe-producers --topic orders --partition 0 --broker-id 9")
    assert (away.status, away.err) == (2, "kafkastub: there is no broker 9 in the cluster: there are 1\n")
    assert ask(stub, "find-hanging --broker-id 9") == away
    assert ask(stub, "abort --topic orders --partition -1 --start-offset 0").status == 2


def test_a_broker_that_is_too_old() -> None:
    with KafkaStub(as_version="3.0") as stub:
        assert ask(stub, "list").status == 0
        for option, what in (("--duration-filter 5", "durations"), ("--transactional-id-pattern x", "patterns")):
            done = ask(stub, f"list {option}")
            assert (done.status, done.err) == (1, f"kafkastub: broker 1 cannot filter transactions by {what}\n")
    with KafkaStub(as_version="2.8") as stub:
        done = ask(stub, "list")
        assert done.status == 1
        assert "does not support ListTransactions" in done.err
