"""What the guide has users type first, typed: the command as it is installed, with nothing set for tests."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
from confluent_kafka import Consumer, TopicPartition

from kafkastub import KafkaStub
from tests.pipeline.process import SECONDS

ROOT = Path(__file__).parents[2]


def _commands(document: str) -> list[str]:
    """Those of the first block of the console that has any."""
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    block = next(block for block in blocks if "kafkastub-pipeline" in block)
    return [line for line in block.splitlines() if line.startswith("kafkastub-pipeline")]


def test_the_first_commands_of_the_guide_run(tmp_path: Path) -> None:
    with KafkaStub(topics={"orders": 1}) as stub:
        consumer = Consumer({"bootstrap.servers": stub.bootstrap_servers, "group.id": "shipping"})
        consumer.commit(offsets=[TopicPartition("orders", 0, 0)], asynchronous=False)
        consumer.close()
        for command in _commands("docs/pipeline.md"):
            name, *words = command.replace("localhost:9092", stub.bootstrap_servers).split()
            done = subprocess.run(
                [Path(sys.executable).with_name(name), *words], cwd=tmp_path, stderr=subprocess.PIPE, timeout=SECONDS
            )
            assert (done.returncode, done.stderr) == (0, b"")
    (row,) = pq.read_table(tmp_path / "tables" / "expiry_forecast").to_pylist()
    assert (row["group_id"], row["topic"], row["partition"], row["committed_offset"]) == ("shipping", "orders", 0, 0)
    assert "shipping" in (tmp_path / "tables" / "report.html").read_text()
