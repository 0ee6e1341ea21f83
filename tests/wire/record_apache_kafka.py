"""Record what Apache Kafka's own classes write and read: `python -m tests.wire.record_apache_kafka`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from tests.oracle.apache_kafka import OracleError, run_java

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "java" / "WireWitness.java"
GOLDEN = HERE / "apache_kafka_4.4.0.jsonl.gz"

Line = dict[str, Any]

SEED = 1
WRITTEN = 3
MUTATED = 16


def witnessed(seed: int, written: int = WRITTEN, mutated: int = MUTATED) -> str:
    """The JSON lines of the Java program, for every message and version. Raises OracleError."""
    done = run_java(SOURCE, str(seed), str(written), str(mutated))
    if done.returncode:
        raise OracleError(f"{SOURCE.name} failed:\n{done.stderr}")
    return done.stdout


def by_message(text: str) -> dict[str, list[Line]]:
    """Java class -> its lines."""
    found: dict[str, list[Line]] = {}
    for line in map(json.loads, text.splitlines()):
        found.setdefault(line["m"].partition(".")[0], []).append(line)
    return found


def golden() -> dict[str, list[Line]]:
    """What was recorded."""
    return by_message(gzip.decompress(GOLDEN.read_bytes()).decode())


if __name__ == "__main__":
    GOLDEN.write_bytes(gzip.compress(witnessed(SEED).encode(), 9, mtime=0))
    print(f"{GOLDEN.name}: {GOLDEN.stat().st_size} bytes, {sum(map(len, golden().values()))} lines")
