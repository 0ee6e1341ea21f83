"""kcat as a data-plane client: each call is a run of the program. Keys, values and headers have to be UTF-8 text.

It sets no timestamps, pauses nothing, and does not tell the offsets of what it has sent.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from itertools import groupby

from kafkawire.errors import ErrorCode
from tests.clients.client import Refused
from tests.clients.data import BY_DEFAULT, FETCH_WAIT_MS, ONE_RECORD, DataClient, Entry, Found, Headers, Reader, Sending

RECORD_END, KEY_END = "\x1e", "\x1f"
"""What separates records, and a key from its value, on kcat's standard input."""
RUN_SECONDS = 60


def kcat() -> str | None:
    """Path of the program, named kafkacat by older systems; None where there is none."""
    return shutil.which("kcat") or shutil.which("kafkacat")


class KcatReader(Reader):
    """Keeps the positions between two runs."""

    def __init__(self, client: KcatData, topic: str, partitions: Sequence[int]) -> None:
        self._client = client
        self._topic = topic
        self._positions = dict.fromkeys(partitions, "beginning")
        """As -o takes them."""

    def poll(self, seconds: float = 0.05) -> list[Found]:
        found, positions = [], dict(self._positions)
        for partition, position in self._positions.items():
            args = ["-C", "-q", "-e", "-J", "-t", self._topic, "-p", str(partition), "-o", position]
            records = [json.loads(line) for line in self._client.run(args).splitlines()]
            found += [_found(one) for one in records]
            if records:
                positions[partition] = str(records[-1]["offset"] + 1)
        self._positions = positions  # not before all runs went well: what one of them read would be lost
        return found

    def seek(self, partition: int, offset: int) -> None:
        self._positions[partition] = str(offset)

    def seek_to_beginning(self, partition: int) -> None:
        self._positions[partition] = "beginning"

    def seek_to_end(self, partition: int) -> None:
        answer = self._client.run(["-Q", "-t", f"{self._topic}:{partition}:-1"])
        self._positions[partition] = answer.rpartition("offset ")[2].strip()

    def seek_to_time(self, partition: int, ms: int) -> None:
        self._positions[partition] = f"s@{ms}"

    def close(self) -> None:
        pass


class KcatData(DataClient):
    def __init__(self, servers: str) -> None:
        super().__init__()
        self._servers = servers
        program = kcat()
        assert program is not None
        self._program = program

    def send(self, topic: str, entries: Sequence[Entry], sending: Sending = BY_DEFAULT) -> list[int]:
        for (partition, headers, *nulls), same in groupby(entries, _run_of):
            one_record = sending.batch_bytes == ONE_RECORD
            settings = {
                "enable.idempotence": str(sending.idempotent).lower(),
                "linger.ms": 50,
                "compression.codec": sending.codec,
                "message.max.bytes": sending.request_bytes,
                "batch.size": max(1, sending.batch_bytes),
                "batch.num.messages": 1 if one_record else 1_000_000,
            }
            args = ["-P", "-t", topic, "-p", str(partition), "-D", RECORD_END, "-K", KEY_END]
            args += ["-Z"] if any(nulls) else []
            for name, value in settings.items():
                args += ["-X", f"{name}={value}"]
            for header in headers:
                args += ["-H", _header(*header)]
            self.run(args, RECORD_END.join(map(_typed, same)))
        return []

    def _opened(self, topic: str, partitions: Sequence[int]) -> Reader:
        return KcatReader(self, topic, partitions)

    def run(self, args: Sequence[str], stdin: str = "") -> str:
        """Its standard output. Raises Refused with the error that it reports."""
        command = [self._program, "-b", self._servers, "-X", f"fetch.wait.max.ms={FETCH_WAIT_MS}", *args]
        done = subprocess.run(command, input=stdin.encode(), capture_output=True, timeout=RUN_SECONDS, check=False)
        if done.returncode:
            said = done.stderr.decode()
            if "Message size too large" in said or "MSG_SIZE_TOO_LARGE" in said:
                raise Refused(ErrorCode.MESSAGE_TOO_LARGE.name)
            raise AssertionError(f"{' '.join(command)} ended with {done.returncode}: {said}")
        return done.stdout.decode()


def _run_of(entry: Entry) -> tuple[int, Headers, bool, bool]:
    """What is given on the command line, so that records of one run share it."""
    return entry.partition, entry.headers, entry.value is None, entry.key is None


def _typed(entry: Entry) -> str:
    value = (entry.value or b"").decode()
    return value if entry.key is None else entry.key.decode() + KEY_END + value


def _header(name: str, value: bytes | None) -> str:
    return name if value is None else f"{name}={value.decode()}"


def _found(one: dict[str, object]) -> Found:
    listed = one.get("headers") or []
    assert isinstance(listed, list)
    headers = tuple(
        (name, None if value is None else value.encode()) for name, value in zip(listed[::2], listed[1::2], strict=True)
    )
    value, key, offset, partition = one["payload"], one["key"], one["offset"], one["partition"]
    assert isinstance(offset, int)
    assert isinstance(partition, int)
    timestamp = one["ts"]
    assert isinstance(timestamp, int)
    return Found(
        offset,
        Entry(
            None if value is None else str(value).encode(),
            None if key is None else str(key).encode(),
            headers,
            timestamp,
            partition,
        ),
    )
