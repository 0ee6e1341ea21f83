"""The contract of `make check` that no two modules import each other finds a circle however it is closed."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT_IMPORTS = Path(sys.executable).parent / "lint-imports"
BACK = {
    "at the top": "from house import upstairs\n",
    "for types": "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from house.upstairs import Room\n",
    "inside a function": "def up():\n    from house.upstairs import Room\n\n    return Room\n",
    "between folders": "from house.attic.box import BOX\n",
    "not at all": "",
}


@pytest.mark.parametrize("closed", BACK)
def test_a_circle_is_found(tmp_path: Path, closed: str):
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (kind,) = (contract["type"] for contract in contracts if contract["name"].startswith("no circles"))
    house = tmp_path / "house"
    (house / "attic").mkdir(parents=True)
    for package in (house, house / "attic"):
        (package / "__init__.py").touch()
    (house / "upstairs.py").write_text("from house.downstairs import *\n\n\nclass Room: ...\n")
    (house / "attic" / "box.py").write_text("from house.downstairs import *\n\nBOX = 1\n")
    (house / "downstairs.py").write_text(BACK[closed])
    contract = f"[importlinter:contract:a]\nname = a\ntype = {kind}\nancestors = house\n"
    (tmp_path / ".importlinter").write_text(f"[importlinter]\nroot_package = house\n\n{contract}")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [LINT_IMPORTS, "--no-cache"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode == 0) is (closed == "not at all"), done.stdout + done.stderr
