"""`kafkastub snapshot take --from`: what it refuses, and what becomes of the file then."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkastub import KafkaStub
from kafkastub.cluster_snapshots import archive
from tests.cli.kafkas_tools import run
from tests.ports import reserved_port


@pytest.fixture(scope="module")
def cluster() -> Iterator[KafkaStub]:
    with KafkaStub({"orders": 2}) as stub:
        for number in range(10):
            stub.produce("orders", "x" * 1000, partition=number % 2)
        yield stub


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["FILE", "--records", "orders"], "--records 'orders' is refused: expected TOPIC=all, TOPIC=none or TOPIC=N"),
        (
            ["FILE", "--records", "orders=some"],
            "records orders=some is refused: expected TOPIC=all, TOPIC=none or TOPIC=N",
        ),
        (["FILE", "--records", "orders=-1"], "records orders=-1 is refused"),
        (["FILE", "--reach", "kafka:9092"], "--reach 'kafka:9092' is refused: expected HOST:PORT=HOST:PORT"),
        (
            ["FILE", "--command-config", "nowhere"],
            "configuration file nowhere can't be read: No such file or directory",
        ),
        ([], "--from without a FILE is refused: name the file that the snapshot is written to"),
    ],
)
def test_what_makes_no_sense_is_refused(cluster: KafkaStub, options: list[str], sentence: str, tmp_path: Path) -> None:
    options = [str(tmp_path / one) if one == "FILE" else one for one in options]
    done = run("snapshot", "take", *options, "--from", cluster.bootstrap_servers)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"kafkastub: {sentence}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["--records", "--redact", "--command-config", "--reach"])
def test_options_of_a_cluster_need_one(option: str) -> None:
    done = run("snapshot", "take", "before", option, "all")
    assert done.status == 2
    assert f"{option} without --from is refused" in done.err


def test_nobody_who_listens(tmp_path: Path) -> None:
    with reserved_port() as port:
        done = run("snapshot", "take", str(tmp_path / "file"), "--from", f"127.0.0.1:{port}")
    assert done.status == 1
    assert "nobody listens" in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there(cluster: KafkaStub, tmp_path: Path) -> None:
    file = tmp_path / "nowhere" / "file"
    done = run("snapshot", "take", str(file), "--from", cluster.bootstrap_servers)
    assert done.status == 2
    assert f"cannot write {file}: No such file or directory" in done.err


def test_too_many_records_leave_the_file_as_it_was(
    cluster: KafkaStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("of yesterday")
    monkeypatch.setattr(archive, "_MOST", 5000)
    done = run("snapshot", "take", str(file), "--from", cluster.bootstrap_servers, "--records", "orders=all")
    assert done.status == 1
    assert "--records TOPIC=N takes the newest N of each partition" in done.err
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
    assert file.read_text() == "of yesterday"


def test_a_full_disk_is_a_sentence_and_leaves_the_file_as_it_was(cluster: KafkaStub, tmp_path: Path) -> None:
    """The limit of a file's size stands for the disk: writing fails in the middle, and when the archive is closed."""
    file = tmp_path / "file"
    file.write_text("of yesterday")
    with KafkaStub({"large": 1}) as large:
        for _ in range(5):
            large.produce("large", os.urandom(100_000))
        command = ["snapshot", "take", str(file), "--from", large.bootstrap_servers, "--records", "large=all"]
        done = subprocess.run(
            [sys.executable, "-m", "kafkastub.cli", *command],
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"kafkastub: cannot write {file}: File too large\n"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
    assert file.read_text() == "of yesterday"
