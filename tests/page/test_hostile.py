"""What is hostile: names and contents that are markup, records that are too much, sites that want to use the port."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

import pytest
from confluent_kafka import Producer
from playwright.sync_api import Browser, Locator, expect

from kafkastub.client import Client
from kafkastub.client.groups import commit
from tests.page.scenes import QUIETLY, Asking, Reader
from tests.page.screen import Screen
from tests.process.serving import Controlled
from tests.waiting import SECONDS

MARKUP: Final = """"'><img src=x onerror="window.taken=1"><svg onload=window.taken=1><script>window.taken=1</script>"""
LINK: Final = "javascript:window.taken=1//"
NOT_UTF8: Final = b"\xff\xfe\x00\x80 not \xc3\x28 text \xed\xa0\x80"
DIRECTIONS: Final = "\u202egnp.exe\u202c \u0000 \u0007 \u2028 \ufeff zero\u200bwidth"
MEGABYTES: Final = 10 << 20
SETTINGS: Final = (
    "message.max.bytes=20000000",
    "group.initial.rebalance.delay.ms=0",
)
VIEWS: Final = (
    "overview",
    "topics",
    "topics/t",
    "topics/t/records?partition=0",
    "groups",
    f"groups/{quote(MARKUP, safe='')}",
    "transactions",
    f"transactions/{quote(MARKUP, safe='')}",
    "journal",
    "faults",
    "snapshots",
    "quotas",
    "acls",
    "config",
    "clock",
    "nodes",
)
EVALUATE: Final = """
new Promise(done => setTimeout(() => { try { eval('1'); done('it ran') } catch (error) { done(error.name) } }))
"""
"""Later, as a page's own script would: what Playwright itself runs may do all."""
CLEAN: Final = "window.taken === undefined && !document.querySelector('img[src=x], main script, main svg[onload]')"


class Target:
    """A broker whose names and contents are an attacker's."""

    def __init__(self, process: Controlled) -> None:
        self.url, self.servers = process.url, process.servers
        self.ask = Asking(self.url)
        with Client(self.servers, client_id=MARKUP) as client:
            commit(client, MARKUP, {("t", 0): 1})
        records: list[Any] = [
            {"key": MARKUP, "value": MARKUP, "headers": {MARKUP: MARKUP, LINK: LINK}},
            {"key": _bytes(NOT_UTF8), "value": _bytes(NOT_UTF8), "headers": {"bytes": _bytes(NOT_UTF8)}},
            {"key": DIRECTIONS, "value": DIRECTIONS},
            {"value": {"json": {MARKUP: MARKUP, "__proto__": {"taken": 1}, "constructor": [LINK]}}},
            {"value": "[" * 30_000 + "]" * 30_000},
        ]
        self.ask("POST", "/v1/topics/t/records", {"records": [{**each, "partition": 0} for each in records]})
        self.ask("POST", "/v1/faults", {"name": MARKUP, "api": "Fetch", "client_id": MARKUP, "delay_ms": 1})
        self.ask("POST", "/v1/quotas", {"user": MARKUP, "client_id": LINK, "quotas": {"request_percentage": 50}})
        self.producer = Producer({**QUIETLY, "bootstrap.servers": self.servers, "transactional.id": MARKUP})
        self.producer.init_transactions(SECONDS)
        self.producer.begin_transaction()
        self.producer.produce("t", MARKUP, partition=0)
        self.producer.flush(SECONDS)


def _bytes(content: bytes) -> dict[str, str]:
    return {"base64": base64.b64encode(content).decode()}


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    with Controlled("--topic", "t:1", "--config", *SETTINGS) as process:
        made = Target(process)
        reader = Reader(made.servers, "readers", ["t"], MARKUP)
        made.ask("GET", "/v1/groups/readers/wait", members=1, timeout=60)
        yield made
        reader.close()
        made.ask.close()


