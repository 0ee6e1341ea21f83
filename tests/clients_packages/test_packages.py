"""The clients in other languages, tried by their own tools against the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Final

import pytest
from clients.binary.build import platform_name

from clients import pack
from tests.toolchains import ROOT, changed

pytestmark = pytest.mark.clients_packages

GO: Final = ROOT / "clients" / "go"
RUST: Final = ROOT / "clients" / "rust"
TYPESCRIPT: Final = ROOT / "clients" / "typescript"
SECONDS: Final = 600


def run(*command: str, cwd: Path, **more: str) -> str:
    """What a tool says. Fails with all of it, and skips where the machine has no such tool."""
    if shutil.which(command[0]) is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"this machine has no {command[0]}")
        pytest.skip(f"this machine has no {command[0]}")
    environment = {**os.environ, "KAFKASTUB": str(Path(sys.executable).parent / "kafkastub"), **more}
    done = subprocess.run(
        command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def node_package() -> Path:
    """clients/typescript with what it needs, built."""
    run("node", "--version", cwd=TYPESCRIPT)
    lock = ROOT / ".cache" / "clients-typescript-lock"
    lock.mkdir(parents=True, exist_ok=True)
    shutil.copy(TYPESCRIPT / "package-lock.json", lock / "package-lock.json")
    with changed(ROOT / ".cache" / "clients-typescript", lock) as differs:
        if differs or not (TYPESCRIPT / "node_modules").exists():
            run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", cwd=TYPESCRIPT)
    run("npm", "run", "--silent", "build", cwd=TYPESCRIPT)
    return TYPESCRIPT


def test_go():
    assert run("gofmt", "-l", ".", cwd=GO) == ""
    run("go", "vet", "./...", cwd=GO)
    run("go", "test", "-count=1", "./...", cwd=GO)


def cargo(*command: str, cwd: Path = RUST, **more: str) -> str:
    """What Cargo says. It builds into .cache, whatever the crate."""
    return run("cargo", *command, cwd=cwd, CARGO_TARGET_DIR=str(ROOT / ".cache" / "clients-rust"), **more)


def test_rust():
    cargo("fmt", "--check")
    cargo("clippy", "--quiet", "--locked", "--all-targets", "--all-features", "--", "--deny", "warnings")
    cargo("test", "--quiet", "--locked")


def test_types_of_rust_are_what_the_description_says():
    cargo("--version")
    run(sys.executable, "-m", "clients.generate", "--check", "rust", cwd=ROOT)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An archive as `make binary` makes it, with a command that starts the one of the checkout."""
    command = tmp_path / "kafkastub"
    command.write_text(f'#!/bin/sh\nexec {Path(sys.executable).parent / "kafkastub"} "$@"\n')
    command.chmod(0o755)
    packed = tmp_path / "kafkastub.tar.gz"
    with tarfile.open(packed, "w:gz") as made:
        made.add(command, "kafkastub/kafkastub")
    return packed


def test_the_crates_start_a_stub_without_a_command_on_the_path(archive: Path, tmp_path: Path):
    cargo("--version")
    if platform_name() not in pack.RUST_PLATFORMS:
        pytest.skip(f"there is no crate with the packaged command for {platform_name()}")
    crates = {}
    for file in pack.cargo(archive, tmp_path / "crates"):
        with tarfile.open(file) as packed:
            packed.extractall(tmp_path / "unpacked", filter="tar")
        name, _, _ = file.stem.rpartition("-")
        crates[name] = tmp_path / "unpacked" / file.stem
    assert crates.keys() == {"kafkastub", "kafkastub-linux-x86-64"}
    empty = tmp_path / "empty"
    (empty / "src").mkdir(parents=True)
    (empty / "src" / "lib.rs").write_text(
        "#[test]\nfn a_stub_starts() {\n    let stub = kafkastub::Stub::start().unwrap();\n"
        "    assert_eq!(stub.topics().list().unwrap().total, 0);\n}\n"
    )
    patches = "".join(f'{name} = {{ path = "{path}" }}\n' for name, path in crates.items())
    (empty / "Cargo.toml").write_text(
        '[package]\nname = "empty"\nedition = "2021"\n[dependencies]\n'
        f'kafkastub = {{ version = "1", features = ["binary"] }}\n[patch.crates-io]\n{patches}'
    )
    shutil.copy(RUST / "Cargo.lock", empty / "Cargo.lock")
    tools = Path(shutil.which("cargo") or "").parent
    said = cargo("test", "--quiet", cwd=empty, KAFKASTUB="", PATH=f"{tools}:/usr/bin:/bin")
    assert "1 passed" in said


def test_node(node_package: Path):
    tests = [str(path) for path in sorted((node_package / "test" / "node").glob("*.test.*js"))]
    run("node", "--test", "--test-timeout=120000", *tests, cwd=node_package)


def test_vitest(node_package: Path):
    run("npx", "--no-install", "vitest", "run", "--root", "test/vitest", "--testTimeout", "60000", cwd=node_package)


def test_jest(node_package: Path):
    config = "test/jest/jest.config.js"
    run("npx", "--no-install", "jest", "--config", config, "--testTimeout", "60000", cwd=node_package)


def test_types_are_what_the_description_says(node_package: Path):
    run(sys.executable, "-m", "clients.generate", "--check", "go", "typescript", cwd=ROOT)


@pytest.mark.parametrize("language", ["go", "rust"])
def test_the_comparison_runs(language: str):
    run({"rust": "cargo"}.get(language, language), "version", cwd=ROOT)
    said = run(sys.executable, "-m", "clients.comparison.compare", "--rounds", "1", language, cwd=ROOT)
    assert f"{language:12}kafkastub   " in said
    assert len(said.splitlines()) == 3


def test_the_comparison_runs_in_typescript(node_package: Path):
    said = run(sys.executable, "-m", "clients.comparison.compare", "--rounds", "1", "typescript", cwd=ROOT)
    assert "typescript  kafkastub        5" in said
