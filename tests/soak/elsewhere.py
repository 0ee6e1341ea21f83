"""What else takes part: the programs of tests/matrix, one after the other, and a browser with the page."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Iterator
from typing import Final

from kafkastub.client import Client as Requests
from kafkastub.client import groups, topics
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from tests.matrix.clients import CLIENTS, Client, build
from tests.matrix.playing import CANNOT, PASSED, Result, play
from tests.page.chromium import NoChromium, running_chromium
from tests.page.screen import Screen
from tests.toolchains import Unavailable

VIEWS: Final = ("overview", "topics", "groups", "journal", "transactions", "metrics", "nodes", "clock")
VIEW_SECONDS: Final = 20.0


class Programs:
    """A program for each client library and protocol plays the scenario of tests/matrix, again and again.

    Attributes:
        played: how often each has, by its name.
        wrong: steps that failed.
        missing: what cannot be built here, and why.
    """

    def __init__(self, servers: str, kits: tuple[str, ...]) -> None:
        self._servers = servers
        self.played: dict[str, int] = {}
        self.last: dict[str, float] = {}
        """The moment at which each played last."""
        self.wrong: list[str] = []
        self.missing: dict[str, str] = {}
        for kit in kits:
            try:
                build(kit)
            except Unavailable as error:
                self.missing[kit] = str(error).splitlines()[0]
        able = [one for one in CLIENTS if one.kit in kits and one.kit not in self.missing]
        self._turns = itertools.cycle([(one, protocol) for one in able for protocol in one.protocols])
        self._number = 0
        self.played = {f"{one.name}-{protocol}": 0 for one in able for protocol in one.protocols}

    def once(self) -> None:
        """The next one plays; what it leaves is deleted."""
        if not self.played:
            return
        client, protocol = next(self._turns)
        self._number += 1
        own = f"matrix-{self._number}"
        name = f"{client.name}-{protocol}"
        results = self._play(client, protocol, own)
        failed = [f"{one.step}: {one.why}" for one in results if one.verdict not in (PASSED, CANNOT)]
        self.wrong += [f"{name}, {one}" for one in failed]
        if not failed:
            self.played[name] += 1
            self.last[name] = time.monotonic()

    def _play(self, client: Client, protocol: str, own: str) -> list[Result]:
        try:
            return play(client.command(), self._servers, own, own, protocol)
        finally:
            with Requests(self._servers) as asking:
                for name in [name for name in topics.names(asking) if name.startswith(own)]:
                    topics.delete(asking, [name])
                for group in [one.group_id for one in groups.list_groups(asking) if one.group_id.startswith(own)]:
                    asking.ask_coordinator(group, DeleteGroupsRequest([group]))


class Page(threading.Thread):
    """The page in a browser, which goes from view to view.

    Attributes:
        looked: views so far.
        complaints: errors on the browser's console.
        missing: why there is none.
    """

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self.looked = 0
        self.last = 0.0
        self.complaints: list[str] = []
        self.missing = ""
        self._url = url
        self._over = threading.Event()

    def run(self) -> None:
        try:
            with running_chromium() as browser, Screen(browser) as screen:
                for view in itertools.cycle(VIEWS):
                    screen.page.goto(f"{self._url}/#/{view}", wait_until="commit")
                    screen.page.locator("main h1").first.wait_for()
                    self.looked += 1
                    self.last = time.monotonic()
                    self.complaints = screen.complaints
                    if self._over.wait(VIEW_SECONDS):
                        return
        except NoChromium as error:
            self.missing = str(error)
        except Exception as error:
            self.complaints = [*self.complaints, repr(error)]

    def stop(self) -> None:
        self._over.set()
        self.join(60)


@contextlib.contextmanager
def open_page(url: str) -> Iterator[Page]:
    """A page that is open until the end of the block."""
    page = Page(url)
    page.start()
    try:
        yield page
    finally:
        page.stop()
