"""Standard error that cannot be written: the lines are lost, and nothing else is."""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.messages.metadata_request import MetadataRequest
from tests.hostile.prober import LONGEST_MS, probing
from tests.process.serving import Serving
from tests.rawclient import RawClient

BROKEN = 20
"""Connections that end with a line in the log, each from an address of its own where that matters."""


def full_disk() -> Iterator[int]:
    number = os.open("/dev/full", os.O_WRONLY)
    yield number
    os.close(number)


def closed_pipe() -> Iterator[int]:
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


def unread_pipe() -> Iterator[int]:
    """One that is full already: who writes to it waits for ever."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, bytes(1 << 12))
    os.set_blocking(writing, True)
    yield writing
    os.close(reading)
    os.close(writing)


@pytest.fixture(params=[full_disk, closed_pipe, unread_pipe])
def unwritable(request: pytest.FixtureRequest) -> Iterator[int]:
    if request.param is full_disk and not Path("/dev/full").exists():
        pytest.skip("this machine has no /dev/full")
    yield from request.param()


def is_closed(client: RawClient) -> bool:
    """Waits for the broker to close the connection; socket.timeout where it does not."""
    return client.receive() is None


def test_idle_connections_end_though_nobody_can_be_told(unwritable: int):
    with (
        Serving("--config", "connections.max.idle.ms=1000", stderr=unwritable) as process,
        probing(process.servers) as prober,
        contextlib.ExitStack() as stack,
    ):
        for _ in range(2):  # the first end must not keep the others from theirs
            idle = [stack.enter_context(RawClient(process.servers)) for _ in range(2)]
            assert all(map(is_closed, idle))
        for _ in range(BROKEN):
            client = stack.enter_context(RawClient(process.servers))
            client.socket.sendall(struct.pack(">i", -1))
            assert is_closed(client)
        with RawClient(process.servers) as client:
            client.exchange(ApiKey.METADATA, 1, encode(MetadataRequest(topics=None), 1))
    assert prober.longest_ms <= LONGEST_MS


def test_a_process_ends_well_that_could_not_write_its_log(unwritable: int):
    with Serving(stderr=unwritable) as process:
        with RawClient(process.servers) as client:
            client.socket.sendall(struct.pack(">i", -1))
            assert is_closed(client)
        assert process.stop(15)[0] == 0


def test_what_was_lost_is_counted_with_the_next_line():
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    filled = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            filled += os.write(writing, bytes(1 << 12))
    os.set_blocking(writing, True)
    with Serving(stderr=writing) as process:
        for _ in range(3):
            with RawClient(process.servers) as client:
                client.socket.sendall(struct.pack(">i", -1))
                assert is_closed(client)
        while filled:
            filled -= len(os.read(reading, filled))
        with RawClient(process.servers) as client:
            client.socket.sendall(struct.pack(">i", -1))
            assert is_closed(client)
        told = os.read(reading, 1 << 16).decode()
    os.close(reading)
    os.close(writing)
    assert told.startswith("(3 log lines could not be written)\n")
    assert "connection closed" in told
