"""Kafka's kafka-producer-perf-test and kafka-consumer-perf-test run to their ends, and what they send is there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.clients.client import until
from tests.clients.data import Broker
from tests.clients.jvm import Jvm
from tests.persistence.speaker import LATEST

PRODUCER = "org.apache.kafka.tools.ProducerPerformance"
CONSUMER = "org.apache.kafka.tools.ConsumerPerformance"
RECORDS = 20_000
SIZE = 500

Unique = Callable[[str], str]


@pytest.mark.parametrize("settings", [["acks=all"], ["acks=0", "enable.idempotence=false"], ["compression.type=lz4"]])
def test_the_perf_tools_send_and_read_everything(
    jvm: Jvm, servers: str, broker: Broker, unique: Unique, settings: list[str]
) -> None:
    topic = broker.create(unique("perf"), partitions=3)
    common = ["--bootstrap-server", servers, "--topic", topic, "--num-records", str(RECORDS)]

    sent = jvm.tool(
        PRODUCER, *common, "--record-size", str(SIZE), "--throughput", "-1", "--command-property", *settings
    )
    assert (sent.status, sent.err) == (0, "")
    assert sent.out.splitlines()[-1].startswith(f"{RECORDS} records sent, ")

    def arrived() -> bool:  # with acks=0 the tool ends before the broker has read it all
        return sum(broker.speaker.offset(topic, index, LATEST) for index in range(3)) == RECORDS

    until(arrived, f"{RECORDS} records")
    read = jvm.tool(CONSUMER, *common, "--group", unique("readers"), "--timeout", "60000")
    assert (read.status, read.err) == (0, "")
    head, numbers = (line.split(", ") for line in read.out.splitlines()[-2:])
    told = dict(zip(head, numbers, strict=True))
    assert int(told["data.consumed.in.nMsg"]) == RECORDS
    assert float(told["data.consumed.in.MB"]) == pytest.approx(RECORDS * SIZE / 2**20, abs=0.001)
