"""Handlers that are loaded behind the ready line: part by part, or with the request that needs one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="this machine has no /proc")

LATER = """
import os, sys
from kafkastub.server.loading import LoadedLater
from kafkastub.handlers.offers import OFFERS, USUAL
from kafkastub.handlers.registry import is_loaded
from kafkawire.api import ApiKey

def open_files():
    return len(os.listdir("/proc/self/fd"))

def use_up_descriptors():
    taken = []
    try:
        while True:
            taken.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        return taken
"""

SERVED = """
import asyncio, os, struct
from kafkastub.config import BrokerConfig, Profile
from kafkastub.server.broker import Broker
from kafkawire.codec import encode
from kafkawire.messages.describe_cluster_request import DescribeClusterRequest
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.produce_request import ProduceRequest

ASKED = [(MetadataRequest(None), 8), (DescribeClusterRequest(), 1), (FindCoordinatorRequest("g", 0, ["g"]), 4),
         (ProduceRequest(None, 1, 1000, []), 8)]
FLEXIBLE = {(60, 1), (10, 4)}

async def run():
    broker = Broker(BrokerConfig({}, Profile.named("kips")), None)
    await broker.start(topics={"t": 1}, loads_later=True)
    reader, writer = await asyncio.open_connection(broker.host, broker.port)
    await asyncio.sleep(0)
    taken = use_up_descriptors()
    for number, (message, version) in enumerate(ASKED):
        tags = b"\\0" if (message.API_KEY, version) in FLEXIBLE else b""
        body = struct.pack(">hhih", message.API_KEY, version, number, -1) + tags + encode(message, version)
        writer.write(struct.pack(">i", len(body)) + body)
        size, correlation_id = struct.unpack(">ii", await reader.readexactly(8))
        await reader.readexactly(size - 4)
        assert correlation_id == number
    broker.load_rest()
    while broker._loading is not None:
        await asyncio.sleep(0)
    for fd in taken:
        os.close(fd)
    assert all(is_loaded(key) for key in OFFERS)
    writer.close()
    await broker.stop()

asyncio.run(run())
"""


def run(code: str) -> str:
    command = [sys.executable, "-c", f"import resource; resource.setrlimit(7, (128, 128))\n{LATER}\n{code}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@linux
def test_each_part_loads_one_handler_those_first_that_most_clients_ask_for() -> None:
    run("""
before = open_files()
later = LoadedLater()
found = []
while True:
    known = {key for key in OFFERS if is_loaded(key)}
    done = later.load_next()
    new = {key for key in OFFERS if is_loaded(key)} - known
    assert len(new) <= 1, new
    found += new
    if done:
        break
assert found[: len(USUAL)] == list(USUAL)
assert sorted(found) == list(OFFERS)
assert "kafkastub.layers.fast_paths.table" in sys.modules
assert open_files() == before
""")


def test_who_looks_one_up_has_it_loaded_and_it_is_not_loaded_again() -> None:
    run("""
later = LoadedLater()
assert later.get(10_000) is None and 10_000 not in later
assert list(later) == list(OFFERS) and len(later) == len(OFFERS)
assert not is_loaded(ApiKey.LIST_GROUPS)
assert later[ApiKey.LIST_GROUPS].last == 5
assert is_loaded(ApiKey.LIST_GROUPS)
assert "kafkastub.layers.fast_paths.table" in sys.modules
parts = 1
while not later.load_next():
    parts += 1
assert parts == len(OFFERS) - 1
""")


@linux
def test_all_is_loaded_where_the_descriptors_are_used_up() -> None:
    run("""
later = LoadedLater()
taken = use_up_descriptors()
assert later[ApiKey.END_TXN].last == 5
while not later.load_next():
    pass
assert all(is_loaded(key) for key in OFFERS)
""")


@linux
def test_a_broker_without_descriptors_answers_what_it_has_not_loaded() -> None:
    run(SERVED)
