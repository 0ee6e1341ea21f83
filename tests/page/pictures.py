"""`make pictures`: docs/pictures, each view of the page, light and dark.

python -m tests.page.pictures [--to DIRECTORY] [NAME …]    those views, all by default
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, expect

from tests.page.chromium import running_chromium
from tests.page.png import smaller
from tests.page.scenes import Shop
from tests.page.screen import PHONE, Screen, Theme
from tests.page.views import VIEWS

PICTURES: Final = Path(__file__).parent.parent.parent / "docs" / "pictures"
SIZE: Final = (1200, 760)
THEMES: Final[tuple[Theme, ...]] = ("light", "dark")
PLOTTED_MS: Final = 6000
ON_A_PHONE: Final = ("overview", "group", "records")


def take(browser: Browser, shop: Shop, directory: Path, names: Sequence[str] = ()) -> list[Path]:
    """Write the pictures of these views. Raises AssertionError where the page complains about something."""
    taken: dict[str, bytes] = {}
    for theme in THEMES:
        with Screen(browser, SIZE, theme) as screen:
            for name in names or VIEWS:
                taken[f"{name}-{theme}"] = _taken(screen, shop, name)
            screen.check()
    with Screen(browser, PHONE) as screen:
        for name in ON_A_PHONE:
            if name in (names or VIEWS):
                taken[f"{name}-phone"] = _taken(screen, shop, name)
        screen.check()
    directory.mkdir(parents=True, exist_ok=True)
    for name, picture in zip(taken, smaller(browser, list(taken.values())), strict=True):
        (directory / f"{name}.png").write_bytes(picture)
    return [directory / f"{name}.png" for name in taken]


def _taken(screen: Screen, shop: Shop, name: str) -> bytes:
    screen.open(shop.url, shop.address(name))
    if name == "metrics":  # a plot begins when it is looked at
        expect(screen.page.locator("main svg polyline, main svg path").first).to_be_attached()
        screen.page.wait_for_timeout(PLOTTED_MS)
    if name == "journal-entry":
        screen.page.get_by_role("treeitem").filter(has_text="group_id").first.click()
        screen.page.mouse.move(0, 0)
    return screen.page.screenshot(animations="disabled", caret="hide")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.page.pictures")
    parser.add_argument("--to", type=Path, default=PICTURES, metavar="DIRECTORY")
    parser.add_argument("names", nargs="*", choices=[*VIEWS, []], metavar="NAME")
    given = parser.parse_args()
    with Shop() as shop, running_chromium() as browser:
        for path in take(browser, shop, given.to, given.names):
            print(path)


if __name__ == "__main__":
    main()
