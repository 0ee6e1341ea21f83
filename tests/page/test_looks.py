"""Each view: nothing that axe finds serious, in both themes; it fits a phone; a picture of it can be made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from tests.page.pictures import THEMES, take
from tests.page.scenes import Shop
from tests.page.screen import PHONE, Screen
from tests.page.views import VIEWS

RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
}


def faults(screen: Screen) -> list[str]:
    """What axe finds, each with where it is."""
    found: list[dict[str, Any]] = Axe().run(screen.page, options=RULES).response["violations"]
    return [
        f"{each['impact']} {each['id']}: {each['help']}: {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
        for each in found
        for node in each["nodes"][:3]
    ]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", VIEWS)
def test_axe_finds_nothing(browser: Browser, shop: Shop, name: str, theme: Any) -> None:
    with Screen(browser, theme=theme) as screen:
        screen.open(shop.url, shop.address(name))
        found = faults(screen)
        assert not found, "\n".join(found)
        screen.check()


@pytest.mark.parametrize("name", VIEWS)
def test_nothing_is_wider_than_a_phone(browser: Browser, shop: Shop, name: str) -> None:
    with Screen(browser, PHONE) as screen:
        screen.open(shop.url, shop.address(name))
        width = screen.page.evaluate("document.scrollingElement.scrollWidth")
        assert width <= PHONE[0]
        found = faults(screen)
        assert not found, "\n".join(found)
        screen.check()


def test_pictures_can_be_made(browser: Browser, shop: Shop, tmp_path: Path) -> None:
    made = take(browser, shop, tmp_path, ["overview", "clock"])
    assert sorted(path.name for path in made) == [
        "clock-dark.png", "clock-light.png", "overview-dark.png", "overview-light.png", "overview-phone.png",
    ]  # fmt: skip
    for path in made:
        assert path.read_bytes().startswith(b"\x89PNG")
