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
        "vendor/%2e%2e/app.js",
    ],
)
def test_there_are_no_other_files(http: Http, path: str):
    assert http.client.get(f"/page/{path}").status_code == 404


def test_a_path_with_dots_leads_nowhere_but_where_a_client_tidies_it(http: Http):
    answer = http.client.get("/page/vendor/../app.js")
    assert answer.status_code == 404 or answer.content == (STATIC / "app.js").read_bytes()


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


IMPORT = re.compile(
    r"""(?:^import\b[^;'"`]*|^export\s*(?:\*|\{[^}]*\})\s*from\s*|\bimport\(\s*)(['"`])(.+?)\1""", re.MULTILINE
)
"""What a module loads: `import … from '…'`, `import '…'`, `export … from '…'` and `import(`…`)`."""
VIEWS = re.compile(r"\bid: '(\w+)'")


def imported(name: str) -> list[str]:
    return [path for _, path in IMPORT.findall((STATIC / name).read_text())]


@pytest.mark.parametrize("name", [name for name in SOURCES if name.endswith(".js")])
def test_imports_name_files(name: str):
    text, folder = (STATIC / name).read_text(), (STATIC / name).parent
    paths = imported(name)
    assert len(paths) == len(re.findall(r"^import\b|\bimport\(|^export .*\} from ", text, re.M)), "each is seen"
    views = VIEWS.findall((STATIC / "views/index.js").read_text())
    for path in paths:
        assert path.startswith("."), path
        for view in views if "${id}" in path else [""]:
            assert (folder / path.replace("${id}", view)).resolve().is_file(), (path, view)


def test_every_script_is_loaded_by_another_or_by_the_page():
    first = re.findall(r'(?:href|src)="page/([^"]+)"', (STATIC / "index.html").read_text())
    views = VIEWS.findall((STATIC / "views/index.js").read_text())
    assert len(views) > 10
    named = {*first, *(f"views/{view}.js" for view in views)}
    for name in FILES:
        if name.endswith(".js"):
            folder = (STATIC / name).parent
            named |= {(folder / path).resolve().relative_to(STATIC).as_posix() for path in imported(name)}
    assert {name for name in FILES if name.endswith(".js")} <= named


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
