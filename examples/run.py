"""`make examples`: each project with its own tool. In CI a language that the machine does not have is a failure."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
BIN = HERE.parent / ".venv" / "bin"
JAVA_CLIENT = HERE.parent / "clients" / "java"
CONTAINERS = HERE.parent / ".cache" / "examples" / "testcontainers"
"""What the example with Testcontainers for Python needs is installed there: none of it is ours."""

MAVEN = ["mvn", "-q", "-B", "-Dstyle.color=never"]
INSTALLED = [
    *MAVEN, "-f", str(JAVA_CLIENT), "-pl", "!tests/guide,!tests/junit-6,!tests/spring-boot-4", "install",
    "-Dmaven.test.skip", "-Dcheckstyle.skip",
]  # fmt: skip
"""Puts our Java packages into the local repository: they are not published. Once for all projects that need them."""

CLIENT = str(HERE.parent / "clients" / "typescript")
"""The package that the example for Node.js takes from the checkout, where it has to be built."""

PROJECTS: dict[str, list[list[str]]] = {
    "pytest": [
        [str(BIN / "python"), "-m", "pytest", "-q", "-n", "2", "-p", "no:randomly"],
        [str(BIN / "python"), "-m", "pytest", "-q", "-n", "2", "-p", "randomly"],
    ],
    "java": [INSTALLED, [*MAVEN, "test"]],
    "streams": [INSTALLED, [*MAVEN, "test"]],
    "spring": [INSTALLED, [*MAVEN, "test"]],
    "go": [["go", "test", "-count=1", "./..."]],
    "node": [
        ["npm", "--prefix", CLIENT, "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
        ["npm", "--prefix", CLIENT, "run", "--silent", "build"],
        ["npm", "ci", "--no-audit", "--no-fund"],
        ["npm", "test"],
    ],
    "rust": [["cargo", "test", "--quiet", "--locked"]],
    "testcontainers/python": [
        [str(BIN / "python"), "-m", "venv", str(CONTAINERS)],
        [str(CONTAINERS / "bin" / "pip"), "install", "--quiet", "-r", "requirements.txt"],
        [str(CONTAINERS / "bin" / "mypy"), "--strict", "--config-file=", "."],
        [str(CONTAINERS / "bin" / "pytest"), "-q", "-ra"],
    ],
    "testcontainers/java": [INSTALLED, [*MAVEN, "test"]],
    "testcontainers/go": [["go", "vet", "./..."], ["go", "test", "-count=1", "./..."]],
    "testcontainers/node": [["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], ["npm", "test"]],
}
"""By folder. Those with containers are compiled; they run where an engine has the image `kafkastub`."""

WITHOUT_CONTAINERS = "--without-containers"
"""All but those: for who has run them already (`make test-docker` does)."""


def main(wanted: list[str]) -> int:
    """Run the projects named, or all, or WITHOUT_CONTAINERS; gives the exit status."""
    if wanted == [WITHOUT_CONTAINERS]:
        wanted = [name for name in PROJECTS if not name.startswith("testcontainers/")]
    unknown = set(wanted) - set(PROJECTS)
    if unknown:
        print(f"no such example: {', '.join(sorted(unknown))}; there are {', '.join(PROJECTS)}", file=sys.stderr)
        return 2
    environment = {**os.environ, "KAFKASTUB": str(BIN / "kafkastub")}
    # The janitor of Testcontainers is an image of a registry, which may be out of reach; the examples clean up.
    environment.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")
    # Where there is a /.dockerenv, Testcontainers takes itself for a guest and looks for the ports at a gateway that it
    # asks another image for. The engine is this machine's.
    environment.setdefault("TESTCONTAINERS_HOST_OVERRIDE", "localhost")
    failed: list[str] = []
    done: list[list[str]] = []
    for name in wanted or PROJECTS:
        tool = PROJECTS[name][0][0]
        if shutil.which(tool) is None:
            print(f"{name}: this machine has no {tool}", flush=True)
            if os.environ.get("CI") == "true":
                failed.append(name)
            continue
        started = time.monotonic()
        for command in PROJECTS[name]:
            if command in done:
                continue
            if subprocess.run(command, cwd=HERE / name, env=environment, check=False).returncode:
                failed.append(name)
                break
            if command is INSTALLED:
                done.append(command)
        print(f"{name}: {'failed' if name in failed else 'passed'} in {time.monotonic() - started:.1f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
