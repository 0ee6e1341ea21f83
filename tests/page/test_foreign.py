"""A page of another site reads nothing of the control port and changes nothing, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser

from tests.page.foreign import ForeignSite
from tests.page.scenes import Asking
from tests.page.screen import Screen
from tests.process.serving import Controlled

TOKEN = "let-me-in"


@pytest.fixture(scope="module")
def process() -> Iterator[Controlled]:
    with Controlled("--topic", "t:1") as process:
        yield process


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "evil.localhost"])
def test_a_foreign_page_reads_nothing_and_changes_nothing(browser: Browser, process: Controlled, host: str) -> None:
    """The same machine and another port is same-site to a browser, and another name is cross-site: both are foreign."""
    ask = Asking(process.url)
    with ForeignSite(process.url, host) as site, Screen(browser) as screen:
        screen.page.goto(site.url)
        done = dict(screen.page.evaluate("attempts()"))
    assert len(done) == 14
    # No answer is read; a form and a beacon are sent into the blue, and what is sent is refused.
    assert done.pop("beacon") == "sent"
    assert done.pop("form") in ("sent", "refused: late")
    assert done.pop("frame") in ("nothing seen", "refused: error", "refused: late")
    assert done.pop("post as a form") in (0, "refused: Failed to fetch")
    for name, came in done.items():
        assert str(came).startswith("refused: "), (name, came)
    assert ask("GET", "/v1/clock")["frozen"] is False
    assert ask("GET", "/v1/faults")["faults"] == []
    assert not ask("GET", "/v1/chaos").get("seed")
    assert ask("GET", "/v1/topics/t")["partitions"] == 1
    ask.close()


def test_a_browser_changes_things_by_the_page_alone(process: Controlled, screen: Screen) -> None:
    """Even what a page of our own origin asks wants what the page carries."""
    screen.open(process.url)
    freeze = "headers => fetch('/v1/clock/freeze', {method: 'POST', headers}).then(one => one.status)"
    assert screen.page.evaluate(freeze, {}) == 403
    assert screen.page.evaluate(freeze, {"x-kafkastub-page": "guess"}) == 403
    word = screen.page.locator("meta[name=kafkastub-page]").get_attribute("content")
    assert word
    assert screen.page.evaluate(freeze, {"x-kafkastub-page": word}) == 200
    screen.complaints.clear()  # the console tells of each 403
    ask = Asking(process.url)
    assert ask("POST", "/v1/clock/unfreeze")["frozen"] is False, "a program needs nothing"
    ask.close()


def test_an_answer_is_never_a_page_of_another_kind(process: Controlled) -> None:
    """A link can lead to what a record holds: it is JSON for whoever asks, and the browser is to believe that."""
    with httpx.Client(base_url=process.url, timeout=60, headers={"accept": "text/html"}) as client:
        client.post("/v1/topics/t/records", json={"records": [{"value": "<script>1</script>"}]})
        for path in ("/v1/topics/t/records", "/v1/journal", "/v1/groups", "/openapi.json", "/no/such"):
            answer = client.get(path)
            assert answer.headers["content-type"].startswith("application/"), path
            assert answer.headers["x-content-type-options"] == "nosniff", path
        for path in ("/", "/docs", "/page/app.js", "/page/app.css"):
            answer = client.get(path)
            policy = answer.headers["content-security-policy"]
            assert answer.status_code == 200
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "http" not in policy
            assert "frame-ancestors 'none'" in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "path",
    ["../__init__.py", "..%2f__init__.py", "%2e%2e/assets.py", "....//assets.py", "/etc/passwd", "//etc/passwd",
     "app.js%00", "static", "vendor", "vendor/", "", ".", "views/../../assets.py", "C:\\\\x", "a" * 5000],
)  # fmt: skip
def test_nothing_else_than_the_pages_files_is_served(process: Controlled, path: str) -> None:
    answer = httpx.get(httpx.URL(process.url, raw_path=f"/page/{path}".encode()), timeout=60)
    assert answer.status_code in (400, 404)
    assert answer.json()["error"]


@pytest.fixture(scope="module")
def guarded() -> Iterator[Controlled]:
    """With --control-token nothing changes without it."""
    with Controlled("--topic", "t:1", "--control-token", TOKEN) as process:
        yield process


def test_programs_need_the_token_for_all_that_changes_something(guarded: Controlled) -> None:
    with httpx.Client(base_url=guarded.url, timeout=60) as client:
        described = client.get("/openapi.json").json()["paths"]
        tried = 0
        for path, operations in described.items():
            for method in operations:
                if method == "get":
                    continue
                at = path.replace("{", "").replace("}", "")
                for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": f"Basic {TOKEN}"}):
                    assert client.request(method, at, headers=headers).status_code == 401, (method, path)
                    tried += 1
        assert tried > 90
        good = {"authorization": f"Bearer {TOKEN}"}
        assert client.post("/v1/clock/freeze", headers=good).status_code == 200
        assert client.post("/v1/clock/unfreeze", headers=good).status_code == 200
        assert client.get("/v1/groups").status_code == 200


def test_the_page_asks_for_the_token_once_and_keeps_it_for_the_tab(browser: Browser, guarded: Controlled) -> None:
    with Screen(browser) as screen:
        screen.open(guarded.url, "clock")
        screen.button("Freeze").first.click()
        dialog = screen.page.get_by_role("dialog")
        screen.field("Token", dialog).fill("wrong")
        dialog.get_by_role("button", name="Go on").click()
        screen.sees("not the one")
        screen.field("Token", dialog).fill(TOKEN)
        dialog.get_by_role("button", name="Go on").click()
        screen.button("Unfreeze").first.click()
        screen.button("Freeze", screen.page.get_by_role("banner")).wait_for()
        assert screen.page.get_by_role("dialog").count() == 0
        assert TOKEN not in screen.page.url
        assert screen.page.evaluate("JSON.stringify(localStorage)").find(TOKEN) == -1
        assert screen.complaints, "the console tells of each refusal"
        assert all("401" in each for each in screen.complaints), screen.complaints


def test_the_address_can_bring_the_token_and_does_not_keep_it(guarded: Controlled, screen: Screen) -> None:
    screen.page.goto(f"{guarded.url}/#token={TOKEN}", wait_until="commit")
    screen.ready()
    assert TOKEN not in screen.page.url
    screen.button("Freeze").first.click()
    screen.button("Unfreeze").first.click()
    screen.button("Freeze", screen.page.get_by_role("banner")).wait_for()
    assert all(TOKEN not in url for url in screen.asked[1:])
    assert TOKEN not in screen.page.content()
    screen.page.go_back()
    assert TOKEN not in screen.page.url
