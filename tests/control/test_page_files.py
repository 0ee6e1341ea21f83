"""The page as it is sent: its files, what it may do, and that nothing of it comes from elsewhere."""

from __future__ import annotations

import gzip
import hashlib
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import httpx
import pytest

from kafkastub.control.page.assets import POLICY
from tests.control.conftest import Http

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "broker/kafkastub/control/page/static"
FILES = sorted(path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*") if path.is_file())
SOURCES = [name for name in FILES if name.endswith((".js", ".css", ".html")) and not name.startswith("vendor/")]
BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def test_a_browser_gets_the_page_and_a_program_the_index(http: Http):
    page = http.client.get("/", headers=BROWSER)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.text.startswith("<!doctype html>")
    assert "{{" not in page.text
    for accept in ("*/*", "application/json"):
        assert "GET /v1/clock" in http.client.get("/", headers={"accept": accept}).json()["requests"]
    assert http.client.get("/docs").text == page.text


def test_each_file_is_sent_as_it_is(http: Http):
    for name in FILES:
        answer = http.client.get(f"/page/{name}", headers={"accept-encoding": "gzip"})
        assert answer.status_code == 200, name
        if name != "index.html":
            assert answer.content == (STATIC / name).read_bytes()
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["content-type"].startswith("text/javascript") is name.endswith(".js")


def test_a_file_that_is_known_is_not_sent_again(http: Http):
    first = http.client.get("/page/app.js", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in first.headers
    tag = first.headers["etag"]
    for known in (tag, f'"other", {tag}', f"W/{tag}"):
        again = http.client.get("/page/app.js", headers={"if-none-match": known})
        assert (again.status_code, again.content) == (304, b"")
    assert http.client.get("/page/app.js", headers={"if-none-match": '"other"'}).status_code == 200
    packed = httpx.get(http.client.base_url.join("/page/app.css"), headers={"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert len(gzip.compress(packed.content)) < len(packed.content) / 3


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "app.jsx",
        "views",
        "../assets.py",
        "%2e%2e/assets.py",
        "..%2fassets.py",
        "/etc/passwd",
        "vendor/../app.js",
    ],
)
def test_there_are_no_other_files(http: Http, path: str):
    answer = http.client.get(f"/page/{path}")
    assert answer.status_code == 404 or answer.content == (STATIC / "app.js").read_bytes()  # a client may tidy a path


def test_a_page_is_not_written_to(http: Http):
    assert http.client.post("/page/app.js").status_code == 405


@pytest.mark.parametrize("name", SOURCES)
def test_nothing_comes_from_elsewhere_and_nothing_is_markup(name: str):
    text = (STATIC / name).read_text()
    assert not re.search(r"https?://(?!www\.w3\.org/)[a-z]", text), "an address of the network"
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write", text)
    assert not re.search(r"\beval\(|new Function|setTimeout\('", text)
    if name.endswith(".html"):
        assert not re.search(r"<script(?![^>]* src=)|<style|\son[a-z]+=|\sstyle=", text), "inline script or style"
    if name.endswith(".css"):
        assert "url(" not in text
        assert "@import" not in text


def test_what_is_loaded_first_is_there():
    text = (STATIC / "index.html").read_text()
    named = re.findall(r'(?:href|src)="page/([^"]+)"', text)
    assert len(named) > 10
    assert set(named) <= set(FILES)


@pytest.mark.parametrize("name", [name for name in SOURCES if name.endswith(".js")])
def test_imports_name_files(name: str):
    folder = (STATIC / name).parent
    for other in re.findall(r"from '([^']+)'|import '([^']+)'", (STATIC / name).read_text()):
        path = "".join(other)
        assert path.startswith("."), path
        assert (folder / path).resolve().is_file(), path


def test_what_others_wrote_is_what_the_list_says():
    text = (STATIC / "vendor/README.md").read_text()
    sums = dict(reversed(line.split()) for line in re.findall(r"^    (\w{64}  \w+\.js)$", text, re.M))
    there = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (STATIC / "vendor").glob("*.js")}
    assert sums == there
    assert "MIT License" in (STATIC / "vendor/LICENSE-preact").read_text()
    assert "Apache License" in (STATIC / "vendor/LICENSE-htm").read_text()


def test_the_wheel_has_every_file(tmp_path: Path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (built,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(built) as wheel:
        names = set(wheel.namelist())
    assert {f"kafkastub/control/page/static/{name}" for name in FILES} <= names
