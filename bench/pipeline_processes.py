"""What processes cost: CPU and memory of a tree of them, and of a driver with a cluster of Spark's."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def usage(process: int | None = None) -> tuple[float, int]:
    """CPU seconds and resident bytes of a process and all below it, dead children included; by default of this one.

    A Java that is about to start a process has itself twice for a moment, over the same memory: that counts once.
    """
    seconds, resident = 0.0, 0
    parents: dict[int, list[int]] = {}
    figures: dict[int, tuple[float, int]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(") ")[2].split()
            command = (entry / "cmdline").read_bytes()
            if _is_java(command) and command == Path(f"/proc/{fields[1]}/cmdline").read_bytes():
                continue
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(entry.name))
        figures[int(entry.name)] = sum(map(int, fields[11:15])) / _TICK, int(fields[21]) * _PAGE
    left = [os.getpid() if process is None else process]
    while left:
        pid = left.pop()
        left += parents.get(pid, [])
        seconds, resident = seconds + figures.get(pid, (0, 0))[0], resident + figures.get(pid, (0, 0))[1]
    return seconds, resident


def _is_java(command: bytes) -> bool:
    return command.partition(b"\0")[0].endswith(b"java")


def on_cluster(command: Sequence[str], folder: Path, workers: int) -> dict[str, float]:
    """A driver on a cluster of its own: what it tells, CPU seconds of all, and the largest bytes of a worker.

    Args:
        command: the driver's, which takes `--out` and `--master`, and ends with a line of JSON.
    """
    from tests.pipeline.spark_cluster import spark_cluster

    ended, peak = threading.Event(), 0
    with tempfile.TemporaryDirectory(dir=folder) as root, spark_cluster(Path(root), workers) as cluster:

        def watch() -> None:
            nonlocal peak
            while not ended.wait(0.5):
                peak = max(peak, *(usage(one.pid)[1] for one in cluster.workers))

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        cpu = usage()[0]
        words = [*command, "--out", f"{root}/out", "--master", cluster.master]
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False)
        finally:
            ended.set()
            watcher.join()
        if done.returncode:
            raise SystemExit(f"{' '.join(words)} failed:\n{done.stderr[-2000:]}")
        found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        return found | {"cpu": usage()[0] - cpu, "peak": float(peak)}
