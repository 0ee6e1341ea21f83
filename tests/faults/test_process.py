"""`KafkaStub(process=True)`: the same API, and a child that ends with its parent. A command can be the child."""

from __future__ import annotations

import os
import pickle
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from kafkastub import ConfigError, FaultError, GroupTimeout, KafkaStub, StubError, TopicError
from tests.faults.test_on_the_wire import commit, committed
from tests.rawclient import RawClient
from tests.waiting import SECONDS

COMMAND: Final = Path(sys.executable).with_name("kafkastub")


@pytest.fixture(scope="module", params=[True, COMMAND], ids=["python", "command"])
def stub(request: pytest.FixtureRequest) -> Iterator[KafkaStub]:
    with KafkaStub(topics={"a": 3, "b": 1}, process=request.param) as running:
        yield running


def test_clients_the_clock_and_meters(stub: KafkaStub) -> None:
    assert isinstance(stub, KafkaStub)
    stub.create_topic("c", 2)
    stub.clock.freeze()
    before = stub.clock.now()
    with RawClient(stub.bootstrap_servers) as client:
        assert commit(client, "weekend") == {("a", 0): 0}
        stub.clock.advance(days=8)
        assert committed(client, "weekend") == {}
    assert (stub.clock.now() - before).days == 8
    assert stub.metrics()["offset-expirations"] >= 1  # other tests commit here, too


def test_faults(stub: KafkaStub) -> None:
    with stub.faults.add(api="OffsetCommit", error="NOT_COORDINATOR", times=1) as fault:
        with RawClient(stub.bootstrap_servers) as client:
            assert [commit(client)["a", 0] for _ in range(2)] == [16, 0]
        fault.wait(hits=1, timeout=SECONDS)
        assert (fault.hits, fault.rule.times, len(stub.faults)) == (1, 1, 1)
        assert [each.id for each in stub.faults] == [fault.id]
    assert stub.faults.list() == []


def test_the_journal_and_a_loading_coordinator(stub: KafkaStub) -> None:
    with RawClient(stub.bootstrap_servers) as client:
        with stub.coordinator_loading():
            assert commit(client, "loading") == {("a", 0): 14}
        assert commit(client, "loading") == {("a", 0): 0}
    entry = stub.journal.wait_for(api="OffsetCommit", group="loading", timeout=SECONDS)
    assert entry.api == "OffsetCommit"
    assert "group loading a-0 -> COORDINATOR_LOAD_IN_PROGRESS" in str(entry)
    assert "OffsetCommit v8 group loading" in repr(entry)


def test_errors_are_those_of_a_stub_in_this_process(stub: KafkaStub) -> None:
    with pytest.raises(TopicError, match="a/b") as refused:
        stub.create_topic("a/b")
    assert refused.value.code.name == "INVALID_TOPIC_EXCEPTION"
    with pytest.raises(FaultError, match="Fetch is meant"):
        stub.faults.add(api="Fetsch", drop="after")
    with pytest.raises(GroupTimeout):
        stub.wait_group("nobody", timeout=0.01)
    with pytest.raises(ConfigError):
        KafkaStub(config={"offsets.retention.minutes": "soon"}, process=True)
    with pytest.raises(TopicError):
        KafkaStub(topics={"a/b": 1}, process=True).start()


def test_a_closed_stub_says_so() -> None:
    with KafkaStub(process=True) as stub:
        clock = stub.clock
    stub.close()
    assert repr(clock).endswith("of <KafkaStub not running>>")
    with pytest.raises(StubError, match="not running"):
        clock.now()
    with pytest.raises(StubError, match="not running"):
        _ = stub.port


def test_refusals_of_the_start_are_those_of_a_stub_in_this_process() -> None:
    with pytest.raises(ConfigError):
        KafkaStub(config={"offsets.retention.minutes": "soon"}, process=COMMAND)
    with pytest.raises(TopicError):
        KafkaStub(topics={"a/b": 1}, process=COMMAND).start()


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("exit 2", "it answered 'nothing', expected the command of kafkastub 1."),
        (f"exec {sys.executable} -c 'import os; os.write(0, bytes((0, 0, 0, 15)) + b\"kafkastub 0.9.0\")'",
         "it answered 'kafkastub 0.9.0', expected the command of kafkastub 1."),
    ],
)  # fmt: skip
def test_a_command_that_is_not_this_kafkastub_is_refused(tmp_path: Path, lines: str, says: str) -> None:
    script = tmp_path / "kafkastub"
    script.write_text(f"#!/bin/sh\n{lines}\n")
    script.chmod(0o755)
    with pytest.raises(StubError) as refused:
        KafkaStub(process=script).start()
    assert str(refused.value).startswith(f"process={str(script)!r} is refused: {says}")


def test_a_command_that_is_not_there_is_refused() -> None:
    with pytest.raises(StubError, match="process='no-such-command' is refused: there is no such program"):
        KafkaStub(process="no-such-command").start()
    with pytest.raises(ValueError, match="process='' is refused: expected True, False, or the command"):
        KafkaStub(process="")
    with pytest.raises(TypeError, match="process=7 is refused: expected True, False, or the command"):
        KafkaStub(process=7)  # type: ignore[arg-type]


def test_a_command_that_cannot_be_run_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "kafkastub"
    program.write_bytes(b"no program")
    program.chmod(0o755)
    with pytest.raises(StubError, match="is refused: it cannot be run: Exec format error"):
        KafkaStub(process=program).start()


def test_what_cannot_be_sent_starts_no_command(monkeypatch: pytest.MonkeyPatch) -> None:
    class Local(str):
        """Nothing outside of this function finds it."""

    def started(command: str) -> None:
        raise AssertionError(f"{command} was started")

    monkeypatch.setattr("kafkastub.stub.process.CommandProcess", started)
    with pytest.raises((AttributeError, pickle.PicklingError), match="Local"):
        KafkaStub(topics={Local("orders"): 1}, process=COMMAND).start()


def test_the_command_of_a_child_is_not_for_people() -> None:
    said = subprocess.run([COMMAND, "child"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout) == (2, "")
    assert "started by KafkaStub" in said.stderr


def test_the_command_of_a_child_takes_nothing_from_a_connection() -> None:
    """As inetd hands it on: what comes through it would be unpickled."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        accepted, _ = server.accept()
        with accepted:
            client.sendall(b"\0\0\0\x04junk")
            said = subprocess.run([COMMAND, "child"], stdin=accepted, capture_output=True, text=True, check=False)
    assert said.returncode == 2
    assert "started by KafkaStub" in said.stderr


class Unknown(str):
    """Of a module that a command does not have."""


def test_an_argument_that_a_command_cannot_have_is_an_error_of_that_call() -> None:
    with KafkaStub(process=COMMAND) as stub:
        with pytest.raises(StubError, match="an argument cannot be had in the stub's process: No module named 'tests"):
            stub.create_topic(Unknown("orders"))
        stub.create_topic("orders")


PARENT = """
import os, sys
from kafkastub import KafkaStub
if __name__ == "__main__":
    stub = KafkaStub(process=sys.argv[1] if len(sys.argv) > 1 else True).start()
    print(stub._child.pid, flush=True)
    input()
"""


@pytest.mark.parametrize("command", [[], [COMMAND]], ids=["python", "command"])
def test_the_child_ends_when_its_parent_is_killed(tmp_path: Path, command: list[Path]) -> None:
    file = tmp_path / "parent.py"
    file.write_text(PARENT)
    with subprocess.Popen(
        [sys.executable, file, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
    ended, _, _ = select.select([child], [], [], SECONDS)
    os.close(child)
    assert ended
