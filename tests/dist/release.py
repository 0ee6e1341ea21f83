"""`make release`: builds everything that a release consists of, and tries each part where a user would.

python -m tests.dist.release [--dry-run] [--from STEP]    with the make targets below, in this order

It publishes nothing. It ends with the files in dist/, their sizes and their SHA-256.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
STEPS: Final = (
    "check", "test-all", "oracle", "test-pipeline", "test-pipeline-cluster", "examples", "dist", "site", "test-site",
    "test-docker", "binary-python", "test-binary", "clients-packages", "test-clients-packages", "test-clients-java",
)  # fmt: skip
"""Make targets. A step needs those before it."""


def version() -> str:
    """The version that is released."""
    found = re.search(r'^__version__ = "(.*)"$', (ROOT / "broker/kafkastub/version.py").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def not_ready(of: str) -> Iterator[str]:
    """What has to be done before version `of` can be released."""
    if _git("status", "--porcelain"):
        yield "commit what has changed: a release is made of a commit"
    if f'version = "{of}"' not in (ROOT / "pyproject.toml").read_text():
        yield f"pyproject.toml: version is not {of}"
    if f"\n## {of} " not in (ROOT / "CHANGELOG.md").read_text():
        yield f'CHANGELOG.md: there is no section "## {of} (DATE)"; rename "Unreleased"'
    if not (ROOT / f"tests/upgrades/{of}.tar.xz").exists():
        yield f"tests/upgrades/{of}.tar.xz is missing: python -m tests.upgrades.state writes it"
    for path, text in (
        ("clients/java/pom.xml", f"<version>{of}</version>"),
        ("clients/typescript/package.json", f'"version": "{of}"'),
        ("clients/rust/Cargo.toml", f'\nversion = "{of}"\n'),
        ("clients/rust/Cargo.toml", f'version = "={of}"'),
        ("clients/rust/binary/linux-x86-64/Cargo.toml", f'\nversion = "{of}"\n'),
    ):
        if text not in (ROOT / path).read_text():
            yield f"{path}: the version is not {of}"


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def built() -> Iterator[str]:
    """A line for each file in dist/."""
    for path in sorted((ROOT / "dist").iterdir()):
        if path.is_file():
            size = path.stat().st_size
            yield f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {size:>12,} bytes  {path.name}"


def main(argv: Sequence[str] | None = None) -> int:
    """Return the exit status."""
    parser = argparse.ArgumentParser(prog="make release", description=__doc__)
    parser.add_argument("--dry-run", action="store_true", help="print the steps and what is not ready")
    parser.add_argument("--from", dest="first", choices=STEPS, default=STEPS[0], help="begin with this step")
    given = parser.parse_args(argv)
    missing = list(not_ready(version()))
    for one in missing:
        print(f"not ready: {one}", file=sys.stderr)
    steps = STEPS[STEPS.index(given.first) :]
    if given.dry_run:
        print("\n".join(f"make {step}" for step in steps))
        return 0
    if missing:
        return 1
    for step in steps:
        begun = time.monotonic()
        # make hands its own ARGS on to every make below it, and they are of this command, not of the step
        status = subprocess.run(["make", "--no-print-directory", step, "ARGS="], cwd=ROOT, check=False).returncode
        print(f"make {step}: {'failed' if status else 'passed'} in {time.monotonic() - begun:.0f} s", flush=True)
        if status:
            print(f"make release ARGS='--from {step}' goes on from here", file=sys.stderr)
            return 1
    print(f"kafkastub {version()} is built:", *built(), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
