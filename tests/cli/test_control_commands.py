"""`kafkastub clock`, `faults`, `journal` and `health`: what asks a control port."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest

from kafkastub import KafkaStub
from tests.cli.kafkas_tools import run
from tests.cli.test_commands import on_a_terminal
from tests.conftest import CONFIG
from tests.control.conftest import commit_for
from tests.process.serving import COMMAND, Serving
from tests.waiting import SECONDS

Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 2}, config=CONFIG, control_port=0) as stub:
        yield stub


@pytest.fixture
def ask(stub: KafkaStub) -> Ask:
    """Run a command line on the stub."""

    def asked(*line: str) -> tuple[int, str, str]:
        done = run(*line, "--control", stub.control_url)
        return done.status, done.out, done.err

    return asked


def test_the_clock(stub: KafkaStub, ask: Ask):
    assert ask("clock", "freeze")[0] == 0
    assert ask("clock", "set", "2030-01-01T00:00:00Z")[1] == "2030-01-01T00:00:00.000Z (frozen)\n"
    assert ask("clock", "set", "1893456001000")[1] == "2030-01-01T00:00:01.000Z (frozen)\n"
    assert ask("clock", "advance", "1h30m")[1] == "2030-01-01T01:30:01.000Z (frozen)\n"
    assert json.loads(ask("clock", "show", "-o", "json")[1]) == {
        "now": "2030-01-01T01:30:01.000Z", "now_ms": stub.clock.now_ms(), "frozen": True,
    }  # fmt: skip
    assert "frozen" not in ask("clock", "unfreeze")[1]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (("set", "-1"), "between 1970 and the end of the year 9999, in UTC"),
        (("set", "9" * 5000), "expected a time in ISO 8601"),
        (("set", "9999-12-31T23:59:59.999-14:00"), "between 1970 and the end of the year 9999, in UTC"),
        (("advance", "99999999999d"), "broker time ends with the year 9999"),
    ],
)
def test_times_that_the_clock_cannot_be_change_nothing(ask: Ask, line: tuple[str, ...], says: str):
    ask("clock", "freeze")
    before = ask("clock", "show")
    status, out, err = ask("clock", *line)
    assert (status, out) == (1, "")
    assert says in err
    assert ask("clock", "show") == before


def test_a_week_by_hand(stub: KafkaStub, ask: Ask):
    stub.clock.freeze()
    commit_for(stub, "shipping")
    ask("clock", "advance", "6d")
    assert stub.metrics()["offset-expirations"] == 0
    ask("clock", "advance", "1d", "--timers")
    assert stub.metrics()["offset-expirations"] == 1


def test_faults(stub: KafkaStub, ask: Ask):
    assert ask("faults", "list")[1] == "There are no faults.\n"
    said = ask("faults", "add", "api=OffsetCommit,OffsetFetch", "error=NOT_COORDINATOR", "times=3", "group=7")
    assert said == (0, "Added fault-1.\n", "")
    assert stub.faults.list()[0].rule.to_dict() == {
        "api": ["OffsetCommit", "OffsetFetch"], "group": "7", "error": "NOT_COORDINATOR", "times": 3,
    }  # fmt: skip
    ask("faults", "add", "api=Fetch", "silent=true", "share=0.5", "name=now and then")
    assert ask("faults", "list")[1] == (
        "ID                   HITS     MATCHED  HELD     RULE\n"
        'fault-1              0        0        0        api=["OffsetCommit", "OffsetFetch"] group=7'
        " error=NOT_COORDINATOR times=3\n"
        'now and then         0        0        0        api=Fetch share=0.5 silent=true name="now and then"\n'
    )
    assert [fault["id"] for fault in json.loads(ask("faults", "list", "-o", "json")[1])] == ["fault-1", "now and then"]
    assert ask("faults", "remove", "now and then")[1] == "Removed now and then.\n"
    assert ask("faults", "clear")[1] == "Removed 1 fault.\n"
    assert len(stub.faults) == 0


def test_faults_of_a_file(stub: KafkaStub, ask: Ask, tmp_path: Path):
    file = tmp_path / "faults.yaml"
    file.write_text("- {api: Fetch, delay_ms: 5}\n- {api: Produce, drop: after}\n")
    assert ask("faults", "add", "--file", str(file))[1] == "Added fault-1.\nAdded fault-2.\n"
    assert [fault.rule.api for fault in stub.faults] == ["Fetch", "Produce"]


def test_the_journal(stub: KafkaStub, ask: Ask, tmp_path: Path):
    for group in ("shipping", "billing"):
        commit_for(stub, group)
    lines = ask("journal", "tail", "--api", "OffsetCommit", "-n", "1")[1].splitlines()
    assert lines == [str(stub.journal.requests(api="OffsetCommit")[-1])]
    entries = [json.loads(line) for line in ask("journal", "tail", "--group", "shipping", "-o", "json")[1].splitlines()]
    assert {entry["groups"][0] for entry in entries} == {"shipping"}
    assert ask("journal", "export", str(tmp_path / "j.parquet"))[0] == 0
    assert pq.read_table(tmp_path / "j.parquet").num_rows == stub.journal.total
    ask("journal", "export", str(tmp_path / "j.jsonl"), "--frames", "--api", "OffsetCommit")
    rows = [json.loads(line) for line in (tmp_path / "j.jsonl").read_text().splitlines()]
    assert [row["groups"] for row in rows] == [["shipping"], ["billing"]]
    assert rows[0]["request"]


def test_following_the_journal_until_interrupted(stub: KafkaStub):
    commit_for(stub, "before")
    # as a shell without job control starts it in the background
    ignoring = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = subprocess.Popen(
            [COMMAND, "journal", "tail", "-f", "--api", "OffsetCommit", "--control", stub.control_url],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, restore_signals=False,
        )  # fmt: skip
    finally:
        signal.signal(signal.SIGINT, ignoring)
    try:
        assert process.stdout is not None
        assert "group before" in process.stdout.readline()
        for group in ("one", "two"):
            commit_for(stub, group)
            assert f"group {group}" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=SECONDS) == ("", "")
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()


def test_following_ends_with_the_broker(stub: KafkaStub):
    process = subprocess.Popen(
        [COMMAND, "journal", "tail", "-f", "--api", "OffsetCommit", "-n", "1", "--control", stub.control_url],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        commit_for(stub, "shipping")
        assert "shipping" in process.stdout.readline()
        stub.close()
        process.communicate(timeout=SECONDS)
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()


def test_healthy_or_not(stub: KafkaStub, ask: Ask):
    assert ask("health") == (0, "healthy\n", "")
    assert ask("health", "--topic", "audit") == (1, "", "unhealthy: topic 'audit' does not exist\n")
    stub.create_topic("audit")
    assert ask("health", "--topic", "audit", "--topic", "orders")[0] == 0
    done = run("health", "--bootstrap-server", stub.bootstrap_servers, "--topic", "orders")
    assert (done.status, done.out) == (0, "healthy\n")
    done = run("health", "--bootstrap-server", stub.bootstrap_servers, "--topic", "nope")
    assert (done.status, done.err) == (1, "unhealthy: topic 'nope' does not exist\n")


def test_health_can_be_waited_for(stub: KafkaStub, ask: Ask, monkeypatch: pytest.MonkeyPatch):
    now, rests = 0.0, 0

    def rest(seconds: float) -> None:
        nonlocal now, rests
        now, rests = now + seconds, rests + 1
        if rests == 3:
            stub.create_topic("late")

    monkeypatch.setattr("kafkastub.cli.health.time", SimpleNamespace(monotonic=lambda: now, sleep=rest))
    assert ask("health", "--topic", "late", "--wait", "30") == (0, "healthy\n", "")
    assert rests == 3
    assert ask("health", "--topic", "later", "--wait", "30") == (1, "", "unhealthy: topic 'later' does not exist\n")
    assert 30 <= now < 31


def test_health_loads_next_to_nothing():
    script = (
        "import sys; from kafkastub.cli import main; main(['health', '--control', '127.0.0.1:1']); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {
        "fastapi",
        "pydantic",
        "kafkawire",
        "asyncio",
        "kafkastub.config",
        "kafkastub.stub.stub",
        "rich",
    }


def test_nobody_answers(ask: Ask, stub: KafkaStub):
    url = stub.control_url
    stub.close()
    for command in (("clock", "show"), ("faults", "list"), ("journal", "tail"), ("health",)):
        done = run(*command, "--control", url)
        assert done.status == 1
        assert f"no control port answers at {url} (Connection refused)" in done.err


@pytest.mark.parametrize(
    ("line", "status", "names"),
    [
        (("clock", "advance", "7x"), 2, "'7x' is not a duration"),
        (("clock", "set", "tomorrow"), 1, "to='tomorrow'"),
        (("faults", "add"), 2, "FIELD=VALUE"),
        (("faults", "add", "api"), 2, "'api' is not a field of a rule"),
        (("faults", "add", "api=Fetch", "api=Produce"), 2, "api is given twice"),
        (("faults", "add", "api=Fetsch", "drop=before"), 1, "Fetch is meant"),
        (("faults", "add", "--file", "/no/such/file"), 2, "cannot read /no/such/file"),
        (("faults", "remove", "nope"), 1, "there is no fault 'nope'"),
        (("journal", "tail", "--api", "Nope"), 1, "api='Nope'"),
        (("journal", "export", "/no/such/folder/j.jsonl"), 2, "cannot write /no/such/folder/j.jsonl"),
    ],
)
def test_what_makes_no_sense(ask: Ask, line: tuple[str, ...], status: int, names: str):
    got, out, err = ask(*line)
    assert (got, names in err, out) == (status, True, ""), err
    assert err.startswith("kafkastub: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("text", ["nan", "-1", "0", "x", "inf"])
def test_what_is_no_length_of_time(text: str):
    for option in ("--wait", "--timeout"):
        done = subprocess.run([COMMAND, "health", f"{option}={text}"], capture_output=True, text=True)
        assert done.returncode == 2
        assert f"{text!r} is not a number of seconds" in done.stderr


@pytest.mark.parametrize("url", ["ftp://x", "http://", "http://h:99999", "http://h:1/path"])
def test_what_is_no_address(url: str):
    done = run("clock", "show", "--control", url)
    assert done.status == 2
    assert repr(url) in done.err


def test_the_address_may_stand_in_the_environment(stub: KafkaStub, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KAFKASTUB_CONTROL", stub.control_url.removeprefix("http://"))
    assert run("health").status == 0


@pytest.mark.parametrize(("variables", "red"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_what_went_wrong_is_red_on_a_terminal(stub: KafkaStub, variables: dict[str, Any], red: bool):
    stub.faults.add(api="FindCoordinator", delay_ms=1)
    commit_for(stub, "shipping")
    seen = on_a_terminal("journal", "tail", "--api", "FindCoordinator", "--control", stub.control_url, **variables)
    assert ("\033[31m" in seen) is red
    plain = on_a_terminal("journal", "tail", "--api", "OffsetCommit", "--control", stub.control_url, **variables)
    assert "\033[" not in plain


def test_a_snapshot_that_cannot_be_written_is_no_fault_of_the_control_port(ask: Ask, tmp_path: Path):
    file = tmp_path / "no" / "such" / "directory"
    status, _, said = ask("snapshot", "save", str(file))
    assert (status, said) == (2, f"kafkastub: cannot write {file}: No such file or directory\n")
    assert ask("snapshot", "list")[1] == "No snapshot is kept.\n"


def test_snapshots(stub: KafkaStub, ask: Ask, tmp_path: Path):
    file = str(tmp_path / "seed.kafkastub")
    stub.produce("orders", "kept")
    assert ask("snapshot", "list")[1] == "No snapshot is kept.\n"
    assert ask("snapshot", "take", "before")[1] == "Kept as before.\n"
    assert ask("snapshot", "save", file)[1] == f"Written to {file}.\n"
    assert Path(file).stat().st_mode & 0o077 == 0
    for what in ("before", file):
        stub.produce("orders", "gone")
        assert ask("snapshot", "restore", what)[:2] == (0, f"Restored {what}.\n")
        assert [record.value for record in stub.records("orders")] == [b"kept"]
    assert [one["id"] for one in json.loads(ask("snapshot", "list", "-o", "json")[1])] == ["before"]
    assert ask("snapshot", "list")[1].splitlines()[1].split()[::3] == ["before", "1"]
    assert ask("snapshot", "save", file, "--id", "before")[0] == 0
    assert ask("snapshot", "delete", "before")[1] == "Deleted before.\n"
    status, _, said = ask("snapshot", "restore", "nope")
    assert status == 2
    assert "'nope' is neither a snapshot that is kept (none is) nor a file" in said
    status, _, said = ask("snapshot", "delete", "nope")
    assert (status, "there is no snapshot 'nope'" in said) == (1, True)


def test_serve_begins_with_a_file(stub: KafkaStub, tmp_path: Path):
    stub.produce("orders", "kept")
    stub.snapshot().save(tmp_path / "seed")
    with Serving("--snapshot", str(tmp_path / "seed"), "--topic", "orders:9", "more:3") as process:
        done = run("topics", "describe", "--bootstrap-server", process.servers, "-o", "json")
        counts = {one["name"]: len(one["partitions"]) for one in json.loads(done.out)}
    assert counts == {"orders": 2, "more": 3}
    done = run("serve", "--port", "0", "--snapshot", str(tmp_path / "none"))
    assert (done.status, "cannot read" in done.err) == (2, True)
    (tmp_path / "seed").write_bytes(b"something else" * 10)
    done = run("serve", "--port", "0", "--snapshot", str(tmp_path / "seed"))
    assert (done.status, "something else" in done.err, "Traceback" in done.err) == (2, True, False)
