"""The Pythons of this machine, and the programs that are installed into environments of theirs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.dist.build import ROOT, SECONDS

PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
VERSIONS: Final = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", one)]
_ASKED: Final = "import ensurepip, ssl, sys, venv; print('%d.%d' % sys.version_info[:2])"


def python(version: str) -> str | None:
    """An interpreter of that version, such as "3.12", that can make environments; None where this machine has none."""
    return next((one for one in _candidates(version) if _is(one, version)), None)


def _candidates(version: str) -> Iterator[str]:
    """As Debian and others name it; those of pyenv; those that uv knows."""
    found = shutil.which(f"python{version}")
    if found:
        yield found
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    yield from sorted(map(str, versions.glob(f"{version}.*/bin/python")))
    if shutil.which("uv"):
        asked = ["uv", "python", "find", "--no-python-downloads", version]
        said = subprocess.run(asked, capture_output=True, text=True, timeout=SECONDS, check=False)
        if not said.returncode:
            yield said.stdout.strip()


def _is(interpreter: str, version: str) -> bool:
    try:
        said = subprocess.run([interpreter, "-c", _ASKED], capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        return False
    return said.stdout.strip() == version


def locked(*names: str) -> list[str]:
    """`name==version` of requirements/dev.lock: of all, or of these."""
    pinned = re.findall(r"^([a-z0-9._-]+)==([^ ]+)", (ROOT / "requirements" / "dev.lock").read_text(), re.MULTILINE)
    return [f"{name}=={version}" for name, version in pinned if not names or name in names]


def run(command: Sequence[str | Path], **more: object) -> str:
    """Its standard output. Fails with all that it said."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=SECONDS, **more)  # type: ignore[call-overload]
    said = f"{done.stdout}{done.stderr}"
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{said}"
    return str(done.stdout)


def no_index() -> dict[str, str]:
    """The environment of a pip that asks nobody: neither its configuration nor ours names one."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}
    return {**kept, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
