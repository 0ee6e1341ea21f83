"""The quickest of the real programs, on the stub alone; `make programs` plays all of them, on Apache Kafka too."""

from __future__ import annotations

from pathlib import Path

from kafkastub import KafkaStub
from tests.conftest import CONFIG
from tests.programs.librdkafka.playing import play
from tests.programs.stage import Stage


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
