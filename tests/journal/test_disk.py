"""A journal on disk: all of it is there, whatever ends the broker."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.journal import Outcome, Ring
from kafkastub.journal.disk import DiskJournal, JournalDirError, journal_files, read_rows
from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from tests.journal.test_journal import commit, commit_to, produce
from tests.rawclient import RawClient
from tests.waiting import SECONDS


def test_more_than_the_ring_holds_is_on_disk(tmp_path: Path) -> None:
    with KafkaStub(topics={"orders": 1}, journal=tmp_path / "new") as stub, RawClient(stub.bootstrap_servers) as raw:
        stub.clock.advance(days=1)
        for number in range(300):
            raw.send(ApiKey.OFFSET_COMMIT, 8, encode(commit(f"g{number}"), 8), flexible=True)
        answers = [raw.receive() for _ in range(300)]
        stub.journal.clear()
    clock, *rows = read_rows(tmp_path / "new")
    assert (clock["kind"], clock["request"]) == ("clock", b"advance")
    assert [row["groups"] for row in rows] == [[f"g{number}"] for number in range(300)]
    assert [row["response"][4:] for row in rows] == answers


def test_a_pending_request_is_there_and_its_end_takes_its_place(tmp_path: Path) -> None:
    with KafkaStub(topics={"orders": 1}, journal=tmp_path) as stub, RawClient(stub.bootstrap_servers) as raw:
        partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
        topics = [FetchTopic(topic="orders", partitions=[partition])]
        request = FetchRequest(max_wait_ms=60_000, min_bytes=1, session_epoch=-1, topics=topics)
        raw.send(ApiKey.FETCH, 11, encode(request, 11))
        stub.journal.wait_for(api="Fetch", outcome="pending", timeout=SECONDS)
        assert [row["outcome"] for row in read_rows(tmp_path)] == ["pending"]
        with RawClient(stub.bootstrap_servers) as other:
            other.exchange(ApiKey.PRODUCE, 9, encode(produce("orders"), 9))
        assert raw.receive() is not None
    assert [(row["api"], row["outcome"]) for row in read_rows(tmp_path)] == [("Fetch", "reply"), ("Produce", "reply")]


def test_a_kill_leaves_every_answered_request_and_a_torn_line_is_ignored(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kafkastub.cli", "serve", "--port", "0", "--journal", str(tmp_path / "journal")]
    with subprocess.Popen([*command, "--topic", "orders:1"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split("ready on ")[1].split()[0]
        with RawClient(address) as raw:
            for number in range(20):
                commit_to(raw, f"g{number}")
            process.send_signal(signal.SIGKILL)
    with journal_files(tmp_path / "journal")[-1].open("ab") as torn:
        torn.write(b'{"schema_version": 1, "sequ')
    assert [row["groups"] for row in read_rows(tmp_path / "journal")] == [[f"g{number}"] for number in range(20)]


def test_files_follow_each_other_and_the_oldest_go(tmp_path: Path) -> None:
    ring = Ring(100, 1 << 20)
    disk = DiskJournal(tmp_path, ring, lambda _: None, lambda _: None, file_bytes=5000, most_files=3)
    for _ in range(100):
        ring.add([b"\0\x0c\0\0\0\0\0\1\0\0", 0, 10, b"", None, 0, 1, 2, Outcome.REPLY, None])
    disk.close()
    assert len(journal_files(tmp_path)) == 3
    sequences = [row["sequence"] for row in read_rows(tmp_path)]
    assert sequences == list(range(sequences[0], 100))
    assert 0 < sequences[0] < 90


def test_a_full_disk_ends_the_journal_and_not_the_broker(tmp_path: Path) -> None:
    ring, told = Ring(100, 1 << 20), deque[OSError]()
    disk = DiskJournal(tmp_path, ring, lambda _: None, told.append)
    disk._file.close()
    with Path("/dev/full").open("wb", buffering=0) as full:
        disk._file = full
        for _ in range(3):
            ring.add([b"\0\x0c\0\0\0\0\0\1\0\0", 0, 10, b"", None, 0, 1, 2, Outcome.REPLY, None])
    assert [os.strerror(error.errno or 0) for error in told] == ["No space left on device"]
    assert len(ring) == 3


def test_a_disk_that_takes_half_an_entry_ends_the_journal_there(tmp_path: Path) -> None:
    """What comes when there is room again would be behind half a line: nobody could read it, or what is in front."""

    class Filling(io.FileIO):
        full = False

        def write(self, data: Any) -> int:
            return super().write(data[: len(data) // 2] if self.full else data)

    ring, told = Ring(100, 1 << 20), deque[OSError]()
    disk = DiskJournal(tmp_path, ring, lambda _: None, told.append)
    disk._file.close()
    disk._file = file = Filling(journal_files(tmp_path)[0], "w")  # type: ignore[assignment]
    for full in (False, True, False):
        if not file.closed:
            file.full = full
        ring.add([b"\0\x0c\0\0\0\0\0\1\0\0", 0, 10, b"", None, 0, 1, 2, Outcome.REPLY, None])
    disk.close()
    assert [row["sequence"] for row in read_rows(tmp_path)] == [0]
    assert [os.strerror(error.errno or 0) for error in told] == ["No space left on device"]


def test_a_directory_with_a_journal_is_refused(tmp_path: Path) -> None:
    with KafkaStub(journal=tmp_path):
        pass
    with pytest.raises(JournalDirError, match="holds a journal already: name another"):
        KafkaStub(journal=tmp_path).start()
    (tmp_path / "file").touch()
    with pytest.raises(JournalDirError, match="no journal can be kept in"):
        KafkaStub(journal=tmp_path / "file").start()
    with pytest.raises(JournalDirError, match="holds no journal"):
        list(read_rows(tmp_path / "nowhere"))


@pytest.mark.parametrize(
    "change",
    [
        [],
        1,
        {},
        {"sequence": []},
        {"sequence": -1},
        {"sequence": True},
        {"api_key": 1e308},
        {"api_version": "x"},
        {"kind": None},
        {"wall_time": ""},
        {"wall_time": 5},
        {"broker_time": "2030-01-01T00:00:00"},
        {"broker_time": "9999-12-31T23:59:59.999999-14:00"},
        {"duration_us": 2**70},
        {"groups": [[]]},
        {"request": None},
        {"request": 99999},
        {"response": [1]},
        {"request": "A"},
    ],
    ids=json.dumps,
)
def test_a_line_that_is_no_entry_is_named(tmp_path: Path, change: Any):
    """Other people's journals ended a replay in a traceback."""
    with KafkaStub(journal=tmp_path) as stub:
        stub.clock.advance(hours=1)
    (file,) = journal_files(tmp_path)
    entry = json.loads(file.read_text().splitlines()[0])
    assert list(read_rows(tmp_path))
    line = {**entry, **change} if isinstance(change, dict) and change else change
    file.write_text(json.dumps(line) + "\n")
    with pytest.raises(JournalDirError, match="line 1, is not an entry of a journal: "):
        list(read_rows(tmp_path))


def test_a_line_that_is_nested_too_deeply_is_named(tmp_path: Path):
    (tmp_path / f"journal-{0:020}.jsonl").write_text("[" * 100_000 + "\n")
    with pytest.raises(JournalDirError, match="line 1, is not an entry of a journal: maximum recursion"):
        list(read_rows(tmp_path))
