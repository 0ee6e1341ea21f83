"""What a broker starts without: start-up is counted in milliseconds, and each of these takes some."""

from __future__ import annotations

import subprocess
import sys

import pytest

SLOW = {
    "encodings.idna", "importlib.resources", "kio", "pathlib", "platform", "rich", "structlog", "tempfile", "urllib",
    "uuid", "yaml",
}  # fmt: skip

NOT_ASKED_FOR = {
    "kafkastub.transaction_coordinator", "kafkastub.state.transaction_coordinator.runtime",
    "kafkastub.coordinator.consumer", "kafkastub.coordinator.modern", "kafkastub.coordinator.consumer.records",
    "kafkastub.share_partitions", "kafkastub.share_coordinator", "kafkastub.state.share_partitions",
    "kafkastub.state.share_coordinator", "kafkastub.coordinator.share", "kafkastub.state.share_group_offsets",
}  # fmt: skip
"""Loaded with the first request about a transaction, of the consumer protocol, or about share groups."""

START = """
import asyncio, sys
import kafkastub.cli.serve
from kafkastub.config import BrokerConfig, Profile
from kafkastub.server.broker import Broker

async def run():
    broker = Broker(BrokerConfig({}, Profile.named("kips")), None)
    await broker.start(topics={"orders": 1})
    print(*sys.modules)
    await broker.stop()

asyncio.run(run())
"""


def test_a_broker_starts_without_what_is_slow_to_import() -> None:
    # -S: what is installed in the environment may load things at every start of Python
    path = [one for one in sys.path if one]
    code = f"import sys; sys.path[:] = {path!r}\n{START}"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert not done.returncode, done.stderr
    assert sorted((SLOW | NOT_ASKED_FOR) & set(done.stdout.split())) == []


def test_the_stub_is_imported_without_what_only_some_ask_for() -> None:
    code = "import sys, kafkastub.stub; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True).stdout
    assert sorted(NOT_ASKED_FOR & set(loaded.split())) == []


@pytest.mark.parametrize(
    ("code", "most", "most_of_ours"),
    [
        ("import kafkastub", 45, 1),
        ("from kafkastub import KafkaStub", 375, 235),
        ("import kafkastub.cli.serve", 135, 6),
    ],
)
def test_no_more_is_imported_than_today(code: str, most: int, most_of_ours: int) -> None:
    """34, 343 and 119 modules. They are what takes time, and can be counted on a busy machine, too."""
    path = [one for one in sys.path if one]
    count = f"import sys; sys.path[:] = {path!r}\nbefore = {{*sys.modules}}\n{code}\nprint(*{{*sys.modules}} - before)"
    command = [sys.executable, "-S", "-c", count]
    loaded = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.split()
    ours = [name for name in loaded if name.partition(".")[0] in ("kafkastub", "kafkawire")]
    assert len(loaded) <= most
    assert len(ours) <= most_of_ours
