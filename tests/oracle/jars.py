"""Apache Kafka's jars, from Maven Central into a cache folder of the checkout; Java itself, found and checked.

Nothing is resolved twice: the folder is complete once its marker file names the pom it was filled from.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = HERE.parents[1] / ".cache" / "oracle"
POM = HERE / "pom.xml"
LOG4J = HERE / "log4j2.xml"
REFERENCE = "4.4.0"
"""The release that the stub answers as."""
TOOLS = "4.3.1"
"""The newest release of which Maven Central has everything, command-line tools and Streams too."""
JAVA_AT_LEAST = 17
RESOLVE_SECONDS = 900


class OracleError(RuntimeError):
    """Apache Kafka, or a program for it, cannot be run or did not do what was asked; the text says which."""


class MissingTool(OracleError):
    """The machine has no Java or Maven that is good enough, or Maven cannot get Kafka's jars.

    Outside CI the tests that need them are skipped (`tests/conftest.py`).
    """


@cache
def java() -> str:
    """Path of a `java` of version 17 or later: from JAVA_HOME, else from PATH."""
    return _jdk_program("java")


@cache
def javac() -> str:
    """Path of the compiler that belongs to `java()`."""
    return _jdk_program("javac")


def _jdk_program(name: str) -> str:
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(name, path=Path(home) / "bin") if home else None
    found = found or shutil.which(name)
    if found is None:
        raise MissingTool(
            f"{name} is not on the PATH: Apache Kafka needs a JDK {JAVA_AT_LEAST} (openjdk-17-jdk-headless)"
        )
    shown = subprocess.run([found, "-version"], capture_output=True, text=True, check=False)
    match = re.search(r"(?:version \"|javac )(\d+)", shown.stderr + shown.stdout)
    if match is None or int(match[1]) < JAVA_AT_LEAST:
        version = match[1] if match else "unknown"
        raise MissingTool(f"{found} is version {version}: Apache Kafka 4 needs a JDK {JAVA_AT_LEAST} or later")
    return found


@cache
def class_path(release: str = "") -> str:
    """The class path with every jar of the pom, resolved with Maven at the first call ever.

    Args:
        release: another one than the reference, "3.9.2", with its tools and Streams. They do not work with the jars
            of another release: what they share moves from one to the next.

    Raises MissingTool where Maven is missing or cannot reach a repository.
    """
    release = release or REFERENCE
    wanted = hashlib.sha256(POM.read_bytes() + release.encode()).hexdigest()
    folder = CACHE / f"jars-{wanted[:12]}"
    marker = folder / ".complete"
    if not marker.exists():
        with only_one(CACHE / "resolve.lock"):
            if not marker.exists():
                _resolve(folder, release)
                marker.write_text(wanted)
    return f"{folder}/*"


def _resolve(folder: Path, release: str) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise MissingTool("mvn is not on the PATH: Apache Kafka's jars are resolved with Maven 3.6.3 or later (maven)")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = [maven, "--batch-mode", "--quiet", "--file", str(POM), "dependency:copy-dependencies"]
    command += ["-DincludeScope=runtime", f"-DoutputDirectory={folder}"]
    command.append(f"-Dkafka.version={release}")
    if release != REFERENCE:  # those before 4.0 bring log4j 1 for slf4j, which would be a second one
        command += ["--activate-profiles=tools", "-DexcludeArtifactIds=slf4j-reload4j"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=RESOLVE_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise MissingTool(f"Maven did not resolve Apache Kafka's jars within {RESOLVE_SECONDS} s") from None
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()
        raise MissingTool("Maven could not resolve Apache Kafka's jars: " + "\n".join(lines[:20]))


@contextmanager
def only_one(path: Path) -> Iterator[None]:
    """Hold the lock file `path`, so that parallel test processes fill a folder once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def compiled(source: Path, release: str = "") -> Path:
    """Folder with the classes of a Java source file and of those beside it that it names, compiled against the jars.

    Kept while the sources of its folder are the same.
    """
    sources = b"".join(one.read_bytes() for one in sorted(source.parent.glob("*.java")))
    digest = hashlib.sha256(sources + POM.read_bytes() + (release or REFERENCE).encode()).hexdigest()[:12]
    folder = CACHE / "classes" / f"{source.stem}-{digest}"
    marker = folder / ".complete"
    if not marker.exists():
        with only_one(CACHE / "compile.lock"):
            if not marker.exists():
                folder.mkdir(parents=True, exist_ok=True)
                command = [javac(), "-encoding", "UTF-8", "-d", str(folder), "-cp", class_path(release)]
                command += ["-sourcepath", str(source.parent), str(source)]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    raise OracleError(f"{source.name} does not compile:\n{done.stderr}")
                marker.touch()
    return folder


_QUICK_START = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_LONG_LIVED = (
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
)


def java_command(
    main_class: str,
    *args: str,
    classes: Path | None = None,
    heap_mb: int = 256,
    log_level: str = "WARN",
    release: str = "",
    long_lived: bool = False,
) -> list[str]:
    """Command line of one JVM with Kafka's jars; `classes` is put before them. Settings are for a quick start.

    With `long_lived` they are those of Kafka's own start script (kafka-run-class.sh): what is hot is compiled twice.
    """
    path = class_path(release) if classes is None else f"{classes}{os.pathsep}{class_path(release)}"
    return [
        java(),
        f"-Xmx{heap_mb}m",
        *(_LONG_LIVED if long_lived else _QUICK_START),
        "-Xshare:auto",
        "-Djava.awt.headless=true",
        f"-Dlog4j2.configurationFile={LOG4J}",
        f"-Doracle.log.level={log_level}",
        "-cp",
        path,
        main_class,
        *args,
    ]
