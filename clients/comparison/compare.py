"""`make bench-clients`: the same five tests in Go, TypeScript and Rust, with kafkastub and with what runs without it.

    python -m clients.comparison.compare [--rounds 3] [go] [typescript] [rust]

Prints the lines of each side and the median of the seconds that its tests take, with the launcher's start and without
compilation; and the milliseconds of one of 200 tests that have a broker each, two at a time. What both sides share is
not counted. The Java packages have a comparison of their own (`make bench-clients-java`).
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Final, NamedTuple

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parents[1]
CARGO: Final = {"CARGO_TARGET_DIR": str(ROOT / ".cache" / "clients-rust")}
SEVERAL: Final = 200


class Side(NamedTuple):
    """Tests of a language with one kind of broker."""

    name: str
    tests: int
    file: str
    command: tuple[str, ...]
    many: tuple[str, ...] = ()
    """What runs the 200 tests."""


class Language(NamedTuple):
    prepare: tuple[tuple[str, ...], ...]
    sides: tuple[Side, ...]


def _go(name: str) -> tuple[str, ...]:
    return ("./comparison.test", "-test.count=1", "-test.parallel=2", f"-test.run=^{name}")


LANGUAGES: Final = {
    "go": Language(
        (("go", "test", "-c", "-o", "comparison.test", "."),),
        (
            Side("kafkastub", 5, "kafkastub_test.go", _go("TestKafkastub"), _go("TestManyKafkastub")),
            Side("kfake", 5, "kfake_test.go", _go("TestKfake"), _go("TestManyKfake")),
        ),
    ),
    "typescript": Language(
        (
            ("npm", "--prefix", "../../typescript", "ci", "--no-audit", "--no-fund", "--ignore-scripts"),
            ("npm", "--prefix", "../../typescript", "run", "--silent", "build"),
            ("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"),
            ("npx", "--no-install", "tsc"),
        ),
        (
            Side("kafkastub", 5, "kafkastub.test.ts", ("node", "--test", "build/kafkastub.test.js"),
                 ("node", "--test", "build/many.test.js")),
        ),
    ),
    "rust": Language(
        (("cargo", "test", "--quiet", "--locked", "--no-run"),),
        (
            Side("kafkastub", 5, "tests/kafkastub.rs", ("cargo", "test", "-q", "--locked", "--test", "kafkastub")),
            Side("MockCluster", 3, "tests/mock_cluster.rs",
                 ("cargo", "test", "-q", "--locked", "--test", "mock_cluster")),
        ),
    ),
}  # fmt: skip


def lines(path: Path) -> int:
    """Lines that somebody has written: without imports, comments and blank ones."""
    count, inside = 0, False
    for line in path.read_text().splitlines():
        text = line.strip()
        inside = inside or text == "import ("
        if text and not inside and not text.startswith(("import ", "package ", "use ", "mod ", "//", "/*", "*")):
            count += 1
        inside = inside and text != ")"
    return count


def run(command: tuple[str, ...], folder: Path) -> float:
    """Seconds that a command took. Raises CalledProcessError, with what it said on standard error."""
    environment = {"KAFKASTUB": str(ROOT / ".venv" / "bin" / "kafkastub"), **os.environ, **CARGO}
    environment["KAFKAJS_NO_PARTITIONER_WARNING"] = "1"
    begun = time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        raise subprocess.CalledProcessError(done.returncode, command)
    return time.perf_counter() - begun


def compared(name: str, rounds: int) -> None:
    language, folder = LANGUAGES[name], HERE / name
    tool = language.prepare[0][0]
    if shutil.which(tool) is None:
        print(f"{name}: this machine has no {tool}")
        return
    for command in language.prepare:
        run(command, folder)
    five: dict[str, list[float]] = {side.name: [] for side in language.sides}
    for _ in range(rounds):  # in turns: what else the machine does is the same for all
        for side in language.sides:
            five[side.name].append(run(side.command, folder))
    for side in language.sides:
        each = f"{run(side.many, folder) / SEVERAL * 1000:9.0f}" if side.many else f"{'-':>9}"
        seconds = statistics.median(five[side.name])
        print(f"{name:12}{side.name:12}{side.tests:6}{lines(folder / side.file):7}{seconds:9.1f}{each}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", choices=[*LANGUAGES, []], help="all by default")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print(f"{'language':12}{'with':12}{'tests':>6}{'lines':>7}{'seconds':>9}{'ms each':>9}")
    for name in arguments.languages or LANGUAGES:
        compared(name, arguments.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
