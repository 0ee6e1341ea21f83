"""What the Python programs share: the command line, and telling of a step."""

from __future__ import annotations

import json
import sys

PARTITIONS = range(4)
BATCH = 10
"""Records for each partition, the first time and the second."""
MIDDLE = 15
"""Where the members commit: in the middle of the second batch."""
SECONDS = 150.0
"""For anything that is waited for."""

BOOTSTRAP, TOPIC, GROUP = sys.argv[1:4]

Row = tuple[int, int, str]
"""Partition, offset and value of a record that was read."""


def value(partition: int, number: int) -> bytes:
    return f"{partition}-{number}".encode()


def shared(parts: list[list[int]]) -> bool:
    """Whether each member has partitions, and together they have all."""
    return all(parts) and sorted(partition for part in parts for partition in part) == list(PARTITIONS)


def tell(step: str, **seen: object) -> None:
    """Print a line, and wait until the runner has looked at the broker."""
    print(json.dumps({"step": step, **seen}), flush=True)
    if not sys.stdin.readline():
        sys.exit("the runner is gone")
