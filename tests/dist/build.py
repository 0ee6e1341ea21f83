"""Build wheel and sdist from what git knows, in a folder of its own: `python -m tests.dist.build dist`."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[2]
SECONDS: Final = 300


class Built(NamedTuple):
    """Where they are."""

    wheel: Path
    sdist: Path


def copy_sources(to: Path) -> None:
    """The files of this checkout that are committed, or would be: what lies about here is not for others."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True, text=True, timeout=SECONDS).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, to / name)


def build(sources: Path, out: Path, epoch: int | None = None) -> Built:
    """Raises subprocess.CalledProcessError. `epoch`: SOURCE_DATE_EPOCH, without one hatchling has its own date."""
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    if epoch is not None:
        environment["SOURCE_DATE_EPOCH"] = str(epoch)
    out.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(out)]
    subprocess.run(command, cwd=sources, env=environment, check=True, capture_output=True, timeout=SECONDS)
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return Built(wheel, sdist)


def main(out: Path) -> None:
    """Into a folder from which what was built before goes."""
    work = out / ".sources"
    shutil.rmtree(work, ignore_errors=True)
    for old in (*out.glob("kafkastub-*.whl"), *out.glob("kafkastub-*.tar.gz")):
        old.unlink()
    work.mkdir(parents=True)
    try:
        copy_sources(work)
        for path in build(work, out):
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            print(f"{path.stat().st_size:>9} bytes  sha256 {digest}  {path}")
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
