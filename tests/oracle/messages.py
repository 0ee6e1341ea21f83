"""Generate `kafkawire/messages` from the jars of the oracle: `python -m tests.oracle.messages [--check]`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.oracle.jars import OracleError, class_path

ROOT = Path(__file__).resolve().parents[2]
JARS = ("kafka-clients", "kafka-group-coordinator", "kafka-share-coordinator", "kafka-transaction-coordinator")


def main(arguments: list[str]) -> int:
    folder = Path(class_path().removesuffix("*"))
    found = [next(folder.glob(f"{name}-[0-9]*.jar")) for name in JARS]
    command = [sys.executable, str(ROOT / "protocol" / "generator"), *map(str, found), *arguments]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except OracleError as error:
        sys.exit(f"cannot generate messages: {error}")
