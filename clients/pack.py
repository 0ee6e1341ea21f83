"""`make clients-packages`: the packages for Go, Node.js and Rust as they are published, from what `make binary` makes.

    python -m clients.pack [--archive FILE] [--out DIR]

DIR/npm has tarballs of `npm pack`, DIR/go is a module proxy in files (GOPROXY=file://DIR/go), DIR/cargo has the files
of `cargo package`. Nothing is published.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from clients.binary.build import platform_name, version

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parent
GO_MODULE: Final = "github.com/kafkastub/kafkastub-go"
NODE_PLATFORMS: Final = {"linux-x86_64": ("linux", "x64")}
RUST_PLATFORMS: Final = {"linux-x86_64": "linux-x86-64"}
GO_PLATFORMS: Final = {"linux-x86_64": "archive_linux_amd64"}
_DATE: Final = (1980, 1, 1, 0, 0, 0)


def npm(archive: Path, out: Path) -> list[Path]:
    """The package, and that of the packaged command for this platform, which it depends on where npm can have it."""
    out.mkdir(parents=True, exist_ok=True)
    system, machine = NODE_PLATFORMS[platform_name()]
    name = f"@kafkastub/{system}-{machine}"
    with tempfile.TemporaryDirectory() as folder:
        command = Path(folder, "command")
        command.mkdir()
        with tarfile.open(archive) as packed:
            packed.extractall(command, filter="data")
        about = {
            "name": name, "version": version(), "description": "The packaged kafkastub for one platform.",
            "license": "Apache-2.0", "os": [system], "cpu": [machine], "files": ["kafkastub"],
            "bin": {"kafkastub": "kafkastub/kafkastub"}, "preferUnplugged": True,
        }  # fmt: skip
        (command / "package.json").write_text(json.dumps(about, indent=2))
        library = Path(folder, "library")
        shutil.copytree(HERE / "typescript" / "dist", library / "dist")
        described = json.loads((HERE / "typescript" / "package.json").read_text())
        for only_here in ("scripts", "devDependencies"):
            del described[only_here]
        described["optionalDependencies"] = {
            f"@kafkastub/{one}-{other}": version() for one, other in NODE_PLATFORMS.values()
        }
        (library / "package.json").write_text(json.dumps(described, indent=2))
        return [_npm_packed(one, out) for one in (library, command)]


def _npm_packed(folder: Path, out: Path) -> Path:
    shutil.copy(ROOT / "LICENSE", folder / "LICENSE")
    said = subprocess.run(
        ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", str(out)],
        cwd=folder, check=True, stdout=subprocess.PIPE, text=True,
    ).stdout  # fmt: skip
    return out / said.split()[-1]


def go(archive: Path, out: Path) -> None:
    """A module proxy in files with the package, and with that of the packaged command."""
    sources = [path for path in (HERE / "go").glob("*") if path.is_file() and not path.name.endswith("_test.go")]
    _go_module(out, GO_MODULE, {path.name: path.read_bytes() for path in sources})
    packed = {
        path.name: path.read_bytes() for path in (HERE / "go" / "binary").glob("*") if path.suffix in (".go", ".mod")
    }
    for platform, name in GO_PLATFORMS.items():
        file = f"{name}.go"
        packed[file] = packed[file].replace(b"//go:build packed\n\n", b"")
        assert platform == platform_name()
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    packed[f"kafkastub-{platform_name()}.tar.gz"] = archive.read_bytes()
    packed[f"kafkastub-{platform_name()}.tar.gz.sha256"] = f"{digest}  {archive.name}\n".encode()
    packed["VERSION"] = version().encode()
    packed["go.mod"] = re.sub(rb"\nreplace .*\n", b"", packed["go.mod"])
    _go_module(out, f"{GO_MODULE}/binary", packed)


def _go_module(out: Path, module: str, files: dict[str, bytes]) -> None:
    """As the protocol of module proxies has it."""
    named = f"v{version()}"
    place = out / module / "@v"
    place.mkdir(parents=True, exist_ok=True)
    (place / "list").write_text(f"{named}\n")
    (place / f"{named}.info").write_text(json.dumps({"Version": named, "Time": "2026-01-01T00:00:00Z"}))
    (place / f"{named}.mod").write_bytes(files["go.mod"])
    with zipfile.ZipFile(place / f"{named}.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in _sorted({**files, "LICENSE": (ROOT / "LICENSE").read_bytes()}):
            packed.writestr(zipfile.ZipInfo(f"{module}@{named}/{name}", _DATE), content, zipfile.ZIP_DEFLATED)


def _sorted(files: dict[str, bytes]) -> Iterable[tuple[str, bytes]]:
    return sorted(files.items())


def cargo(archive: Path, out: Path) -> list[Path]:
    """The crate, and that of the packaged command for this platform, which it depends on with the feature `binary`.

    The command's crate is larger than the 10 MB that a public registry takes without an arrangement.
    """
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder, "rust")
        shutil.copytree(HERE / "rust", workspace, ignore=shutil.ignore_patterns("target", "tests"))
        command = workspace / "binary" / RUST_PLATFORMS[platform_name()]
        with tarfile.open(archive) as packed:
            packed.extractall(command, filter="data")
        for crate in (workspace, command):
            shutil.copy(ROOT / "LICENSE", crate / "LICENSE")
        # What is packed is not built here, and which versions a user gets is the user's choice.
        subprocess.run(
            ["cargo", "package", "--quiet", "--workspace", "--no-verify", "--exclude-lockfile", "--allow-dirty",
             "--target-dir", str(Path(folder, "target"))],
            cwd=workspace, check=True,
        )  # fmt: skip
        found = sorted(Path(folder, "target", "package").glob("*.crate"))
        return [Path(shutil.copy(path, out)) for path in found]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--archive", type=Path, default=ROOT / "dist" / f"kafkastub-{version()}-{platform_name()}.tar.gz"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist" / "packages")
    arguments = parser.parse_args()
    if not arguments.archive.exists():
        parser.error(f"{arguments.archive} is not there: run `make binary` first")
    shutil.rmtree(arguments.out, ignore_errors=True)
    for path in npm(arguments.archive, arguments.out / "npm"):
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    for path in cargo(arguments.archive, arguments.out / "cargo"):
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    go(arguments.archive, arguments.out / "go")
    print(f"{arguments.out / 'go'}: GOPROXY=file://{(arguments.out / 'go').resolve()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
