"""An empty project in each language, with one dependency and no Python on the PATH: its test is green."""

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
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from clients.binary.build import ROOT, version
from clients.pack import GO_MODULE, go, npm

from tests.binary.test_binary import ARCHIVE
from tests.toolchains import changed

pytestmark = pytest.mark.binary

SECONDS: Final = 600
GO_TEST: Final = """package orders

import (
	"testing"
	"time"

	"github.com/kafkastub/kafkastub-go"
	_ "github.com/kafkastub/kafkastub-go/binary"
)

func TestAnOrderIsWritten(t *testing.T) {
	stub := kafkastub.Start(t, kafkastub.WithTopic("orders", 1))
	if _, err := stub.Topics.Produce(t.Context(), "orders", kafkastub.GivenRecord{Value: "two teapots"}); err != nil {
		t.Fatal(err)
	}
	if _, err := stub.Topics.WaitRecords(t.Context(), "orders", 1); err != nil {
		t.Fatal(err)
	}
	if _, err := stub.Clock.Advance(t.Context(), 7*24*time.Hour); err != nil {
		t.Fatal(err)
	}
}
"""
NODE_TEST: Final = """import { test } from "node:test";
import { withStub } from "kafkastub";

test("an order is written", withStub({ topics: { orders: 1 } }, async (stub) => {
  await stub.topics.produce("orders", { value: "two teapots" });
  await stub.topics.wait("orders", { records: 1 });
  await stub.clock.advance({ days: 7 });
}));
"""


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
    return out


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A PATH with the tools of the languages alone, and a cache of its own."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("go", "node", "npm", "npx", "sh", "env"):
        found = shutil.which(tool)
        if found is not None:
            (tools / tool).symlink_to(Path(found).resolve())
    kept = {name: value for name, value in os.environ.items() if name in ("HOME", "GOPROXY", "SSL_CERT_FILE")}
    return {
        **kept, "PATH": str(tools), "KAFKASTUB_CACHE": str(tmp_path / "cache"), "CGO_ENABLED": "0",
        "GOMODCACHE": str(tmp_path / "modules"), "GOFLAGS": "-mod=mod -modcacherw",
        "GONOSUMDB": f"{GO_MODULE},{GO_MODULE}/*",
    }  # fmt: skip


def run(environment: dict[str, str], cwd: Path, *command: str) -> str:
    if not (Path(environment["PATH"]) / command[0]).exists():
        pytest.skip(f"this machine has no {command[0]}")
    done = subprocess.run(
        [str(Path(environment["PATH"], command[0]).resolve()), *command[1:]], cwd=cwd, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_go(packages: Path, environment: dict[str, str], tmp_path: Path):
    project = tmp_path / "orders"
    project.mkdir()
    (project / "orders_test.go").write_text(GO_TEST)
    environment["GOPROXY"] = f"file://{packages / 'go'}"
    run(environment, project, "go", "mod", "init", "orders")
    run(environment, project, "go", "get", f"{GO_MODULE}/binary@v{version()}")
    assert "ok" in run(environment, project, "go", "test", "-count=1", "./...")
    unpacked = list(Path(environment["KAFKASTUB_CACHE"]).iterdir())
    assert [path.name.split("-")[0] for path in unpacked] == [version()]


def test_node(packages: Path, environment: dict[str, str], tmp_path: Path, npm_registry: str):
    project = tmp_path / "orders"
    project.mkdir()
    (project / "package.json").write_text(json.dumps({"name": "orders", "version": "1.0.0", "type": "module"}))
    (project / "orders.test.mjs").write_text(NODE_TEST)
    environment["npm_config_registry"] = npm_registry
    environment["npm_config_cache"] = str(tmp_path / "npm")
    run(environment, project, "npm", "install", "--no-audit", "--no-fund", "--save-dev", "kafkastub")
    assert "# pass 1" in run(environment, project, "node", "--test", "--test-reporter=tap", "orders.test.mjs")
    assert (project / "node_modules" / ".bin" / "kafkastub").exists()


@pytest.fixture
def npm_registry(packages: Path) -> Iterator[str]:
    """A registry of npm that has our packages, and nothing else."""
    if not (packages / "npm").exists():
        pytest.skip("this machine has no npm")
    files = {path.name: path.read_bytes() for path in (packages / "npm").iterdir()}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.lstrip("/").replace("%2f", "/").replace("%2F", "/")
            content = files.get(name) or described(name, f"http://127.0.0.1:{self.server.server_address[1]}")  # type: ignore[attr-defined]
            self.send_response(404 if content is None else 200)
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
