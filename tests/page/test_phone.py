"""A window 360 pixels wide: what one came for is in sight."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer
from playwright.sync_api import Browser, expect

from tests.page.scenes import QUIETLY, Asking
from tests.page.screen import PHONE, Screen
from tests.process.serving import Controlled
from tests.waiting import SECONDS, until

MS = SECONDS * 1000
ERROR = "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"
"""One of the longest names; what it is the answer to does not matter here."""
ABOVE = """
([toast, menu]) => {
  for (const each of document.querySelectorAll('.toasts, .toast')) each.style.pointerEvents = 'auto';
  const [one, other] = [toast, menu].map((each) => each.getBoundingClientRect());
  const x = (Math.max(one.left, other.left) + Math.min(one.right, other.right)) / 2;
  const y = (Math.max(one.top, other.top) + Math.min(one.bottom, other.bottom)) / 2;
  return [one.left < other.right && one.top < other.bottom, menu.contains(document.elementFromPoint(x, y))];
}
"""
"""Whether a toast and the menu meet, and whether the menu is what is seen there."""


@pytest.fixture(scope="module")
def process() -> Iterator[Controlled]:
    with Controlled("--topic", "orders:1") as process:
        yield process


@pytest.fixture
def phone(browser: Browser) -> Iterator[Screen]:
    with Screen(browser, PHONE) as screen:
        yield screen
        screen.check()


def test_escape_closes_the_menu_and_gives_the_focus_back(process: Controlled, ask: Asking, phone: Screen) -> None:
    phone.open(process.url, "topics")
    menu = phone.button("Menu")
    menu.click()
    expect(menu).to_have_attribute("aria-expanded", "true", timeout=MS)
    phone.link("Snapshots", phone.page.get_by_role("navigation", name="Views")).focus()
    phone.page.keyboard.press("Escape")
    expect(menu).to_have_attribute("aria-expanded", "false", timeout=MS)
    expect(menu).to_be_focused()


def test_escape_closes_the_menu_alone(process: Controlled, ask: Asking, phone: Screen) -> None:
    phone.open(process.url, "topics")
    ask("POST", "/v1/topics/orders/records", {"records": [{"value": "paid", "partition": 0}]})
    phone.open(process.url, "topics/orders/records?partition=0&offset=0")
    record = phone.page.get_by_role("complementary", name="Record")
    expect(record).to_be_visible(timeout=MS)
    menu = phone.button("Menu")
    menu.click()
    expect(menu).to_have_attribute("aria-expanded", "true", timeout=MS)
    phone.page.keyboard.press("Escape")
    expect(menu).to_have_attribute("aria-expanded", "false", timeout=MS)
    expect(record).to_be_visible()
    phone.page.keyboard.press("Escape")
    expect(record).to_have_count(0, timeout=MS)


def test_no_toast_lies_over_the_menu(process: Controlled, ask: Asking, phone: Screen) -> None:
    ask("POST", "/v1/faults", {"name": "a-fault-with-a-name-as-long-as-a-line", "api": "Metadata", "delay_ms": 1})
    phone.open(process.url, "faults")
    phone.button(re.compile("^Remove a-fault")).click()
    toast = phone.page.locator(".toast")
    expect(toast).to_be_visible(timeout=MS)
    phone.button("Menu").click()
    menu = phone.page.get_by_role("navigation", name="Views")
    expect(menu).to_be_visible(timeout=MS)
    assert phone.page.evaluate(ABOVE, [toast.element_handle(), menu.element_handle()]) == [True, True]


def test_errors_are_read_whole(process: Controlled, ask: Asking, phone: Screen) -> None:
    ask("POST", "/v1/faults", {"name": "refusing", "api": "FindCoordinator", "error": ERROR})
    consumer = Consumer({**QUIETLY, "bootstrap.servers": process.servers, "group.id": "g", "client.id": "phoned"})
    consumer.subscribe(["orders"])
    consumer.poll(0)
    until(lambda: ask("GET", "/v1/journal", client_id="phoned", error=ERROR)["entries"], "a refusal")
    phone.open(process.url)
    frame = phone.page.locator(".table-frame", has=phone.page.get_by_role("table", name="Latest requests"))
    expect(frame.get_by_text(ERROR).first).to_be_visible(timeout=MS)
    assert frame.evaluate("each => each.scrollWidth <= each.clientWidth")
    phone.open(process.url, f"journal?error={ERROR}")
    answer = phone.row("FindCoordinator").get_by_role("gridcell").filter(has_text=ERROR)
    expect(answer).to_be_visible(timeout=MS)
    name, cell = answer.get_by_text(ERROR, exact=True).bounding_box(), answer.bounding_box()
    assert name
    assert cell
    assert name["x"] + name["width"] <= cell["x"] + cell["width"]
    request = phone.row("FindCoordinator").get_by_role("gridcell").filter(has_text="FindCoordinator")
    below, above = answer.bounding_box(), request.bounding_box()
    assert below
    assert above
    assert below["y"] >= above["y"] + above["height"] - 1
    consumer.close()
