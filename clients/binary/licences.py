"""Prints the licences of all that the binary has in it, for the environment that runs this: THIRD-PARTY.txt."""

from __future__ import annotations

import sys
import sysconfig
from importlib.metadata import Distribution, distributions
from pathlib import Path

NOT_IN_IT = {"kafkastub", "pip", "setuptools", "wheel", "altgraph", "pyinstaller-hooks-contrib", "hatchling",
             "editables", "pathspec", "pluggy", "trove-classifiers", "packaging"}  # fmt: skip
"""What only builds; PyInstaller's own program is in it, and its licence allows that (the bootloader exception)."""


def texts(distribution: Distribution) -> list[tuple[str, str]]:
    """The licence files of a distribution."""
    found = []
    for file in distribution.files or []:
        if not any(part.endswith(".dist-info") for part in file.parts):
            continue
        if file.name.upper().startswith(("LICEN", "COPYING", "NOTICE", "AUTHORS")) or "licenses" in file.parts:
            found.append((str(file), Path(str(file.locate())).read_text(errors="replace")))
    return found


def main() -> int:
    print("kafkastub is under the Apache License 2.0, see LICENSE. This folder also has:\n")
    print(f"* Python {sys.version.split()[0]}, Python Software Foundation License")
    known = sorted(distributions(), key=lambda one: one.metadata["Name"].lower())
    packed = [one for one in known if one.metadata["Name"].lower() not in NOT_IN_IT]
    for one in packed:
        said = one.metadata.get("License-Expression") or one.metadata.get("License") or ""
        kinds = [kind.rpartition(" :: ")[2] for kind in one.metadata.get_all("Classifier", []) if "License" in kind]
        line = said.splitlines()[0] if said and len(said.splitlines()[0]) < 80 else ", ".join(kinds)
        print(f"* {one.metadata['Name']} {one.version}, {line or 'see below'}")
    print("* libraries that Python and the wheels above carry with them: OpenSSL, libffi, zlib, bzip2, xz, libuv")
    for name in ("LICENSE.txt", "LICENSE"):
        path = Path(sysconfig.get_path("stdlib")) / name
        if path.exists():
            print(f"\n{'=' * 100}\nPython\n{'=' * 100}\n{path.read_text(errors='replace')}")
            break
    for one in packed:
        for name, text in texts(one):
            print(f"\n{'=' * 100}\n{one.metadata['Name']}: {name}\n{'=' * 100}\n{text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
