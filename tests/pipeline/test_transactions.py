"""Transactions in the tables: what producers have done, what is open, and whom it holds back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kafkastub import KafkaStub
from kafkastub_pipeline import here
from kafkastub_pipeline.decode.transaction_lives import lives
from kafkawire.codec import encode
from kafkawire.messages.transaction_log_key import TransactionLogKey
from kafkawire.messages.transaction_log_value import PartitionsSchema, TransactionLogValue
from tests.expiry.wire import Wire

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.clients.jvm import Jvm

ONGOING, PREPARE_COMMIT, PREPARE_ABORT, COMPLETE_COMMIT, COMPLETE_ABORT = 1, 2, 3, 4, 5
SECONDS = 60


def record(state: int | None, at: int, started: int = -1, epoch: int = 0, places: int = 0) -> dict[str, Any]:
    """A record of the transactional id `audit`; no state is a tombstone."""
    key = b"\0\0" + encode(TransactionLogKey("audit"), 0)
    value = TransactionLogValue(
        producer_id=7,
        producer_epoch=epoch,
        transaction_timeout_ms=1000,
        transaction_status=state or 0,
        transaction_partitions=[PartitionsSchema("orders", list(range(places)))] if places else None,
        transaction_last_update_timestamp_ms=at,
        transaction_start_timestamp_ms=started,
    )
    place = {"transactional_id": "audit", "log_partition": 0, "log_offset": at, "log_ms": at}
    return place | {"key": key, "value": None if state is None else b"\0\1" + encode(value, 1)}


def told(*records: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Status, begin, end, completion, partitions of each transaction."""
    names = "status", "started_ms", "ended_ms", "completed_ms"
    return [(*(one[name] for name in names), len(one["partitions"])) for one in lives(records)]


@pytest.mark.parametrize(
    ("records", "found"),
    [
        ([record(0, 1)], []),
        ([record(ONGOING, 5, 5, places=1), record(ONGOING, 7, 5, places=2)], [("open", 5, None, None, 2)]),
        (
            [record(ONGOING, 5, 5, places=2), record(PREPARE_COMMIT, 9, 5, places=2), record(COMPLETE_COMMIT, 11, 5)],
            [("committed", 5, 9, 11, 2)],
        ),
        ([record(ONGOING, 5, 5, places=1), record(PREPARE_ABORT, 9, 5, 1, 1)], [("aborting", 5, 9, None, 1)]),
        ([record(COMPLETE_ABORT, 11, 5)], [("aborted", 5, 11, 11, 0)]),  # compaction has left its last record
        (
            [record(ONGOING, 5, 5, places=1), record(ONGOING, 20, 20, places=1)],
            [("open", 5, None, None, 1), ("open", 20, None, None, 1)],
        ),
        ([record(ONGOING, 5, 5, places=1), record(None, 9)], []),
    ],
)
def test_the_lives_of_a_transactional_id(records: list[dict[str, Any]], found: list[tuple[Any, ...]]) -> None:
    assert told(*records) == found


@contextmanager
def producing(servers: str, name: str, **more: Any) -> Iterator[Any]:
    """A transactional producer with an open transaction that has a record in `orders`."""
    from confluent_kafka import Producer

    settings = {"bootstrap.servers": servers, "transactional.id": name, "log_level": 0, **more}
    producer = Producer(settings)
    producer.init_transactions(SECONDS)
    producer.begin_transaction()
    producer.produce("orders", b"x", partition=0)
    assert producer.flush(SECONDS) == 0
    yield producer


def history(servers: str, wire: Wire) -> None:
    """One transaction that is committed, one that is aborted, and a group that is at the beginning."""
    wire.commit("billing", {("orders", 0): 0})
    with producing(servers, "payments") as producer:
        producer.commit_transaction(SECONDS)
    with producing(servers, "refunds") as producer:
        producer.abort_transaction(SECONDS)


