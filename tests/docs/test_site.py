"""The documentation as a site: every link and anchor leads somewhere, and nothing is asked of other hosts."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from posixpath import normpath
from urllib.parse import unquote

import pytest

import kafkastub
from kafkastub import KafkaStub
from tests.docs.site import http, reference
from tests.docs.site.order import ORDER, navigation

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = json.loads((ROOT / "docs" / "openapi.json").read_text())


def test_a_page_that_nobody_has_placed_comes_last() -> None:
    found = navigation(["index.md", "pytest.md", "of-tomorrow.md", "picture.png"])
    assert found[0] == {"Start": ["index.md"]}
    assert found[1] == {"Guides": ["pytest.md"]}
    assert found[-1] == {"Explanation": ["of-tomorrow.md"]}


def test_the_pages_that_are_there_are_placed() -> None:
    placed = [page for section in ORDER.values() for page in section]
    assert len(placed) == len(set(placed))
    there = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert there <= set(placed)
    made = {
        "index.md",
        "changelog.md",
        "examples.md",
        "contributing.md",
        "reporting.md",
        "reference/http.md",
        *map("reference/{}.md".format, reference.PAGES),
    }
    assert set(placed) - there - {"page.md"} == made


def test_the_reference_has_every_public_name_and_every_part() -> None:
    named = [name for _, _, names in reference.PAGES.values() for name in names]
    assert set(kafkastub.__all__) - {"__version__"} == {
        name.partition(".")[2] for name in named if name.count(".") == 1
    }
    parts = {kind.func.__annotations__["return"] for kind in vars(KafkaStub).values() if hasattr(kind, "attrname")}
    assert len(parts) > 10
    assert parts <= {name.rpartition(".")[2] for name in named}


def test_the_page_of_the_control_port_has_every_call_and_shape() -> None:
    page = http.page(DOCUMENT)
    calls = [f"### `{method.upper()} {path}`" for path, methods in DOCUMENT["paths"].items() for method in methods]
    assert [call for call in calls if call not in page] == []
    assert set(re.findall(r"\]\(#(\w+)\)", page)) <= {name.lower() for name in DOCUMENT["components"]["schemas"]}


# -- built -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class Page(HTMLParser):
    """Of a page: what it has names for, where its links lead, and what is loaded for it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value for name, value in attrs if value}
        self.ids |= {value for name, value in named.items() if name in ("id", "name")}
        if tag == "a":
            self.links += [named["href"]] if "href" in named else []
        elif tag not in ("meta", "form", "base"):
            self.loads += [named[one] for one in ("src", "href", "srcset", "poster", "data") if one in named]
        self.loads += re.findall(r"url\(([^)]+)\)", named.get("style", ""))


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Page]:
    return {path.relative_to(site).as_posix(): Page(path) for path in site.rglob("*.html")}


@pytest.mark.site
def test_every_link_and_anchor_leads_somewhere(site: Path, pages: dict[str, Page]) -> None:
    wrong = [
        f"{name}: {link}"
        for name, page in pages.items()
        for link in {*page.links, *page.loads}
        if not re.match(r"(https?|mailto|data):", link) and not _leads(site, pages, name, link)
    ]
    assert wrong == []
    assert len(pages) > 30


def _leads(site: Path, pages: dict[str, Page], name: str, link: str) -> bool:
    path, _, fragment = unquote(html.unescape(link)).partition("#")
    target = normpath(f"{name}/../{path}") if path else name
    if not (site / target).is_file() and not (site / target / "index.html").is_file():
        return False
    return not fragment or target not in pages or fragment in pages[target].ids


@pytest.mark.site
def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[str, Page]) -> None:
    foreign = re.compile(r"\s*['\"]?(?:[a-z]+:)?//")
    loads = [f"{name}: {load}" for name, page in pages.items() for load in page.loads if foreign.match(load)]
    styles = [
        path for path in site.rglob("*.css") if re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", path.read_text())
    ]
    scripts = {
        found
        for path in site.rglob("*.js")
        if "search_index" not in path.name
        for found in re.findall(r"[\"'`]https?://[^\"'`]*", path.read_text())
    }
    assert (loads, styles) == ([], [])
    assert {one for one in scripts if "w3.org" not in one} <= {"`https://${e}/api/v4/projects/${encodeURIComponent(t)}"}
    assert "unpkg" not in "".join(path.read_text() for path in site.rglob("assets/**/*.js"))


@pytest.fixture
def asked() -> Iterator[tuple[str, list[str]]]:
    """A proxy that notes down what it is asked for, and refuses it; where it listens."""
    seen: list[str] = []

    class Proxy(BaseHTTPRequestHandler):
        def refuse(self) -> None:
            seen.append(f"{self.command} {self.path}")
            self.send_error(403)

        do_GET = do_POST = do_CONNECT = do_HEAD = refuse  # noqa: N815

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", seen
        server.shutdown()
        thread.join()


@pytest.mark.site
@pytest.mark.parametrize("page", ["index.html?q=tombstone", "reference/stub.html", "coverage.html#offsetcommit"])
def test_a_browser_asks_nobody_for_anything(
    site: Path, tmp_path: Path, asked: tuple[str, list[str]], page: str
) -> None:
    """And the search works without a server."""
    proxy, seen = asked
    path, mark, rest = page.partition("?")
    dom = _shown((site / path.partition("#")[0]).as_uri() + mark + rest, tmp_path, f"--proxy-server={proxy}")
    assert seen == []
    assert "</html>" in dom
    if mark:
        assert dom.count("md-search-result__item") >= 3


@pytest.mark.site
def test_the_proxy_of_that_test_does_notice(tmp_path: Path, asked: tuple[str, list[str]]) -> None:
    proxy, seen = asked
    (tmp_path / "loads.html").write_text('<script src="http://elsewhere.invalid/one.js"></script>')
    _shown((tmp_path / "loads.html").as_uri(), tmp_path, f"--proxy-server={proxy}")
    assert seen == ["GET http://elsewhere.invalid/one.js"]


def _shown(address: str, folder: Path, *more: str) -> str:
    """A page as a browser has it in the end."""
    names = "chromium-headless-shell", "chromium", "google-chrome"
    browser = next(filter(None, map(shutil.which, names)), None)
    if browser is None:
        pytest.skip("this machine has no Chromium")
    flags = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", "--virtual-time-budget=20000",
        f"--user-data-dir={folder / 'profile'}", "--dump-dom",
    ]  # fmt: skip
    command = [browser, *flags, *more, address]
    return subprocess.run(command, capture_output=True, text=True, timeout=180, check=True).stdout
