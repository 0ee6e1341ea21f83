"""`make binary`: a self-contained `kafkastub` for this machine's platform, packed into dist/.

    python -m clients.binary.build [--python PYTHON] [--out DIR]

The Python that is packed is PYTHON: what it needs of the C library, the binary needs. `python.sh` builds one with that
of Debian 11.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parents[1]
CACHE: Final = ROOT / ".cache" / "binary"
NAME: Final = "kafkastub"
MACHINES: Final = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
OLDEST_GLIBC: Final = 28
"""2.28, of RHEL 8."""
SYSTEMS: Final = {"linux": "linux", "darwin": "macos"}


def platform_name() -> str:
    """`linux-x86_64`, `macos-aarch64` …: as archives are called. Raises SystemExit where there is no recipe."""
    system, machine = SYSTEMS.get(sys.platform), MACHINES.get(platform.machine().lower())
    if system is None or machine is None:
        raise SystemExit(f"there is no recipe for a binary of {sys.platform} on {platform.machine()}")
    return f"{system}-{machine}"


def version() -> str:
    """Of kafkastub, as pyproject.toml has it."""
    import tomllib

    found: str = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    return found


def environment(python: str) -> Path:
    """A virtual environment with what is packed, and with the packager: made again when anything of it has changed."""
    lock = ROOT / "requirements" / "binary.lock"
    marker = hashlib.sha256(lock.read_bytes() + subprocess.check_output([python, "-VV"]) + python.encode()).hexdigest()
    folder = CACHE / "venv"
    bin_folder = folder / "bin"
    if not (folder / marker).exists():
        shutil.rmtree(folder, ignore_errors=True)
        _run(python, "-m", "venv", "--without-pip", str(folder))
        (site,) = (folder / "lib").glob("python3*/site-packages")
        _install(bin_folder, *_wheels(), "--target", str(site), "--require-hashes", "-r", str(lock))
        (folder / marker).touch()
    _install(bin_folder, "--no-deps", "--no-build-isolation", "--force-reinstall", str(ROOT))
    return bin_folder


def folder_of(bin_folder: Path) -> Path:
    """The folder that PyInstaller makes, with licences, without links."""
    work = CACHE / "work"
    shutil.rmtree(work, ignore_errors=True)
    _run(str(bin_folder / "python"), "-m", "PyInstaller", "--noconfirm", "--clean", "--log-level", "ERROR",
         "--distpath", str(work / "dist"), "--workpath", str(work / "build"), str(HERE / "kafkastub.spec"))  # fmt: skip
    made = work / "dist" / NAME
    plain = work / NAME
    shutil.copytree(made, plain)  # a link becomes the file that it points to
    licences = subprocess.check_output([bin_folder / "python", HERE / "licences.py"], text=True)
    (plain / "THIRD-PARTY.txt").write_text(licences)
    shutil.copy(ROOT / "LICENSE", plain / "LICENSE")
    (plain / "VERSION").write_text(version() + "\n")
    return plain


def pack(folder: Path, archive: Path) -> str:
    """Write the archive and its digest beside it; the same folder gives the same bytes. Gives the digest."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with (
        archive.open("wb") as raw,
        gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for path, name in _sorted(folder):
            info = _entry(path, name)
            if path.is_dir():
                tar.addfile(info)
            else:
                with path.open("rb") as content:
                    tar.addfile(info, content)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    archive.with_name(archive.name + ".sha256").write_text(f"{digest}  {archive.name}\n")
    return digest


def _sorted(folder: Path) -> Iterator[tuple[Path, str]]:
    yield folder, NAME
    for path in sorted(folder.rglob("*")):
        yield path, f"{NAME}/{path.relative_to(folder).as_posix()}"


def _entry(path: Path, name: str) -> tarfile.TarInfo:
    """Of nobody, and of no time."""
    info = tarfile.TarInfo(name)
    if path.is_dir():
        info.type, info.mode = tarfile.DIRTYPE, 0o755
    else:
        info.size = path.stat().st_size
        info.mode = 0o755 if os.access(path, os.X_OK) else 0o644
    return info


def _wheels() -> list[str]:
    """Options of pip that let it take no wheel for a newer C library than the oldest that the binary is to run with.

    By itself it takes the newest that this machine can run.
    """
    if sys.platform != "linux":
        return []
    machine = MACHINES[platform.machine().lower()]
    tags = [f"manylinux_2_{minor}_{machine}" for minor in range(17, OLDEST_GLIBC + 1)] + [f"manylinux2014_{machine}"]
    return ["--only-binary", ":all:", *(option for tag in tags for option in ("--platform", tag))]


def _install(bin_folder: Path, *what: str) -> None:
    """By this Python's pip: the other one need not have any."""
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(bin_folder / "python"))
    _run(*pip, "install", "--quiet", *what)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, cwd=HERE)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=os.environ.get("BINARY_PYTHON") or sys.executable)
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    arguments = parser.parse_args()
    folder = folder_of(environment(arguments.python))
    archive = arguments.out / f"{NAME}-{version()}-{platform_name()}.tar.gz"
    digest = pack(folder, archive)
    unpacked = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(
        f"{archive}: {archive.stat().st_size / 1e6:.1f} MB packed, {unpacked / 1e6:.1f} MB unpacked, SHA-256 {digest}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
