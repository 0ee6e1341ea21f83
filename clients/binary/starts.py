"""`make binary-starts`: many starts of the binary, one after the other, each of which has to answer and to end well.

    python -m clients.binary.starts [--command COMMAND] [--starts 1000] [--beside COMMAND]

Prints how long the ready line took, and how much memory the process had then; --beside does the same with another
command, in turns. The status is 1 where a start failed.
"""

from __future__ import annotations

import argparse
import re
import signal
import socket
import statistics
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from clients.binary.build import CACHE, NAME

READY: Final = re.compile(r"kafkastub ready on 127\.0\.0\.1:(\d+) ")
_API_VERSIONS: Final = struct.pack(">ihhihc", 11, 18, 0, 7, 1, b"x")
"""Version 0, correlation id 7, of a client that is called x."""
_SECONDS: Final = 60


class Failed(Exception):
    """A start that was none; the text says what happened."""


def start(command: str) -> tuple[float, float]:
    """Start, ask, end: milliseconds to the ready line, and megabytes that the process had. Raises Failed."""
    begun = time.perf_counter()
    with subprocess.Popen(
        [command, "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        took = (time.perf_counter() - begun) * 1000
        ready = READY.match(line)
        if ready is None:
            process.kill()
            raise Failed(f"it said {line!r}, on standard error {process.stderr.read()!r}, status {process.wait()}")
        memory = _memory(process.pid)
        try:
            _ask(int(ready[1]))
        finally:
            process.send_signal(signal.SIGTERM)
            status = process.wait(_SECONDS)
        said = process.stderr.read()
        if status or said:
            raise Failed(f"it ended with status {status} and said {said!r}")
    return took, memory


def _ask(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=_SECONDS) as connection:
        connection.sendall(_API_VERSIONS)
        if connection.recv(8)[4:] != struct.pack(">i", 7):
            raise Failed("it did not answer ApiVersions")


def _memory(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:  # not on Linux
        return float("nan")
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return int(found[1]) / 1024 if found else float("nan")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", default=str(CACHE / "work" / NAME / NAME))
    parser.add_argument("--beside", help="another command, for comparison")
    parser.add_argument("--starts", type=int, default=1000)
    arguments = parser.parse_args()
    commands = [arguments.command, *([arguments.beside] if arguments.beside else [])]
    found: dict[str, list[tuple[float, float]]] = {command: [] for command in commands}
    failed = 0
    for number in range(1, arguments.starts + 1):
        for command in commands:
            try:
                found[command].append(start(command))
            except (Failed, OSError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"start {number} of {command} failed: {error}", file=sys.stderr, flush=True)
    for command, starts in found.items():
        times = sorted(took for took, _ in starts) or [float("nan")]
        memory = statistics.median(had for _, had in starts) if starts else float("nan")
        p50, p99 = times[len(times) // 2], times[int(len(times) * 0.99)]
        print(
            f"{command}: {len(starts)} starts, ready after {times[0]:.0f} ms at least, p50 {p50:.0f} ms, "
            f"p99 {p99:.0f} ms, at most {times[-1]:.0f} ms; {memory:.1f} MB"
        )
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
