"""The browser of the machine, as Playwright drives it: nothing is downloaded."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from typing import Final

from playwright.sync_api import Browser, sync_playwright

NAMES: Final = ("chromium-headless-shell", "chromium", "google-chrome")
_ARGUMENTS: Final = (
    # Neither root in a container nor a container without user namespaces can have Chromium's sandbox.
    "--no-sandbox",
    # The same picture on each machine, whatever its screen and its fonts' settings.
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--hide-scrollbars",
)


class NoChromium(RuntimeError):
    """This machine has none; the text says what to do."""


@contextlib.contextmanager
def running_chromium() -> Iterator[Browser]:
    """A browser that runs. Raises NoChromium."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise NoChromium("no Chromium here: apt-get install chromium-headless-shell")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(_ARGUMENTS))
        try:
            yield running
        finally:
            running.close()
