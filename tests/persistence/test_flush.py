"""When what is written is synced, and what a reply waits for: on a disk whose syncs the test lets happen."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import pytest
import structlog

from kafkastub import KafkaStub
from kafkastub.handlers.context import ConnectionInfo, RequestContext
from kafkastub.handlers.outcome import Deferred
from kafkastub.handlers.registry import registrations
from kafkastub.layers.durable_replies import durable
from kafkastub.storage.disk import DataDirectory, Disk, Flush
from kafkastub.storage.disk.partition_files import OpenFiles, PartitionFiles
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.offset_fetch_request import OffsetFetchRequest
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.records import NewRecord, build_batch
from tests.conftest import CONFIG
from tests.handlers.in_process import InProcess
from tests.persistence.speaker import Speaker

Done = Callable[[BaseException | None], None]


class ByHand:
    """A runner that does what it was told when the test says so."""

    def __init__(self) -> None:
        self.next: deque[Callable[[], None]] = deque()
        self.timers: list[tuple[int, Callable[[], None]]] = []
        self.jobs: deque[tuple[Callable[[], None], Done]] = deque()

    def soon(self, call: Callable[[], None]) -> None:
        self.next.append(call)

    def later(self, ms: int, call: Callable[[], None]) -> None:
        self.timers.append((ms, call))

    def submit(self, job: Callable[[], None], done: Done) -> None:
        self.jobs.append((job, done))

    submit_slow = submit

    def go_on(self) -> None:
        """The thread is done with what was at hand."""
        while self.next:
            self.next.popleft()()

    def sync(self) -> None:
        """The oldest job is done."""
        job, done = self.jobs.popleft()
        try:
            job()
        except OSError as error:
            done(error)
        else:
            done(None)


class Rig:
    """A disk in a directory, with one partition's files."""

    def __init__(self, root: Path, flush: str) -> None:
        self.runner = ByHand()
        self.directory = DataDirectory(root, 1)
        self.disk = Disk(self.directory, Flush.parse(flush), self.runner, structlog.get_logger())
        self.files = PartitionFiles(
            self.disk, OpenFiles(), lambda: self.directory.partition("orders-0"), lambda: 1 << 20, keeps_time=False
        )
        self.told: list[str] = []

    def write(self, offset: int) -> None:
        self.files.append((build_batch([NewRecord(None, b"v", 1)], base_offset=offset),), offset, offset + 1)

    def wait(self, name: str) -> bool:
        return self.disk.wait(lambda failure: self.told.append(f"{name} failed" if failure else name))


