"""Kafka's own DumpLogSegments reads the directory."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafkastub import KafkaStub
from kafkawire.records import NewRecord, build_batch
from tests.clients.jvm import Jvm
from tests.persistence.speaker import Speaker

TOOL = "org.apache.kafka.tools.DumpLogSegments"
CONFIG: dict[str, object] = {"offsets.topic.num.partitions": 1, "kafkastub.offsets.history.records": 1_000_000}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    records = [NewRecord(b"key", b"three", 7), NewRecord(b"key", None, 8)]
    stub = KafkaStub(topics={"orders": 1}, config=CONFIG, data_dir=tmp_path)
    with stub, Speaker(stub.bootstrap_servers) as speaker:
        speaker.produce("orders", 0, b"one", b"two")
        speaker.produce("orders", 0, batch=build_batch(records, compression=1))
        speaker.commit("group", "orders", {0: 3}, metadata="halfway")
    return tmp_path


def _dump(jvm: Jvm, *args: str) -> list[str]:
    done = jvm.tool(TOOL, *args)
    assert done.status == 0, done.err
    assert "position" in done.out
    return done.out.splitlines()


def test_records_are_printed(directory: Path, jvm: Jvm):
    segment = directory / "orders-0" / "00000000000000000000.log"
    lines = _dump(jvm, "--deep-iteration", "--print-data-log", "--files", str(segment))
    assert [re.findall(r"(?:key|payload): \S+", line) for line in lines if line.startswith("|")] == [
        ["payload: one"],
        ["payload: two"],
        ["key: key", "payload: three"],
        ["key: key"],
    ]
    assert [re.findall(r"baseOffset: (\d+) lastOffset: (\d+)", line) for line in lines if "baseOffset" in line] == [
        [("0", "1")],
        [("2", "3")],
    ]
    assert not any("isvalid: false" in line for line in lines)


def test_offsets_are_decoded(directory: Path, jvm: Jvm):
    segment = directory / "__consumer_offsets-0" / "00000000000000000000.log"
    (line,) = (line for line in _dump(jvm, "--offsets-decoder", "--files", str(segment)) if line.startswith("|"))
    assert '"group":"group","topic":"orders","partition":0' in line
    assert '"offset":3' in line
    assert '"metadata":"halfway"' in line
