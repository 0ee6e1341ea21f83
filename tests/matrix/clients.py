"""The clients of the matrix: what each is, how its program is built and run.

Versions are read from the lock files that pin them. Programs are built into `.cache/matrix`, one folder a toolchain.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.matrix.scenario import CLASSIC, CONSUMER
from tests.matrix.scenarios import SHARE
from tests.toolchains import (
    CACHE,
    Unavailable,
    build_go,
    build_maven,
    changed,
    java_program,
    locked_go,
    locked_java,
    locked_python,
    need,
    run,
)

PROGRAMS: Final = Path(__file__).resolve().parent / "programs"
BUILT: Final = CACHE / "matrix"
GO: Final = PROGRAMS / "go"

KCAT_VERSION: Final = "1.7.1"
"""kcat comes with the system: another version is not the one that the document speaks of."""


@dataclass(frozen=True)
class Client:
    """One client library.

    Attributes:
        name: as its users call it.
        kit: the toolchain that builds its program, a key of KITS.
        version: reads the pinned version.
        command: gives the program's command line once it is built.
        protocols: of groups, that it speaks.
    """

    name: str
    language: str
    licence: str
    kit: str
    version: Callable[[], str]
    command: Callable[[], list[str]]
    protocols: tuple[str, ...] = (CLASSIC,)


def build(kit: str) -> None:
    """Build the programs of a toolchain. Raises Unavailable where it is missing or fails."""
    tool, steps = KITS[kit]
    need(tool)
    steps()


def _build_python() -> None:
    """Nothing is to be built: the libraries are those of requirements/dev.lock."""


def _check_kcat() -> None:
    shown = subprocess.run(["kcat", "-V"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"Version (\S+)", shown)
    if found is None or found[1] != KCAT_VERSION:
        raise Unavailable(f"this machine has no kcat {KCAT_VERSION} but {found[1] if found else 'an unknown one'}")


def _build_java() -> None:
    build_maven(PROGRAMS / "java", BUILT / "java")


def _build_go() -> None:
    build_go(PROGRAMS / "go", BUILT / "go")


def _build_node() -> None:
    """The packages are installed beside a copy of the programs, a Node.js among them (see `_node`)."""
    target = BUILT / "node"
    with changed(target, PROGRAMS / "node") as differs:
        if differs:
            shutil.copytree(PROGRAMS / "node", target, dirs_exist_ok=True)
            run(["npm", "ci", "--no-audit", "--no-fund"], target)


def _build_rust() -> None:
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--target-dir", str(BUILT / "rust")]
    run(command, PROGRAMS / "rust")


KITS: Final[dict[str, tuple[str, Callable[[], None]]]] = {
    "python": (sys.executable, _build_python),
    "kcat": ("kcat", _check_kcat),
    "java": ("mvn", _build_java),
    "go": ("go", _build_go),
    "node": ("npm", _build_node),
    "rust": ("cargo", _build_rust),
}
"""The program without which there is no such toolchain, and what builds."""


def _locked_node(package: str) -> Callable[[], str]:
    lock = PROGRAMS / "node" / "package-lock.json"
    return lambda: str(json.loads(lock.read_text())["packages"][f"node_modules/{package}"]["version"])


def _locked_rust(crate: str) -> Callable[[], str]:
    lock = PROGRAMS / "rust" / "Cargo.lock"
    return lambda: next(one["version"] for one in tomllib.loads(lock.read_text())["package"] if one["name"] == crate)


def _python(program: str) -> Callable[[], list[str]]:
    return lambda: [sys.executable, str(PROGRAMS / "python" / f"{program}_program.py")]


def _java() -> list[str]:
    return java_program(BUILT / "java", "Scenario")


def _built(*parts: str) -> Callable[[], list[str]]:
    return lambda: [str(BUILT.joinpath(*parts))]


def _node(program: str) -> Callable[[], list[str]]:
    """By the Node.js of the lock file: the newest clients ask for a newer one than distributions have."""
    target = BUILT / "node"
    return lambda: [str(target / "node_modules" / ".bin" / "node"), str(target / f"{program}.js")]


APACHE: Final = "Apache-2.0"
C_PYTHON: Final = "Python, on librdkafka"
RELEASE: Final = ("rust", "release")
BOTH: Final = (CLASSIC, CONSUMER)
ALL: Final = (CLASSIC, CONSUMER, SHARE)
CLIENTS: Final = (
    Client("aiokafka", "Python", APACHE, "python", locked_python("aiokafka"), _python("aiokafka")),
    Client("confluent-kafka", C_PYTHON, APACHE, "python", locked_python("confluent-kafka"), _python("confluent"), ALL),
    Client("kafka-python", "Python", APACHE, "python", locked_python("kafka-python"), _python("kafka_python")),
    Client("kafka-clients", "Java", APACHE, "java", locked_java(PROGRAMS / "java", "kafka-clients"), _java, ALL),
    Client("kcat", "program, on librdkafka", "BSD-2-Clause", "kcat", lambda: KCAT_VERSION, _python("kcat")),
    Client(
        "franz-go",
        "Go",
        "BSD-3-Clause",
        "go",
        locked_go(GO, "github.com/twmb/franz-go"),
        _built("go", "franz-go"),
        ALL,
    ),
    Client("sarama", "Go", "MIT", "go", locked_go(GO, "github.com/IBM/sarama"), _built("go", "sarama")),
    Client("kafka-go", "Go", "MIT", "go", locked_go(GO, "github.com/segmentio/kafka-go"), _built("go", "kafka-go")),
    Client("kafkajs", "JavaScript", "MIT", "node", _locked_node("kafkajs"), _node("kafkajs")),
    Client(
        "@platformatic/kafka",
        "JavaScript",
        APACHE,
        "node",
        _locked_node("@platformatic/kafka"),
        _node("platformatic"),
        BOTH,
    ),
    Client("rskafka", "Rust", "MIT or Apache-2.0", "rust", _locked_rust("rskafka"), _built(*RELEASE, "rskafka")),
    Client(
        "rust-rdkafka", "Rust, on librdkafka", "MIT", "rust", _locked_rust("rdkafka"), _built(*RELEASE, "rdkafka"), BOTH
    ),
)