@pytest.fixture
def rig(tmp_path: Path) -> Callable[[str], Rig]:
    return lambda flush: Rig(tmp_path, flush)


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what was synced, as it is."""
    names: list[str] = []
    fsync = os.fsync

    def note(fd: int) -> None:
        names.append(Path(f"/proc/self/fd/{fd}").readlink().name)
        fsync(fd)

    monkeypatch.setattr(os, "fsync", note)
    return names


def test_one_sync_serves_everybody_who_wrote_before_it(rig: Callable[[str], Rig], synced: list[str]):
    r = rig("message")
    for offset, name in enumerate("abc"):
        r.write(offset)
        assert r.wait(name)
    r.runner.go_on()
    assert (r.told, synced) == ([], [])
    r.runner.sync()
    assert r.told == ["a", "b", "c"]
    assert synced.count("00000000000000000000.log") == 1
    assert {"orders-0", r.directory.root.name} <= set(synced)
    assert not r.wait("d")


def test_who_writes_during_a_sync_waits_for_the_next(rig: Callable[[str], Rig]):
    r = rig("message")
    r.write(0)
    r.wait("a")
    r.runner.go_on()
    assert r.wait("reads what a wrote")
    r.write(1)
    r.wait("b")
    r.runner.go_on()
    assert len(r.runner.jobs) == 1
    r.runner.sync()
    assert r.told == ["a", "reads what a wrote"]
    r.runner.sync()
    assert r.told[2:] == ["b"]
    assert not r.runner.jobs


def test_with_an_interval_nobody_waits(rig: Callable[[str], Rig], synced: list[str]):
    r = rig("50ms")
    r.write(0)
    r.write(1)
    assert not r.wait("a")
    assert [ms for ms, _ in r.runner.timers] == [50]
    r.runner.timers.pop()[1]()
    assert not r.wait("a")
    r.write(2)
    r.runner.sync()
    assert synced.count("00000000000000000000.log") == 1
    (_, fire) = r.runner.timers.pop()
    fire()
    r.runner.sync()
    assert synced.count("00000000000000000000.log") == 2


def test_an_interval_that_ends_during_a_round_is_not_forgotten(rig: Callable[[str], Rig], synced: list[str]):
    r = rig("50ms")
    r.disk.state_changed()
    r.runner.go_on()
    r.write(0)
    r.runner.timers.pop()[1]()
    r.runner.sync()
    r.runner.sync()
    assert "00000000000000000000.log" in synced


def test_never_is_never(rig: Callable[[str], Rig], synced: list[str]):
    r = rig("never")
    r.write(0)
    assert not r.wait("a")
    assert not r.runner.next
    assert not r.runner.timers
    r.disk.close()
    assert synced == []


@pytest.mark.parametrize("flush", ["message", "50ms", "never"])
def test_a_change_of_the_state_is_waited_for_in_any_case(rig: Callable[[str], Rig], flush: str):
    r = rig(flush)
    r.disk.state = lambda: (b"{}",)
    r.disk.state_changed()
    assert r.wait("a")
    r.runner.go_on()
    r.runner.sync()
    assert r.told == ["a"]
    assert (r.directory.root / "kafkastub.json").read_bytes() == b"{}"


def test_a_sync_that_fails_is_told_to_those_who_wait_and_stays(
    rig: Callable[[str], Rig], monkeypatch: pytest.MonkeyPatch
):
    def broken(fd: int) -> None:
        raise OSError(5, "Input/output error")

    r = rig("message")
    r.write(0)
    r.wait("a")
    monkeypatch.setattr(os, "fsync", broken)
    r.runner.go_on()
    r.write(1)
    r.wait("b")
    r.runner.sync()
    assert r.told == ["a failed", "b failed"]
    assert r.disk.failed is not None
    assert "syncing failed: Input/output error" in r.disk.failed
    with pytest.raises(KafkaError) as refused:
        r.write(2)
    assert refused.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert not r.wait("c")


def test_a_write_that_fails_halfway_leaves_nothing(rig: Callable[[str], Rig], monkeypatch: pytest.MonkeyPatch):
    r = rig("message")
    r.write(0)
    segment = r.directory.partition("orders-0") / "00000000000000000000.log"
    before = segment.read_bytes()
    writev = os.writev

    def half(fd: int, chunks: list[bytes]) -> int:
        return writev(fd, [bytes(chunks[0])[:10]])

    def full(fd: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "writev", half)
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(KafkaError, match="No space left on device"):
        r.write(1)
    assert segment.read_bytes() == before


def test_few_files_are_open_at_a_time(tmp_path: Path):
    files = OpenFiles(limit=3)
    fds = {files.get(tmp_path / str(number)) for number in range(10)}
    assert len(fds) <= 4
    files.close_all()


def _ask(broker: InProcess, disk: Disk, request: ProduceRequest | OffsetFetchRequest, version: int) -> object:
    api = registrations()[ApiKey(request.API_KEY)]
    info = ConnectionInfo(1, "/127.0.0.1", "127.0.0.1:1")
    return durable(api, disk)(RequestContext(broker.state, info, api.key, version, 1, "test", 1, 1), request)


def _produce() -> ProduceRequest:
    data = PartitionProduceData(0, build_batch([NewRecord(None, b"v", 1)]))
    return ProduceRequest(acks=1, timeout_ms=1, topic_data=[TopicProduceData(name="orders", partition_data=[data])])


def test_a_reply_waits_for_the_disk_and_a_failure_is_its_error(
    rig: Callable[[str], Rig], monkeypatch: pytest.MonkeyPatch
):
    r = rig("message")
    broker = InProcess()
    r.write(0)
    held = _ask(broker, r.disk, _produce(), 9)
    reading = _ask(broker, r.disk, OffsetFetchRequest(group_id="g", topics=[]), 5)
    assert isinstance(held, Deferred)
    assert isinstance(reading, Deferred)
    assert held.reply is None
    r.runner.go_on()
    monkeypatch.setattr(os, "fsync", lambda fd: (_ for _ in ()).throw(OSError(5, "Input/output error")))
    r.runner.sync()
    (partition,) = held.reply.responses[0].partition_responses
    assert partition.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert reading.reply.error_code == 0


def test_a_parked_reply_waits_for_the_disk_when_it_is_there(rig: Callable[[str], Rig]):
    r = rig("message")
    parked = Deferred(lambda value: OffsetFetchRequest(group_id=value))
    api = registrations()[ApiKey.JOIN_GROUP]
    from dataclasses import replace

    serve = durable(replace(api, handler=lambda ctx, request: parked), r.disk)
    outcome = serve(None, None)  # type: ignore[arg-type]
    assert outcome is parked
    woken: list[object] = []
    parked.when_done(woken.append)
    r.write(0)
    parked.complete("later")
    assert not woken
    r.runner.go_on()
    r.runner.sync()
    assert [request.group_id for request in woken] == ["later"]  # type: ignore[attr-defined]


def test_many_clients_share_syncs(tmp_path: Path, synced: list[str]):
    """A group commit in the open: with ten clients there are fewer syncs than acknowledged commits."""
    from concurrent.futures import ThreadPoolExecutor

    with KafkaStub(topics={"orders": 10}, config={"kafkastub.flush": "message"}, data_dir=tmp_path) as stub:

        def commit(number: int) -> None:
            with Speaker(stub.bootstrap_servers) as speaker:
                for offset in range(30):
                    assert speaker.commit("group", "orders", {number: offset}) == [0]

        before = len(synced)
        with ThreadPoolExecutor(10) as clients:
            list(clients.map(commit, range(10)))
        assert 0 < len([name for name in synced[before:] if name.endswith(".log")]) < 300


def test_a_large_state_is_put_together_between_requests(tmp_path: Path):
    """Thirty thousand partitions, which take the broker's thread far longer where they are put down at once."""
    longest, last, over = [0.0], [0.0], [False]
    with KafkaStub(config=CONFIG, data_dir=tmp_path, topics={f"wide-{number}": 9900 for number in range(3)}) as stub:
        loop = stub._thread.loop
        assert loop is not None

        def turn() -> None:
            """Measures what the thread has done since its last turn: whatever else the machine does does not count."""
            now = time.thread_time()
            longest[0], last[0] = max(longest[0], now - last[0]), now
            if not over[0]:
                loop.call_soon(turn)

        def begin() -> None:
            last[0] = time.thread_time()
            turn()

        loop.call_soon_threadsafe(begin)
        for number in range(3):
            stub.set_quota(client_id="c", producer_byte_rate=1_000_000 + number)
        over[0] = True
    assert 0 < longest[0] < 0.02
