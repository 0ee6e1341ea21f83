"""A real Chromium that looks at the page of a `kafkastub serve`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser

from tests.page.chromium import NoChromium, running_chromium
from tests.page.scenes import Asking, Shop
from tests.page.screen import Screen
from tests.process.serving import Controlled


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Ends with the tests here: Playwright leaves a loop of asyncio in the thread, which other tests do not bear."""
    with ExitStack() as stack:
        try:
            running = stack.enter_context(running_chromium())
        except NoChromium as error:  # which in CI is a failure: it is installed there
            pytest.skip(str(error))
        yield running


@pytest.fixture
def screen(browser: Browser) -> Iterator[Screen]:
    """A tab, light, as large as a laptop's; what the page complains about is a failure of the test."""
    with Screen(browser) as screen:
        yield screen
        screen.check()


@pytest.fixture
def ask(process: Controlled) -> Iterator[Asking]:
    """Asks the control port of the module's own process, which is as it was at its start, with an empty journal."""
    ask = Asking(process.url)
    ask("POST", "/v1/reset")
    ask("DELETE", "/v1/journal")
    yield ask
    ask.close()


@pytest.fixture(scope="package")
def shop() -> Iterator[Shop]:
    """Something of everything, for those who only look."""
    with Shop() as shop:
        yield shop
