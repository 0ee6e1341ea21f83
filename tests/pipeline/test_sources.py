"""What is read of the log, and in how many tasks: each has a client of its own, and takes a third of a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, TopicPartition

from kafkastub import KafkaStub
from tests.expiry.wire import Wire

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GROUPS = 12


def test_a_small_log_is_read_in_few_tasks_and_empty_partitions_not_at_all(spark: SparkSession) -> None:
    from kafkastub_pipeline.cluster import beginnings
    from kafkastub_pipeline.sources import read_kafka

    with KafkaStub(topics={"orders": 1}) as stub:
        for number in range(GROUPS):
            consumer = Consumer({"bootstrap.servers": stub.bootstrap_servers, "group.id": f"g{number}"})
            consumer.commit(offsets=[TopicPartition("orders", 0, 1)], asynchronous=False)
            consumer.close()
        sizes = beginnings(stub.bootstrap_servers).log_sizes
        found = read_kafka(spark, stub.bootstrap_servers, 50, sizes=sizes)
        assert (sum(sizes.values()), len(sizes)) == (GROUPS, 50)
        assert found.count() == GROUPS
        assert {row.partition for row in found.collect()} == {at for at, size in sizes.items() if size}
        assert found.rdd.getNumPartitions() <= spark.sparkContext.defaultParallelism
        large = dict.fromkeys(range(50), 1_000_000) | {7: 0}
        assert read_kafka(spark, stub.bootstrap_servers, 50, sizes=large).rdd.getNumPartitions() == 49
        nothing = dict.fromkeys(range(50), 0)
        assert read_kafka(spark, stub.bootstrap_servers, 50, sizes=nothing).rdd.getNumPartitions() == 1


def test_one_partition_with_most_of_the_log_is_read_in_pieces(
    monkeypatch: pytest.MonkeyPatch, spark: SparkSession
) -> None:
    """That of a group that makes most commits."""
    from kafkastub_pipeline import sources
    from kafkastub_pipeline.cluster import beginnings

    monkeypatch.setattr(sources, "SMALL_LOG", 4)
    config: dict[str, object] = {"offsets.topic.num.partitions": 4}
    with KafkaStub(topics={"orders": 1}, config=config) as stub, Wire(stub.bootstrap_servers) as wire:
        for number in range(40):
            wire.commit("most", {("orders", 0): number})
        for number in range(6):
            wire.commit(f"g{number}", {("orders", 0): 1})
        sizes = beginnings(stub.bootstrap_servers).log_sizes
        found = sources.read_kafka(spark, stub.bootstrap_servers, 4, sizes=sizes)
        tasks = found.rdd.glom().map(len).collect()
        offsets = [(row.partition, row.offset) for row in found.collect()]
    assert sum(tasks) == 46
    assert max(tasks) <= 8
    assert sorted(offsets) == [(at, offset) for at in range(4) for offset in range(sizes[at])]


def test_in_how_many_tasks_a_log_is_read() -> None:
    from kafkastub_pipeline.sources import tasks_for

    assert tasks_for([1_000_000] * 49) == 49
    assert tasks_for([150_000, 10]) == 2
    assert tasks_for([66_000] * 49 + [1_700_000]) == 49 + 17
    assert tasks_for([1_000_000] * 10 + [10_000_000]) == 20
    assert tasks_for([0]) == 1
