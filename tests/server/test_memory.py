"""What is freed stays with the process for a while, where the C library can be asked for it."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import sys
from pathlib import Path
from kafkastub.server.memory import keep_freed_memory

def resident_mb():
    return int(Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0]) // 1024

if sys.argv[1] == "keep":
    keep_freed_memory()
held = [bytes([1]) * 1_000_000 for _ in range(100)]
most = resident_mb()
del held
print(most - resident_mb())
"""


def given_back_mb(how: str) -> int:
    """What a process of its own gives back to the system of 100 MB that it frees."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="this machine has no glibc")
def test_freed_memory_is_kept_for_the_next_records() -> None:
    assert given_back_mb("keep") < 20
    assert given_back_mb("leave") > 60  # or the test shows nothing
