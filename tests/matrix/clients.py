"""The clients of the matrix: what each is, how its program is built and run.

Versions are read from the lock files that pin them. Programs are built into `.cache/matrix`, one folder a toolchain.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PROGRAMS: Final = Path(__file__).resolve().parent / "programs"
BUILT: Final = ROOT / ".cache" / "matrix"
BUILD_SECONDS: Final = 1800

KCAT_VERSION: Final = "1.7.1"
"""kcat comes with the system: another version is not the one that the document speaks of."""


class Unavailable(Exception):
    """A client cannot be run; the text says why."""


@dataclass(frozen=True)
class Client:
    """One client library.

    Attributes:
        name: as its users call it.
        kit: the toolchain that builds its program, a key of KITS.
        version: reads the pinned version.
        command: gives the program's command line once it is built.
    """

    name: str
    language: str
    licence: str
    kit: str
    version: Callable[[], str]
    command: Callable[[], list[str]]


def build(kit: str) -> None:
    """Build the programs of a toolchain. Raises Unavailable where it is missing or fails."""
    tool, steps = KITS[kit]
    if shutil.which(tool) is None:
        raise Unavailable(f"this machine has no {tool}")
    steps()


def _build_python() -> None:
    """Nothing is to be built: the libraries are those of requirements/dev.lock."""


def _check_kcat() -> None:
    shown = subprocess.run(["kcat", "-V"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"Version (\S+)", shown)
    if found is None or found[1] != KCAT_VERSION:
        raise Unavailable(f"this machine has no kcat {KCAT_VERSION} but {found[1] if found else 'an unknown one'}")


def _build_java() -> None:
    """Maven takes seconds to find that nothing is to be done."""
    target = BUILT / "java"
    goals = ["compile", "dependency:copy-dependencies", f"-DoutputDirectory={target / 'jars'}"]
    with _changed(target, PROGRAMS / "java") as changed:
        if changed:
            _run(["mvn", "-q", "-B", "-Dstyle.color=never", f"-Dmatrix.target={target}", *goals], PROGRAMS / "java")


def _build_go() -> None:
    target = BUILT / "go"
    target.mkdir(parents=True, exist_ok=True)
    _run(["go", "build", "-o", f"{target}{os.sep}", "./..."], PROGRAMS / "go")


def _build_node() -> None:
    """The packages are installed beside a copy of the programs, a Node.js among them (see `_node`)."""
    target = BUILT / "node"
    with _changed(target, PROGRAMS / "node") as changed:
        if changed:
            shutil.copytree(PROGRAMS / "node", target, dirs_exist_ok=True)
            _run(["npm", "ci", "--no-audit", "--no-fund"], target)


def _build_rust() -> None:
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--target-dir", str(BUILT / "rust")]
    _run(command, PROGRAMS / "rust")


@contextlib.contextmanager
def _changed(target: Path, sources: Path) -> Iterator[bool]:
    """Whether any source is another than at the last build that ended well; `target` is made."""
    files = sorted(path for path in sources.rglob("*") if path.is_file())
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    marker = target / ".built"
    target.mkdir(parents=True, exist_ok=True)
    changed = not marker.exists() or marker.read_text() != digest
    yield changed
    marker.write_text(digest)


def _run(command: Sequence[str], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{command[0]} did not end within {BUILD_SECONDS} s") from None
    if done.returncode:
        raise Unavailable(f"{' '.join(command[:2])} failed:\n{(done.stdout + done.stderr).strip()}")


KITS: Final[dict[str, tuple[str, Callable[[], None]]]] = {
    "python": (sys.executable, _build_python),
    "kcat": ("kcat", _check_kcat),
    "java": ("mvn", _build_java),
    "go": ("go", _build_go),
    "node": ("npm", _build_node),
    "rust": ("cargo", _build_rust),
}
"""The program without which there is no such toolchain, and what builds."""


def _locked_python(name: str) -> Callable[[], str]:
    lock = ROOT / "requirements" / "dev.lock"
    return lambda: _only(re.findall(rf"^{re.escape(name)}==([^\s;\\]+)", lock.read_text(), re.MULTILINE))


def _locked_go(module: str) -> Callable[[], str]:
    lock = PROGRAMS / "go" / "go.mod"
    return lambda: _only(re.findall(rf"^\s*{re.escape(module)} v(\S+)$", lock.read_text(), re.MULTILINE))


def _locked_node(package: str) -> Callable[[], str]:
    lock = PROGRAMS / "node" / "package-lock.json"
    return lambda: str(json.loads(lock.read_text())["packages"][f"node_modules/{package}"]["version"])


def _locked_rust(crate: str) -> Callable[[], str]:
    lock = PROGRAMS / "rust" / "Cargo.lock"
    return lambda: _only(one["version"] for one in tomllib.loads(lock.read_text())["package"] if one["name"] == crate)


def _locked_java(artifact: str) -> Callable[[], str]:
    text = PROGRAMS / "java" / "pom.xml"
    wanted = rf"<artifactId>{artifact}</artifactId>\s*<version>([^<]+)</version>"
    return lambda: _only(re.findall(wanted, text.read_text()))


def _only(found: Iterable[str]) -> str:
    (one,) = found
    return one


def _python(program: str) -> Callable[[], list[str]]:
    return lambda: [sys.executable, str(PROGRAMS / "python" / f"{program}_program.py")]


def _java() -> list[str]:
    path = os.pathsep.join((str(BUILT / "java" / "classes"), str(BUILT / "java" / "jars" / "*")))
    return ["java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", path, "Scenario"]


def _built(*parts: str) -> Callable[[], list[str]]:
    return lambda: [str(BUILT.joinpath(*parts))]


def _node(program: str) -> Callable[[], list[str]]:
    """By the Node.js of the lock file: the newest clients ask for a newer one than distributions have."""
    target = BUILT / "node"
    return lambda: [str(target / "node_modules" / ".bin" / "node"), str(target / f"{program}.js")]


APACHE: Final = "Apache-2.0"
C_PYTHON: Final = "Python, on librdkafka"
RELEASE: Final = ("rust", "release")
CLIENTS: Final = (
    Client("aiokafka", "Python", APACHE, "python", _locked_python("aiokafka"), _python("aiokafka")),
    Client("confluent-kafka", C_PYTHON, APACHE, "python", _locked_python("confluent-kafka"), _python("confluent")),
    Client("kafka-python", "Python", APACHE, "python", _locked_python("kafka-python"), _python("kafka_python")),
    Client("kafka-clients", "Java", APACHE, "java", _locked_java("kafka-clients"), _java),
    Client("kcat", "program, on librdkafka", "BSD-2-Clause", "kcat", lambda: KCAT_VERSION, _python("kcat")),
    Client("franz-go", "Go", "BSD-3-Clause", "go", _locked_go("github.com/twmb/franz-go"), _built("go", "franz-go")),
    Client("sarama", "Go", "MIT", "go", _locked_go("github.com/IBM/sarama"), _built("go", "sarama")),
    Client("kafka-go", "Go", "MIT", "go", _locked_go("github.com/segmentio/kafka-go"), _built("go", "kafka-go")),
    Client("kafkajs", "JavaScript", "MIT", "node", _locked_node("kafkajs"), _node("kafkajs")),
    Client(
        "@platformatic/kafka", "JavaScript", APACHE, "node", _locked_node("@platformatic/kafka"), _node("platformatic")
    ),
    Client("rskafka", "Rust", "MIT or Apache-2.0", "rust", _locked_rust("rskafka"), _built(*RELEASE, "rskafka")),
    Client("rust-rdkafka", "Rust, on librdkafka", "MIT", "rust", _locked_rust("rdkafka"), _built(*RELEASE, "rdkafka")),
)