def tables(spark: SparkSession, servers: str, out: Path, **more: Any) -> dict[str, list[Any]]:
    from kafkastub_pipeline.run import Settings, run

    names = "transactions", "held_partitions", "lag"
    run(spark, Settings(out=str(out), bootstrap_servers=servers, tables=names, **more))
    return {name: spark.read.parquet(str(out / name)).collect() for name in names}


@pytest.mark.parametrize("small", [True, False])
def test_an_open_transaction_is_named_where_it_holds_readers_back(
    monkeypatch: pytest.MonkeyPatch, spark: SparkSession, tmp_path: Path, small: bool
) -> None:
    monkeypatch.setattr(here, "RECORDS", 10_000 if small else 0)
    with KafkaStub(topics={"orders": 1}) as stub, Wire(stub.bootstrap_servers) as wire:
        servers = stub.bootstrap_servers
        stub.clock.freeze()
        history(servers, wire)
        begun = stub.clock.now_ms()
        with producing(servers, "audit", **{"transaction.timeout.ms": 600_000}) as producer:
            stub.clock.advance(seconds=30)
            found = tables(spark, servers, tmp_path / "soon", now=stub.clock.now())
            (held,) = [row for row in found["held_partitions"] if row.topic == "orders"]
            assert (held.transactional_id, held.status, held.seconds, held.hanging) == ("audit", "open", 30.0, False)
            assert int(held.since.timestamp() * 1000) == begun
            stub.clock.advance(minutes=20)
            found = tables(spark, servers, tmp_path / "later", now=stub.clock.now())
            producer.abort_transaction(SECONDS)
        after = tables(spark, servers, tmp_path / "after", now=stub.clock.now())
    by_id = {row.transactional_id: row for row in found["transactions"]}
    assert {name: row.status for name, row in by_id.items()} == EXPECTED
    assert [name for name, row in by_id.items() if row.hanging] == ["audit"]
    assert by_id["audit"].seconds == 1230.0
    assert [tuple(one) for one in by_id["audit"].partitions] == [("orders", 0)]
    (held,) = [row for row in found["held_partitions"] if row.topic == "orders"]
    assert (held.hanging, held.seconds, held.records_held) == (True, 1230.0, held.high_watermark - 4)
    (lag,) = found["lag"]
    assert (lag.held_by, lag.held_seconds) == ("audit", 1230.0)
    assert (lag.lag_committed, lag.lag_records) == (4, 5)  # two records and two markers are stable
    assert lag.commit_age_seconds == 1230.0
    assert [row for row in after["held_partitions"] if row.topic == "orders"] == []
    assert [(row.held_by, row.lag_committed) for row in after["lag"]] == [(None, 6)]
    assert {row.transactional_id: row.status for row in after["transactions"]} == EXPECTED | {"audit": "aborted"}


EXPECTED = {"payments": "committed", "refunds": "aborted", "audit": "open"}


@pytest.mark.oracle
def test_the_same_on_apache_kafka(
    monkeypatch: pytest.MonkeyPatch, spark: SparkSession, tmp_path: Path, jvm: Jvm
) -> None:
    from datetime import UTC, datetime

    from tests.oracle.apache_kafka import ApacheKafka

    monkeypatch.setattr(here, "RECORDS", 10_000)
    with ApacheKafka() as kafka, Wire(kafka.bootstrap_servers) as wire:
        servers = kafka.bootstrap_servers
        wire.create_topics("orders")
        history(servers, wire)
        before = time.time()
        with producing(servers, "audit") as producer:
            found = tables(spark, servers, tmp_path / "open", now=datetime.now(UTC))
            producer.abort_transaction(SECONDS)
    (held,) = [row for row in found["held_partitions"] if row.topic == "orders"]
    assert (held.transactional_id, held.status, held.hanging) == ("audit", "open", False)
    assert abs(held.since.timestamp() - before) < SECONDS
    assert {row.transactional_id: row.status for row in found["transactions"]} == EXPECTED
    (lag,) = found["lag"]
    assert (lag.held_by, lag.lag_committed, lag.lag_records) == ("audit", 4, 5)
