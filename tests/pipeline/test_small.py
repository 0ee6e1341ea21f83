"""A small log is read and decoded by the driver: the same tables, without Spark's Kafka source and its workers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kafkastub import KafkaStub
from kafkastub_pipeline import here, small_log
from tests.expiry.wire import Wire
from tests.offsets_topic.history import subscription
from tests.pipeline.log import MINUTE
from tests.pipeline.raw import commit, saved
from tests.pipeline.script import LOG_PARTITIONS, played, steps
from tests.pipeline.test_again import _run
from tests.pipeline.test_shares import ACCEPT, member_from_the_beginning
from tests.waiting import SECONDS, until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


ROOT = Path(__file__).parents[2]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(here, "RECORDS", 10_000)


@pytest.fixture
def no_kafka_source(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object, **__: object) -> Any:
        raise AssertionError("Spark was asked to read the log")

    monkeypatch.setattr("kafkastub_pipeline.run.read_kafka", asked)


@pytest.mark.usefixtures("no_kafka_source")
def test_the_same_tables_from_a_broker_and_from_files(
    monkeypatch: pytest.MonkeyPatch, spark: SparkSession, tmp_path: Path
) -> None:
    """With and without the workers; the session is as before."""
    from kafkastub_pipeline.sources import read_kafka

    before = {name: spark.conf.get(name, None) for name in here._PLANS}
    with played(steps(7, 20, 80)) as on:
        servers = on.stub.bootstrap_servers
        read_kafka(spark, servers, LOG_PARTITIONS).write.parquet(str(tmp_path / "raw"))
        known = {"bootstrap_servers": servers, "probes": 0}
        by_workers = _run(spark, tmp_path / "workers", raw=str(tmp_path / "raw"), **known)
        monkeypatch.setattr(here, "RECORDS", 10_000)
        assert small_log.held(servers).needs_kafka is False
        assert _run(spark, tmp_path / "raw-here", raw=str(tmp_path / "raw"), **known) == by_workers
        assert _run(spark, tmp_path / "log-here", **known) == by_workers
    assert len(by_workers["deletion_audit"]) > 3
    assert {name: spark.conf.get(name, None) for name in here._PLANS} == before


@pytest.mark.usefixtures("small", "no_kafka_source")
def test_a_live_group(spark: SparkSession, tmp_path: Path) -> None:
    """What is not committed is not read, nor what stands behind it; a member's group is there."""
    with KafkaStub(topics={"orders": 2}) as stub, Wire(stub.bootstrap_servers) as wire:
        member = wire.member("billing", subscription("orders"))
        wire.commit("billing", {("orders", 0): 3}, member=member)
        tables = _run(spark, tmp_path / "out", bootstrap_servers=stub.bootstrap_servers)
    (row,) = tables["offset_current"]
    assert "'group_id': 'billing'" in row
    assert "'group_state': 'Stable'" in row
    assert tables["share_partitions"] == {}


@pytest.mark.usefixtures("small", "no_kafka_source")
def test_a_share_group(spark: SparkSession, tmp_path: Path) -> None:
    with KafkaStub(topics={"orders": 1}) as stub:
        stub.produce("orders", b"one")
        member = member_from_the_beginning(stub, "workers", "orders")
        assert member.fetch(1) == 1
        member.acknowledge(0, 0, [ACCEPT])
        (row,) = _run(spark, tmp_path / "out", bootstrap_servers=stub.bootstrap_servers)["share_partitions"]
    assert "'group_id': 'workers'" in row
    assert "'topic': 'orders'" in row


@pytest.mark.usefixtures("small")
def test_what_stands_behind_an_open_transaction_is_not_read() -> None:
    with (
        KafkaStub(topics={"orders": 2}, config={"offsets.topic.num.partitions": 1}) as stub,
        Wire(stub.bootstrap_servers) as wire,
    ):
        wire.commit("billing", {("orders", 0): 3})
        producer = Producer({"bootstrap.servers": stub.bootstrap_servers, "transactional.id": "t", "log_level": 0})
        producer.init_transactions(SECONDS)
        producer.begin_transaction()
        metadata = Consumer({"bootstrap.servers": stub.bootstrap_servers, "group.id": "g"}).consumer_group_metadata()
        producer.send_offsets_to_transaction([TopicPartition("orders", 1, 7)], metadata, SECONDS)
        wire.commit("billing", {("orders", 0): 4})
        assert small_log.held(stub.bootstrap_servers).log.num_rows == 1
        producer.commit_transaction(SECONDS)
        until(lambda: small_log.held(stub.bootstrap_servers).log.num_rows == 3, "the end of the transaction")


@pytest.mark.usefixtures("small")
def test_too_many_bytes_are_left_to_spark(monkeypatch: pytest.MonkeyPatch, spark: SparkSession, tmp_path: Path) -> None:
    records = [commit("billing", "orders", 0, at * MINUTE) for at in range(20)]
    raw = spark.read.parquet(saved(tmp_path / "raw", records))
    assert here.is_small(raw)
    with KafkaStub(topics={"orders": 1}) as stub, Wire(stub.bootstrap_servers) as wire:
        wire.commit("billing", {("orders", 0): 3})
        assert small_log.held(stub.bootstrap_servers).log.num_rows == 1
        assert small_log.held(stub.bootstrap_servers, log=False).log is None
        monkeypatch.setattr(here, "BYTES", 30)
        assert small_log.held(stub.bootstrap_servers).needs_kafka
    assert not here.is_small(raw)
    monkeypatch.setattr(here, "BYTES", 2**25)
    monkeypatch.setattr(here, "RECORDS", 19)
    assert not here.is_small(raw)


@pytest.mark.usefixtures("small")
def test_no_record_of_a_long_log_is_read_to_see_that_it_is_long(
    monkeypatch: pytest.MonkeyPatch, spark: SparkSession, tmp_path: Path
) -> None:
    """Its files say how many they have: records that cannot be read do not matter."""
    path = saved(tmp_path / "raw", [commit("billing", "orders", 0, at * MINUTE) for at in range(20)])
    for file in Path(path).glob("*.parquet"):
        whole = file.read_bytes()
        footer = int.from_bytes(whole[-8:-4], "little") + 8
        file.write_bytes(whole[:4] + bytes(len(whole) - footer - 4) + whole[-footer:])
    for checksum in Path(path).glob(".*.crc"):
        checksum.unlink()
    raw = spark.read.parquet(path)
    monkeypatch.setattr(here, "RECORDS", 19)
    assert not here.is_small(raw)
    monkeypatch.setattr(here, "RECORDS", 20)
    with pytest.raises(Exception, match=r"Parquet|parquet|page"):
        here.is_small(raw)


@pytest.mark.usefixtures("small", "spark")
def test_the_notebook_of_the_guide(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, _, section = (ROOT / "docs" / "spark.md").read_text().partition("## A notebook\n")
    (block,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    with KafkaStub(topics={"orders": 1}) as stub, Wire(stub.bootstrap_servers) as wire:
        wire.commit("billing", {("orders", 0): 3})
        block = block.replace("kafka:9092", stub.bootstrap_servers).replace("s3a://bucket/offsets", str(tmp_path))
        exec(compile(block, "the guide", "exec"), {})
    assert "seconds_left" in capsys.readouterr().out
    assert (tmp_path / "expiry_forecast" / "_SUCCESS").exists()
