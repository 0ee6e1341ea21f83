"""What is read of the log, and in how many tasks: each has a client of its own, and takes a third of a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confluent_kafka import Consumer, TopicPartition

from kafkastub import KafkaStub

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
