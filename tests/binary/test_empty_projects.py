"""An empty project in each language, with one dependency of ours: neither Python nor a container engine is on the PATH,
and the test of the README is green. `-s` prints how long that took from `git init` on. Clients come from registries.
"""

from __future__ import annotations

import base64
import hashlib
import http.server
import json
import os
import shutil
import subprocess
import tarfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from clients.binary.build import ROOT, version
from clients.pack import GO_MODULE, cargo, go, npm

from tests.binary.test_binary import ARCHIVE
from tests.toolchains import changed

pytestmark = pytest.mark.binary

SECONDS: Final = 1800
GO_TEST: Final = ROOT / "examples" / "go" / "sent_test.go"
NODE_TEST: Final = ROOT / "examples" / "node" / "sent.test.ts"
"""Those of the README."""
RUST_TEST: Final = ROOT / "examples" / "rust" / "tests" / "orders.rs"
HIDDEN: Final = ("python", "pip", "kafkastub", "docker", "podman", "nerdctl", "containerd")
"""Beginnings of names that are not on the PATH of an empty project."""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is published, in a folder."""
    if not ARCHIVE.exists():
        pytest.fail(f"{ARCHIVE} is not there: run `make binary`")
    out = tmp_path_factory.mktemp("packages")
    typescript = ROOT / "clients" / "typescript"
    if shutil.which("npm") is not None:
        lock = ROOT / ".cache" / "clients-typescript-lock"
        lock.mkdir(parents=True, exist_ok=True)
        shutil.copy(typescript / "package-lock.json", lock / "package-lock.json")
        with changed(ROOT / ".cache" / "clients-typescript", lock) as differs:
            if differs or not (typescript / "node_modules").exists():
                command = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
                subprocess.run(command, cwd=typescript, check=True, timeout=SECONDS)
        subprocess.run(["npm", "run", "--silent", "build"], cwd=typescript, check=True, timeout=SECONDS)
        npm(ARCHIVE, out / "npm")
    go(ARCHIVE, out / "go")
    if shutil.which("cargo") is not None:
        cargo(ARCHIVE, out / "cargo")
    return out


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """All programs of this machine but Python and container engines, and a cache of its own."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for folder in reversed(os.environ["PATH"].split(os.pathsep)):
        for program in Path(folder).glob("*"):
            if not program.name.startswith(HIDDEN):
                (tools / program.name).unlink(missing_ok=True)
                (tools / program.name).symlink_to(program)
    kept = {name: value for name, value in os.environ.items() if name in OF_THE_MACHINE}
    return {**kept, "PATH": str(tools), "KAFKASTUB_CACHE": str(tmp_path / "cache")}


OF_THE_MACHINE: Final = (
    "HOME", "SSL_CERT_FILE", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOFLAGS", "CARGO_HOME", "RUSTUP_HOME", "HTTPS_PROXY",
    "NO_PROXY", "NODE_EXTRA_CA_CERTS", "LANG",
)  # fmt: skip
"""Where registries are."""


