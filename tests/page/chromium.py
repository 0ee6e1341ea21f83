"""The browser of the machine, as Playwright drives it: nothing is downloaded."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from typing import Final

import pytest
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


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser. Skips the test where the machine has none, which in CI is a failure."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        if os.environ.get("CI"):
            raise FileNotFoundError(f"none of {', '.join(NAMES)} is installed")
        pytest.skip("no Chromium: apt-get install chromium-headless-shell")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(_ARGUMENTS))
        try:
            yield running
        finally:
            running.close()
