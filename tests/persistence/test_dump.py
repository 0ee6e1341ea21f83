"""Kafka's own DumpLogSegments reads the directory."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest

from kafkastub import KafkaStub
from kafkawire.records import NewRecord, build_batch, read_batch, split_batches
from tests.clients.jvm import Jvm
from tests.offsets_topic import consumer_history
from tests.offsets_topic.moving import logs_of
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


def test_records_of_consumer_groups_are_decoded(tmp_path: Path, jvm: Jvm):
    """Every one of them, to what a client can read in the topic."""
    with KafkaStub(config=consumer_history.CONFIG, profile="kafka", data_dir=tmp_path) as stub:
        player = consumer_history.play(stub.bootstrap_servers)
        player.close()
    told: list[tuple[str, str]] = []
    for segment in sorted(tmp_path.glob("__consumer_offsets-*/*.log")):
        if segment.stat().st_size:
            lines = _dump(jvm, "--offsets-decoder", "--files", str(segment))
            assert not [line for line in lines if "isvalid: false" in line]
            told += [re.findall(r"key: (.*) payload: (.*)", line)[0] for line in lines if line.startswith("|")]
    written = logs_of(tmp_path).values()
    assert len(told) == sum(len(list(read_batch(bytes(batch)))) for log in written for _, batch in split_batches(log))
    keys = [json.loads(key) for key, _ in told]
    assert {key["type"] for key in keys} == {"1", "3", "4", "5", "6", "7", "8", "16"}
    ended = [
        key["data"] for key, (_, value) in zip(keys, told, strict=True) if value == "<DELETE>" and key["type"] == "3"
    ]
    assert ended == [{"groupId": "gone"}]
    topic = next(name for name, id_ in player.topic_ids.items() if id_ == "orders")
    assigned = next(json.loads(value)["data"] for key, value in told if json.loads(key)["type"] == "8")
    assert assigned == {
        "memberEpoch": 2,
        "previousMemberEpoch": 0,
        "state": 0,
        "assignedPartitions": [
            {
                "topicId": base64.urlsafe_b64encode(topic).decode().rstrip("="),
                "partitions": [0, 1, 2],
                "assignmentEpochs": [2, 2, 2],
            }
        ],
        "partitionsPendingRevocation": [],
    }