@pytest.mark.parametrize("view", VIEWS)
def test_markup_in_names_and_contents_stays_text(target: Target, screen: Screen, view: str) -> None:
    screen.open(target.url, view)
    assert screen.page.evaluate(CLEAN)
    if view.startswith(("groups", "transactions", "faults", "quotas", "journal", "topics/t/records")):
        screen.sees("onerror")  # it is there, as text
    bad = screen.page.locator("a[href^='javascript:']")
    assert bad.count() == 0


def pressed(screen: Screen, record: Locator, way: str) -> Iterator[str]:
    """Each button of that name, once it was pressed and nothing has come of it."""
    for choice in record.get_by_role("button", name=way, exact=True).all():
        choice.click()
        expect(choice).to_have_attribute("aria-pressed", "true")
        assert screen.page.evaluate(CLEAN)
        yield way


@pytest.mark.parametrize(
    ("offset", "seen", "ways"),
    [
        (0, "onerror", ["Text", "Hex"]),
        (1, "ff fe", ["Hex"]),
        (2, "exe", ["Text", "Hex"]),
        (3, "__proto__", ["JSON", "Text", "Hex"]),
        (4, "[[[[", ["Text", "Hex"]),
    ],
)
def test_a_hostile_record_is_opened_in_every_form(
    target: Target, screen: Screen, offset: int, seen: str, ways: list[str]
) -> None:
    screen.open(target.url, f"topics/t/records?partition=0&offset={offset}")
    record = screen.page.get_by_role("complementary", name="Record")
    expect(record).to_contain_text(seen)
    shown = {name for way in ("Text", "JSON", "Hex") for name in pressed(screen, record, way)}
    assert shown == set(ways)
    assert screen.page.evaluate("({}).taken === undefined")
    assert len(screen.page.content()) < 2 << 20


def test_an_inline_script_would_not_run(target: Target, browser: Browser) -> None:
    """Were markup taken for markup somewhere, the policy would still keep it from running."""
    with Screen(browser) as screen:
        screen.open(target.url)
        screen.page.evaluate(
            "markup => { const at = document.createElement('div'); at.innerHTML = markup; document.body.append(at);"
            " const script = document.createElement('script'); script.textContent = 'window.taken = 1';"
            " document.body.append(script); }",
            MARKUP,
        )
        screen.page.wait_for_function("document.querySelector('img[src=x]').complete")
        assert screen.page.evaluate("window.taken === undefined")
        assert screen.page.evaluate(EVALUATE) == "EvalError"
        assert any("Content Security Policy" in each for each in screen.complaints)


def test_a_record_of_ten_megabytes_is_shown_in_part(target: Target, screen: Screen) -> None:
    settings = {**QUIETLY, "bootstrap.servers": target.servers, "message.max.bytes": MEGABYTES + 1000}
    producer = Producer(settings)
    target.ask("POST", "/v1/topics", {"name": "large", "partitions": 1})
    producer.produce("large", b"<b>" + b"m" * (MEGABYTES - 3), MARKUP.encode(), partition=0)
    producer.produce("large", NOT_UTF8 * (MEGABYTES // len(NOT_UTF8)), partition=0)
    assert producer.flush(SECONDS) == 0
    screen.open(target.url, "topics/large/records?partition=0")
    sizes = [len(screen.page.content())]
    for seen in ("<b>mmm", "ff fe"):
        screen.row(seen).click()
        screen.ready()
        expect(screen.page.get_by_role("complementary", name="Record")).to_contain_text("10 MB")
        sizes.append(len(screen.page.content()))
    assert max(sizes) < 3 << 20, "no browser is given ten megabytes of text to lay out"
    assert screen.page.evaluate(CLEAN)
    asked = screen.page.evaluate(
        "performance.getEntriesByType('resource').filter(one => one.name.includes('/records'))"
        ".map(one => one.decodedBodySize)"
    )
    assert sum(asked) < 8 << 20, asked
