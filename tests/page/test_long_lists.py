"""Long lists: only what is seen is in the document and only that is asked for, and they scroll."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Browser, expect

from tests.page.large import ENTRIES, GROUPS, TOPICS, Large, group
from tests.page.screen import Screen
from tests.page.scrolling import FRAMES, jumped, scrolled

SLOW_MS: Final = 100.0
"""Of the middle frame, on a busy machine too; `make bench` says what it is on a quiet one."""


@pytest.fixture(scope="module")
def large() -> Iterator[Large]:
    with Large() as large:
        yield large


@pytest.mark.parametrize(("view", "least"), [("topics", TOPICS), ("groups", GROUPS), ("journal", ENTRIES)])
def test_a_long_list_scrolls_and_asks_for_what_is_seen(large: Large, screen: Screen, view: str, least: int) -> None:
    screen.open(large.url, view)
    wheel = scrolled(screen)
    assert wheel.total >= least
    assert wheel.rows < 100
    assert wheel.asked < FRAMES / 6, "not one request a frame"
    assert wheel.median < SLOW_MS
    for part in (0.5, 0.9, 0.1, 1.0):
        assert jumped(screen, part) <= 6
        expect(screen.page.locator("main [role=row][aria-rowindex]").nth(5)).not_to_contain_text("…")


def test_the_last_group_of_many_is_reached_with_one_key(large: Large, screen: Screen) -> None:
    screen.open(large.url, "groups")
    before = len(screen.asked)
    screen.page.get_by_role("grid").focus()
    screen.page.keyboard.press("End")
    expect(screen.page.get_by_role("link", name=group(GROUPS - 1))).to_be_visible()
    screen.ready()
    assert len(screen.asked) - before <= 6


def test_a_group_of_many_is_found(large: Large, browser: Browser) -> None:
    with Screen(browser) as screen:
        screen.open(large.url, f"groups?search={group(7777)}")
        expect(screen.page.get_by_role("grid")).to_have_attribute("aria-rowcount", "2")
        screen.page.get_by_role("link", name=group(7777)).click()
        expect(screen.page.get_by_role("heading", level=1)).to_have_text(group(7777))
        screen.check()
