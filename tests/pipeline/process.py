"""The command as a user starts it: a process with a Java of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.waiting import until

SECONDS: Final = 600
JVM: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For a Java that lives for seconds: what the second compiler would gain it never earns back."""
SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": JVM,
    "spark.driver.host": "127.0.0.1",
}


@contextmanager
def started(said: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """`kafkastub-pipeline WORDS` in a process group of its own, killed if it still runs in the end.

    Args:
        said: a file for what it writes to standard output and standard error, Java's words included.
    """
    command = [sys.executable, "-m", "kafkastub_pipeline", *words, "--master", "local[2]"]
    for name, value in SETTINGS.items():
        command += ["--conf", f"{name}={value}"]
    with said.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, start_new_session=True)
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def runs_until(process: subprocess.Popen[bytes], said: Path, condition: Callable[[], bool], what: str) -> None:
    """Wait for what a running process does."""

    def done() -> bool:
        found = condition()
        assert found or process.poll() is None, f"it ended before {what}: {said.read_text()}"
        return found

    until(done, what, SECONDS)
