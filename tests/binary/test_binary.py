"""The self-contained command: what is in it, and that it needs no Python."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from clients.binary.build import CACHE, OLDEST_GLIBC, ROOT, platform_name, version
from confluent_kafka import Consumer, Producer

from kafkastub import KafkaStub, TopicError

pytestmark = pytest.mark.binary

ARCHIVE: Final = ROOT / "dist" / f"kafkastub-{version()}-{platform_name()}.tar.gz"
NOWHERE: Final = {"PATH": "/nonexistent", "HOME": "/nonexistent"}
"""An environment that has nothing."""
SECONDS: Final = 120
MOST_MB: Final = 45


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive unpacked."""
    if not ARCHIVE.exists():
        pytest.fail(f"{ARCHIVE} is not there: run `make binary`")
    place = tmp_path_factory.mktemp("binary")
    with tarfile.open(ARCHIVE) as packed:
        packed.extractall(place, filter="data")
    return place / "kafkastub"


@contextmanager
def serving(*command: str | Path, lines: int = 1, cwd: Path | None = None) -> Iterator[list[str]]:
    """A process that serves, with its first lines; it ends with its standard input."""
    with subprocess.Popen(
        [*command, "--exit-with-stdin"], env=NOWHERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=cwd
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield [process.stdout.readline().split(" on ", 1)[-1].split()[0] for _ in range(lines)]
        finally:
            process.stdin.close()
        assert process.wait(SECONDS) == 0


def run(*command: str | Path) -> str:
    done = subprocess.run(command, env=NOWHERE, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def exchange(servers: str, **settings: str) -> None:
    """Write a record, and read it."""
    common = {"bootstrap.servers": servers, **settings}
    producer = Producer(common)
    producer.produce("orders", b"two teapots")
    assert producer.flush(SECONDS) == 0
    consumer = Consumer({**common, "group.id": "shipping", "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    message = consumer.poll(SECONDS)
    consumer.close()
    assert message is not None
    assert message.value() == b"two teapots"


def test_the_archive_has_files_and_folders_of_nobody():
    with tarfile.open(ARCHIVE) as packed:
        entries = packed.getmembers()
    assert {entry.name.split("/")[0] for entry in entries} == {"kafkastub"}
    assert all(entry.isfile() or entry.isdir() for entry in entries)
    assert {(entry.uid, entry.gid, entry.mtime) for entry in entries} == {(0, 0, 0)}
    assert {entry.mode for entry in entries} == {0o644, 0o755}
    assert ARCHIVE.stat().st_size <= MOST_MB * 1_000_000
    digest = hashlib.sha256(ARCHIVE.read_bytes()).hexdigest()
    assert ARCHIVE.with_name(f"{ARCHIVE.name}.sha256").read_text() == f"{digest}  {ARCHIVE.name}\n"


def test_the_licences_of_all_that_is_in_it_are_in_it(folder: Path):
    text = (folder / "THIRD-PARTY.txt").read_text()
    names = {name.lower() for name in re.findall(r"^\* (\S+) ", text, re.MULTILINE)}
    packed = {path.name.split("-")[0].replace("_", "-").lower() for path in folder.glob("_internal/*.dist-info")}
    assert packed - {"kafkastub"} <= names
    assert {"python", "fastapi", "uvloop", "pydantic", "cryptography"} <= names
    assert "PYTHON SOFTWARE FOUNDATION LICENSE" in text
    assert (folder / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_it_has_nothing_that_it_does_not_need(folder: Path):
    names = {path.name for path in folder.glob("_internal/*")}
    assert not names & {"tkinter", "pyarrow", "numpy", "pyspark", "pytest", "pip", "setuptools"}


@pytest.mark.skipif(not platform_name().startswith("linux"), reason="other systems have another C library")
def test_it_needs_an_old_c_library_only(folder: Path):
    if not (CACHE / "python").exists():
        pytest.skip("`make binary-python` has not built a Python with an old C library here")
    needed = {
        tuple(int(part) for part in version.split(b"."))
        for path in folder.rglob("*")
        if path.is_file()
        for content in [path.read_bytes()]
        if content.startswith(b"\x7fELF")
        for version in re.findall(rb"GLIBC_(2\.\d+)", content)
    }
    assert max(needed) <= (2, OLDEST_GLIBC)


def test_it_tells_its_version(folder: Path):
    assert run(folder / "kafkastub", "--version") == f"kafkastub {version()}\n"
    assert (folder / "VERSION").read_text() == f"{version()}\n"


def test_it_is_started_by_a_link_too(folder: Path, tmp_path: Path):
    link = tmp_path / "stub"
    link.symlink_to(folder / "kafkastub")
    assert run(link, "--version") == f"kafkastub {version()}\n"


def test_it_serves_with_control_port_page_and_registry(folder: Path):
    command = (folder / "kafkastub", "serve", "--port", "0", "--topic", "orders:1")
    with serving(*command, "--control-port", "0", "--registry-port", "0", lines=3) as (servers, control, registry):
        exchange(servers)
        with urllib.request.urlopen(f"{control}/health") as answer:
            assert json.load(answer)["status"] == "healthy"
        request = urllib.request.Request(control, headers={"Accept": "text/html"})
        with urllib.request.urlopen(request) as answer:
            assert b"<title>" in answer.read()
        with urllib.request.urlopen(f"{control}/openapi.json") as answer:
            assert json.load(answer)["info"]["version"] == version()
        schema = json.dumps({"schema": '{"type": "string"}'}).encode()
        kind = {"Content-Type": "application/vnd.schemaregistry.v1+json"}
        request = urllib.request.Request(f"{registry}/subjects/orders-value/versions", schema, kind)
        with urllib.request.urlopen(request) as answer:
            assert json.load(answer)["id"] == 1
        assert "shipping" in run(folder / "kafkastub", "groups", "list", "--bootstrap-server", servers)


def test_it_serves_with_tls(folder: Path, tmp_path: Path):
    command = (folder / "kafkastub", "serve", "--topic", "orders:1", "--config")
    tls = ("listeners=SSL://127.0.0.1:0", "inter.broker.listener.name=SSL", f"kafkastub.tls.dir={tmp_path}")
    with serving(*command, *tls) as (servers,):
        (authority,) = tmp_path.glob("ca*.pem")
        exchange(servers, **{"security.protocol": "SSL", "ssl.ca.location": str(authority)})


def test_it_has_the_conformance_suite(folder: Path):
    with serving(folder / "kafkastub", "serve", "--port", "0") as (servers,):
        said = run(folder / "kafkastub", "conform", "--bootstrap-server", servers, "-k", "acks")
    assert "passed" in said


def test_it_is_a_launcher(folder: Path):
    with subprocess.Popen(
        [folder / "kafkastub", "launcher"], env=NOWHERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        ready = re.fullmatch(r"kafkastub launcher ready on (\S+) \(token (\S+)\)\n", process.stdout.readline())
        assert ready is not None
        request = urllib.request.Request(
            f"{ready[1]}/v1/stubs", b'{"topics": {"orders": 1}}', {"Authorization": f"Bearer {ready[2]}"}
        )
        with urllib.request.urlopen(request) as answer:
            exchange(json.load(answer)["bootstrap_servers"])
        process.stdin.close()
        assert process.wait(SECONDS) == 0


def test_a_stub_of_python_runs_in_its_process(folder: Path):
    with KafkaStub(topics={"orders": 1}, process=folder / "kafkastub") as stub:
        exchange(stub.bootstrap_servers)
        assert [record.value for record in stub.records("orders")] == [b"two teapots"]
        with pytest.raises(TopicError, match="a/b"):
            stub.create_topic("a/b")


def test_it_runs_in_a_system_without_python(folder: Path):
    """Debian 11 with nothing but its essential packages: another C library, and no Python."""
    system = CACHE / "debian11"
    if os.geteuid() != 0 or not system.exists():
        pytest.skip("a system without Python is made by `make binary-python`, and entered by root")
    place = system / "opt" / "kafkastub"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder, place)
    try:
        found = subprocess.run(
            ["chroot", system, "/bin/sh", "-c", "command -v python3 || command -v python"], check=False, stdout=-1
        )
        assert found.stdout == b""
        command = ("/usr/sbin/chroot", system, "/opt/kafkastub/kafkastub", "serve", "--port", "0")
        with serving(*command, "--topic", "orders:1", "--control-port", "0", lines=2) as (servers, control):
            exchange(servers)
            with urllib.request.urlopen(f"{control}/health") as answer:
                assert json.load(answer)["status"] == "healthy"
    finally:
        shutil.rmtree(place)
