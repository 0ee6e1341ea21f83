"""Programs in other languages that tests run: built into `.cache`, one folder a toolchain, with pinned versions."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
CACHE: Final = ROOT / ".cache"
BUILD_SECONDS: Final = 1800


class Unavailable(Exception):
    """A program cannot be built or run; the text says why."""


def need(tool: str) -> None:
    """Raises Unavailable where the machine has no such program."""
    if shutil.which(tool) is None:
        raise Unavailable(f"this machine has no {tool}")


def run(command: Sequence[str], folder: Path) -> None:
    """Run a step of a build. Raises Unavailable with what it said, where it fails."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{command[0]} did not end within {BUILD_SECONDS} s") from None
    if done.returncode:
        raise Unavailable(f"{' '.join(command[:2])} failed:\n{(done.stdout + done.stderr).strip()}")


@contextlib.contextmanager
def changed(target: Path, sources: Path) -> Iterator[bool]:
    """Whether any source is another than at the last build that ended well; `target` is made."""
    files = sorted(path for path in sources.rglob("*") if path.is_file())
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    marker = target / ".built"
    target.mkdir(parents=True, exist_ok=True)
    differs = not marker.exists() or marker.read_text() != digest
    yield differs
    marker.write_text(digest)


def build_maven(sources: Path, target: Path) -> None:
    """Compile a Maven project to `target`/classes, and put the jars that it needs into `target`/jars.

    Its pom takes the folder as `built.target`. Maven takes seconds to find that nothing is to be done: it is asked
    where a source has changed.
    """
    goals = ["compile", "dependency:copy-dependencies", f"-DoutputDirectory={target / 'jars'}"]
    with changed(target, sources) as differs:
        if differs:
            shutil.rmtree(target / "jars", ignore_errors=True)
            run(["mvn", "-q", "-B", "-Dstyle.color=never", f"-Dbuilt.target={target}", *goals], sources)


def java_program(target: Path, main_class: str, *args: str, heap_mb: int = 128, flags: Sequence[str] = ()) -> list[str]:
    """The command line of a program that `build_maven` has built. Settings are for a quick start."""
    path = os.pathsep.join((str(target / "classes"), str(target / "jars" / "*")))
    quick = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    return ["java", f"-Xmx{heap_mb}m", *quick, *flags, "-cp", path, main_class, *args]


def build_go(sources: Path, target: Path) -> None:
    """Build a Go module's programs into `target`."""
    target.mkdir(parents=True, exist_ok=True)
    run(["go", "build", "-o", f"{target}{os.sep}", "./..."], sources)


def locked_python(name: str) -> Callable[[], str]:
    """Reads the version of a library in requirements/dev.lock."""
    lock = ROOT / "requirements" / "dev.lock"
    return lambda: _only(re.findall(rf"^{re.escape(name)}==([^\s;\\]+)", lock.read_text(), re.MULTILINE))


def locked_go(folder: Path, module: str) -> Callable[[], str]:
    """Reads the version of a module in a go.mod."""
    return lambda: _only(
        re.findall(rf"^(?:require)?\s*{re.escape(module)} v(\S+)$", (folder / "go.mod").read_text(), re.MULTILINE)
    )


def locked_java(folder: Path, artifact: str) -> Callable[[], str]:
    """Reads the version of an artifact in a pom.xml."""
    wanted = rf"<artifactId>{artifact}</artifactId>\s*<version>([^<]+)</version>"
    return lambda: _only(re.findall(wanted, (folder / "pom.xml").read_text()))


def _only(found: Iterable[str]) -> str:
    (one,) = found
    return one
