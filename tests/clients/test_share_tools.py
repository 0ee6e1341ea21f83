"""Kafka's kafka-share-consumer-perf-test and VerifiableShareConsumer run to their ends, and tell what they read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

from kafkastub.client import Client, share_groups
from tests.clients.client import until
from tests.clients.data import Broker
from tests.clients.jvm import Jvm
from tests.group_configs import configure

PERFORMANCE = "org.apache.kafka.tools.ShareConsumerPerformance"
VERIFIABLE = "org.apache.kafka.tools.VerifiableShareConsumer"
RECORDS = 20_000
SIZE = 500

Unique = Callable[[str], str]


def written(jvm: Jvm, servers: str, broker: Broker, topic: str, count: int) -> str:
    """A topic of three partitions with so many records."""
    broker.create(topic, partitions=3)
    records = [(number % 3, None, "x" * SIZE, None) for number in range(count)]
    jvm.ask("produce", config={"bootstrap.servers": servers}, topic=topic, records=records)
    return topic


def until_all_is_done(servers: str, group: str) -> None:
    with Client(servers) as client:
        until(lambda: {one.lag for one in share_groups.offsets(client, group).values()} == {0}, "all is accepted")


def test_the_perf_tool_reads_everything(jvm: Jvm, servers: str, broker: Broker, unique: Unique) -> None:
    topic, group = written(jvm, servers, broker, unique("perf"), RECORDS), unique("workers")
    with Client(servers) as client:
        configure(client, group, {"share.auto.offset.reset": "earliest"})
    asked = ["--bootstrap-server", servers, "--topic", topic, "--num-records", str(RECORDS), "--group", group]
    read = jvm.tool(PERFORMANCE, *asked, "--threads", "2", "--timeout", "60000")
    assert (read.status, read.err) == (0, "")
    head, numbers = (line.split(", ") for line in read.out.splitlines()[-2:])
    told = dict(zip(head, numbers, strict=True))
    assert int(told["data.consumed.in.nMsg"]) == RECORDS
    until_all_is_done(servers, group)


def test_the_verifiable_consumer_tells_of_every_record(jvm: Jvm, servers: str, broker: Broker, unique: Unique) -> None:
    topic, group, count = unique("verified"), unique("workers"), 300
    written(jvm, servers, broker, topic, count)
    asked = ["--bootstrap-server", servers, "--topic", topic, "--group-id", group, "--max-messages", str(count)]
    how = ["--acknowledgement-mode", "sync", "--offset-reset-strategy", "earliest", "--verbose"]
    read = jvm.tool(VERIFIABLE, *asked, *how)
    assert (read.status, read.err) == (0, "")
    events = [json.loads(line) for line in read.out.splitlines()]
    names = [event["name"] for event in events]
    assert (names[0], names[-1]) == ("startup_complete", "shutdown_complete")
    records = Counter((event["partition"], event["offset"]) for event in events if event["name"] == "record_data")
    assert records == Counter((partition, offset) for partition in range(3) for offset in range(count // 3))
    acknowledged = sum(event["count"] for event in events if event["name"] == "offsets_acknowledged")
    assert acknowledged == count
    until_all_is_done(servers, group)