class Project:
    """A new project, from `git init` on."""

    def __init__(self, folder: Path, environment: dict[str, str], *tools: str) -> None:
        for tool in tools:
            if not (Path(environment["PATH"]) / tool).exists():
                pytest.skip(f"this machine has no {tool}")
        for hidden in HIDDEN:
            assert not list(Path(environment["PATH"]).glob(f"{hidden}*"))
        self.folder = folder
        self.environment = environment
        self._begun = time.monotonic()
        self.run("git", "init", "-q", str(folder))

    def write(self, name: str, text: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def run(self, *command: str) -> str:
        cwd = self.folder if self.folder.exists() else self.folder.parent
        program = shutil.which(command[0], path=self.environment["PATH"])
        assert program is not None
        done = subprocess.run(
            [program, *command[1:]], cwd=cwd, env=self.environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        return done.stdout

    def green(self) -> None:
        print(f"\n{self.folder.name}: green {time.monotonic() - self._begun:.1f} s after git init")


def test_go(packages: Path, environment: dict[str, str], tmp_path: Path):
    others = subprocess.check_output(["go", "env", "GOPROXY"], text=True).strip() if shutil.which("go") else ""
    environment |= {
        "GOPROXY": f"file://{packages / 'go'},{others}", "GOMODCACHE": str(tmp_path / "modules"),
        "GOCACHE": str(tmp_path / "compiled"), "GOFLAGS": "-modcacherw", "GONOSUMDB": f"{GO_MODULE},{GO_MODULE}/*",
    }  # fmt: skip
    project = Project(tmp_path / "go", environment, "go", "git")
    project.write("sent_test.go", GO_TEST.read_text())
    project.write("command_test.go", f'package orders\n\nimport _ "{GO_MODULE}/binary"\n')
    project.run("go", "mod", "init", "orders")
    project.run("go", "mod", "tidy")
    assert "ok" in project.run("go", "test", "-count=1", "./...")
    project.green()
    unpacked = list(Path(environment["KAFKASTUB_CACHE"]).iterdir())
    assert [path.name.split("-")[0] for path in unpacked] == [version()]


def test_node(packages: Path, environment: dict[str, str], tmp_path: Path, npm_registry: str):
    environment |= {"npm_config_registry": npm_registry, "npm_config_cache": str(tmp_path / "npm")}
    project = Project(tmp_path / "typescript", environment, "node", "npm", "git")
    project.write("package.json", json.dumps({"name": "orders", "version": "1.0.0", "type": "module"}))
    project.write("sent.test.ts", NODE_TEST.read_text())
    project.run(
        "npm", "install", "--no-audit", "--no-fund", "--save-dev", "kafkastub", "kafkajs@2.2.4", "typescript@5.9.3",
        "@types/node@20.19.0",
    )  # fmt: skip
    project.run(
        "npx", "tsc", "--strict", "--module", "nodenext", "--target", "es2022", "--types", "node", "sent.test.ts"
    )
    assert "# pass 1" in project.run("node", "--test", "--test-reporter=tap", "sent.test.js")
    project.green()
    assert (project.folder / "node_modules" / ".bin" / "kafkastub").exists()


def test_rust(packages: Path, environment: dict[str, str], tmp_path: Path):
    project = Project(tmp_path / "rust", environment, "cargo", "cc", "make", "git")
    for file in (packages / "cargo").glob("*.crate"):
        with tarfile.open(file) as packed:
            packed.extractall(tmp_path, filter="tar")
    patches = "".join(f'{name} = {{ path = "{tmp_path / name}-{version()}" }}\n' for name in CRATES)
    project.write("src/lib.rs", "")
    project.write("tests/orders.rs", RUST_TEST.read_text())
    project.write(
        "Cargo.toml",
        '[package]\nname = "orders"\nedition = "2021"\n[dev-dependencies]\n'
        'kafkastub = { version = "1", features = ["binary"] }\n'
        'rdkafka = { version = "0.39", default-features = false, features = ["libz"] }\n'
        f"[patch.crates-io]\n{patches}",
    )
    assert "1 passed" in project.run("cargo", "test", "--quiet")
    project.green()


CRATES: Final = ("kafkastub", "kafkastub-linux-x86-64")


@pytest.fixture
def npm_registry(packages: Path) -> Iterator[str]:
    """A registry of npm that has our packages, and sends everybody to this machine's for the others."""
    if not (packages / "npm").exists():
        pytest.skip("this machine has no npm")
    others = subprocess.check_output(["npm", "config", "get", "registry"], text=True).strip().rstrip("/")
    files = {path.name: path.read_bytes() for path in (packages / "npm").iterdir()}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.lstrip("/").replace("%2f", "/").replace("%2F", "/")
            content = files.get(name) or described(name, f"http://127.0.0.1:{self.server.server_address[1]}")  # type: ignore[attr-defined]
            self.send_response(302 if content is None else 200)
            if content is None:
                self.send_header("Location", others + self.path)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *args: object) -> None:
            pass

    def described(name: str, url: str) -> bytes | None:
        for file, content in files.items():
            manifest = _manifest(packages / "npm" / file)
            if manifest["name"] == name:
                digest = base64.b64encode(hashlib.sha512(content).digest()).decode()
                manifest["dist"] = {"tarball": f"{url}/{file}", "integrity": f"sha512-{digest}"}
                tags = {"latest": manifest["version"]}
                return json.dumps(
                    {"name": name, "dist-tags": tags, "versions": {manifest["version"]: manifest}}
                ).encode()
        return None

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _manifest(tarball: Path) -> dict[str, Any]:
    with tarfile.open(tarball) as packed:
        file = packed.extractfile("package/package.json")
        assert file is not None
        found: dict[str, Any] = json.load(file)
        return found
