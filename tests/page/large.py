"""A broker with more than a page can show at a time: 1,000 topics, 10,000 groups, a journal of 100,000 entries.

python -m tests.page.large    serves it until standard input ends; the first line says where the control port is
"""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Final, Self

from kafkastub import KafkaStub
from kafkawire.codec import encode
from kafkawire.header import request_header
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.rawclient import RawClient

TOPICS: Final = 1_000
GROUPS: Final = 10_000
ENTRIES: Final = 100_000
_COMMIT, _VERSION = 8, 7
_WINDOW: Final = 500
"""Requests under way: neither side's buffers fill up."""


class Large:
    """The same in a process of its own, at `url`."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.page.large"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.servers, self.url = self._process.stdout.readline().split()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate("")
        self._process.wait()


def topic(number: int) -> str:
    return f"topic-{number:04}"


def group(number: int) -> str:
    return f"group-{number:05}"


def _commits() -> Iterator[bytes]:
    for number in range(ENTRIES):
        partition = OffsetCommitRequestPartition(0, number // GROUPS)
        name = topic(number % TOPICS)
        body = encode(
            OffsetCommitRequest(
                group(number % GROUPS), topics=[OffsetCommitRequestTopic(name, partitions=[partition])]
            ),
            _VERSION,
        )
        framed = request_header(_COMMIT, _VERSION, number, "filler", False) + body
        yield struct.pack(">i", len(framed)) + framed


def fill(servers: str) -> None:
    """Commit one offset of each group, again and again until the journal has its entries."""
    with RawClient(servers) as client:
        under_way = 0
        for frame in _commits():
            client.socket.sendall(frame)
            under_way += 1
            if under_way == _WINDOW:
                for _ in range(under_way):
                    assert client.receive() is not None
                under_way = 0
        for _ in range(under_way):
            client.receive()


def main() -> None:
    stub = KafkaStub(topics={topic(number): 1 for number in range(TOPICS)}, control_port=0, journal_entries=2 * ENTRIES)
    with stub:
        fill(stub.bootstrap_servers)
        print(stub.bootstrap_servers, stub.control_url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
