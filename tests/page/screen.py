"""A tab of the browser and what a person does with it."""

from __future__ import annotations

import re
import time
from types import TracebackType
from typing import Any, Final, Literal, Self

from playwright.sync_api import Browser, Locator, Page, Request, expect

from tests.waiting import SECONDS

Theme = Literal["light", "dark"]
LAPTOP: Final = (1280, 800)
PHONE: Final = (360, 740)
_MS: Final = SECONDS / 3 * 1000
_LOOK_MS: Final = 30
_QUIET_LOOKS: Final = 5
"""So many looks after each other at which nothing is asked for: what one answer brings up may ask for the next."""


class Screen:
    """One tab in a browser profile of its own.

    Attributes:
        page: Playwright's.
        complaints: errors on the console and exceptions nobody caught; `check` fails for them.
        asked: the addresses of all requests, in their order.
    """

    def __init__(self, browser: Browser, size: tuple[int, int] = LAPTOP, theme: Theme = "light", **more: Any) -> None:
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self._asking: list[str] = []
        """What is not yet answered, the streams that have no end left out."""
        self._context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=theme,
            reduced_motion="reduce",
            locale="en-GB",
            timezone_id="UTC",
            **more,
        )
        self.page: Page = self._context.new_page()
        self.page.set_default_timeout(_MS)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._note)
        self.page.on("requestfinished", self._answered)
        self.page.on("requestfailed", self._answered)
        self.page.on(
            "console", lambda said: self.complaints.append(said.text) if said.type in ("error", "warning") else None
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._context.close()

    def _note(self, request: Request) -> None:
        self.asked.append(request.url)
        if "/v1/events" not in request.url and "/follow" not in request.url:
            self._asking.append(request.url)

    def _answered(self, request: Request) -> None:
        if request.url in self._asking:
            self._asking.remove(request.url)

    def open(self, url: str, view: str = "") -> None:
        """Go to a view of the page at `url` ("groups/billing") and wait for what it shows first."""
        self.page.goto(f"{url}/#/{view}", wait_until="commit")
        self.ready(view.partition("/")[0].partition("?")[0])

    def ready(self, name: str = "") -> None:
        """Wait until the view of that name has its heading, and all that it has asked for."""
        try:
            expect(self.page.locator("main h1").first).to_be_visible(timeout=_MS)
            if name:
                expect(self.page.locator("main")).to_have_attribute("data-view", name, timeout=_MS)
        except AssertionError as error:
            shown = self.page.locator("body").inner_text()[:500]
            raise AssertionError(f"{self.page.url} shows {shown!r}; it complains: {self.complaints}") from error
        self.page.locator("main[data-ready=true]").wait_for(timeout=_MS)
        quiet = 0
        deadline = time.monotonic() + SECONDS
        while quiet < _QUIET_LOOKS:
            assert time.monotonic() < deadline, f"{self.page.url} still asks for {self._asking}"
            self.page.wait_for_timeout(_LOOK_MS)
            quiet = 0 if self._asking or self.page.locator("main [aria-busy=true]").count() else quiet + 1

    # -- what is seen --------------------------------------------------------------------------------------------

    def sees(self, text: str | re.Pattern[str]) -> None:
        """Wait until it stands somewhere on the page."""
        expect(self.page.locator("body")).to_contain_text(text, timeout=_MS)

    def row(self, *texts: str) -> Locator:
        """The row of a table that has all these texts."""
        found = self.page.get_by_role("row")
        for text in texts:
            found = found.filter(has_text=text)
        return found.first

    def button(self, name: str | re.Pattern[str], within: Locator | None = None) -> Locator:
        return (within or self.page).get_by_role("button", name=name)

    def link(self, name: str | re.Pattern[str], within: Locator | None = None) -> Locator:
        return (within or self.page).get_by_role("link", name=name)

    def field(self, label: str | re.Pattern[str], within: Locator | None = None) -> Locator:
        return (within or self.page).get_by_label(label)

    # -- what is wrong -------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Nothing was complained about, and nobody else than the control port was asked. Raises AssertionError."""
        assert self.complaints == []
        origins = {match[0] for url in self.asked if (match := re.match(r"[a-z]+://[^/]+", url))}
        assert len(origins) <= 1, origins
