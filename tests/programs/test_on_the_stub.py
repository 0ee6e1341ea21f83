"""The quickest of the real programs, on the stub alone; `make programs` plays all of them, on Apache Kafka too."""

from __future__ import annotations

from pathlib import Path

from kafkastub import KafkaStub
from tests.clients.jvm import Jvm
from tests.conftest import CONFIG
from tests.programs.brokers import STREAMS
from tests.programs.librdkafka.playing import play
from tests.programs.stage import Stage
from tests.programs.streams import grouped


def test_a_job_on_librdkafka_that_is_killed_and_one_that_is_fenced_lose_and_repeat_nothing(tmp_path: Path) -> None:
    with KafkaStub(config=CONFIG) as stub, Stage(stub.bootstrap_servers, tmp_path) as stage:
        lines = list(play(stage))
    assert lines == [
        "the first: killed in a transaction",
        "the second: frozen in a transaction, fenced when it wakes",
        "no transaction is open",
        "4000 records, each once",
        "in order in each of 4 partitions",
        "400 audited, each once",
        "records of aborted transactions are in the log, and read_committed shows none",
        "the committed offsets are the end",
    ]


def test_a_group_of_kafka_streams_counts_on_where_another_instance_has_ended(jvm: Jvm, tmp_path: Path) -> None:
    with KafkaStub(config={**CONFIG, **STREAMS}) as stub, Stage(stub.bootstrap_servers, tmp_path) as stage:
        lines = list(grouped.count(stage, lines=800))
    changelog = "cleanup.policy=compact, message.timestamp.type=CreateTime, partitions=2"
    repartition = changelog.replace("compact", "delete") + ", retention.ms=-1, segment.bytes=52428800"
    assert lines == [
        "the first: ended in order, in the middle",
        "3200 counts, each once",
        "the committed offsets are the end",
        f"count-KSTREAM-AGGREGATE-STATE-STORE-0000000003-changelog: {changelog}",
        f"count-KSTREAM-AGGREGATE-STATE-STORE-0000000003-repartition: {repartition}",
    ]
