"""The page on the control port: its first paint, how its lists scroll, and what an open one costs the broker.

Chromium runs beside the server on the same machine, as it does at a developer's; for the rates it is the server's
processor time that counts.
"""

from __future__ import annotations

import statistics
from contextlib import ExitStack
from dataclasses import dataclass, field
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

from bench import cases
from bench.contestants import Contestant, Unavailable
from bench.frames import Client
from bench.load import Request, verify
from bench.observed import processor_ns

if TYPE_CHECKING:
    from tests.page.scrolling import Scrolled

NAME = "page"
CASES = ("offset-commit/1", "produce/1x100B")
VIEWS = ("overview", "groups", "journal")
LISTS = ("topics", "groups", "journal")
BUDGET = 0.9
"""Of the rate without a page that is open."""
PAINT_MS = 200.0
FRAME_MS = 17.0
"""The median of a scroll: one frame of a screen."""
PACE, BATCH = 1500, 20
"""Requests a second: more than the page is told of, little enough that the server waits for them."""
SECONDS = 3.0
STARTS = 7


@dataclass
class Cost:
    """Shares of a processor that the server took, a number a round."""

    without: list[float] = field(default_factory=list)
    with_page: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """What is left to the clients of a server that has one processor and is busy: its rate by that without a page.

        A page asks a few times a second, however many requests come between. So what it costs is a share of the time,
        which is measured where the requests themselves cost little: beside a million of them it would be lost.
        """
        return 1 - statistics.median(a - b for a, b in zip(self.with_page, self.without, strict=True))


@dataclass
class Pages:
    """Milliseconds unless said otherwise."""

    first_paints: list[float] = field(default_factory=list)
    """Each of a process that has just begun and a browser that has nothing of it: until something is painted."""
    first_rows: list[float] = field(default_factory=list)
    """The same until the list of topics stands there."""
    scrolls: dict[str, Scrolled] = field(default_factory=dict)
    """By list: 1,000 topics, 10,000 groups, 100,000 entries."""
    costs: dict[str, Cost] = field(default_factory=dict)
    """By case and view."""


def run(rounds: int) -> Pages:
    """Raises Unavailable where there is no browser, or nothing that drives it."""
    try:
        from tests.page.chromium import NoChromium, running_chromium
    except ImportError as error:
        raise Unavailable(f"no {error.name} here: it is part of the extra test") from None
    pages = Pages()
    try:
        with running_chromium() as browser:
            for _ in range(STARTS):
                _paint(browser, pages)
            _scroll(browser, pages)
            _costs(browser, pages, rounds)
    except NoChromium as error:
        raise Unavailable(str(error)) from None
    return pages


def _paint(browser: Any, pages: Pages) -> None:
    from tests.page.screen import Screen
    from tests.process.serving import Controlled

    with Controlled("--topic", "orders:3") as process, Screen(browser) as screen:
        screen.page.goto(f"{process.url}/#/topics", wait_until="commit")
        screen.row("orders").wait_for()
        pages.first_rows.append(float(screen.page.evaluate("performance.now()")))
        painted = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
        screen.page.wait_for_function(painted)
        pages.first_paints.append(float(screen.page.evaluate(painted)))


def _scroll(browser: Any, pages: Pages) -> None:
    from tests.page.large import Large
    from tests.page.screen import Screen
    from tests.page.scrolling import scrolled

    with Large() as large:
        for view in LISTS:
            with Screen(browser) as screen:
                screen.open(large.url, view)
                pages.scrolls[view] = scrolled(screen)


def _costs(browser: Any, pages: Pages, rounds: int) -> None:
    """The same process with a page and without, in turns."""
    from tests.page.screen import Screen
    from tests.process.serving import Controlled

    with ExitStack() as stack:
        process = stack.enter_context(Controlled("--config", "group.initial.rebalance.delay.ms=0"))
        server = Contestant(NAME, process.host, process.port, process.process)
        with Client(server.host, server.port) as client:
            cases.prepare_server(client)
        screen = stack.enter_context(Screen(browser))
        for case in (case for case in cases.CASES if case.name in CASES):
            for view in VIEWS:
                cost = pages.costs[f"{case.name}, {view}"] = Cost()
                for _ in range(rounds):
                    screen.page.goto("about:blank")
                    cost.without.append(_share(case, server))
                    screen.open(process.url, view)
                    cost.with_page.append(_share(case, server))


def _share(case: cases.Case, server: Contestant) -> float:
    """Of a processor, what the server takes while clients ask at a steady pace."""
    with Client(server.host, server.port) as client:
        message = case.prepare(client)
        try:
            request = Request.prepared(client, message, case.version)
            verify(client, request)
            frames = b"".join(request.frames(BATCH))
            before, begun = processor_ns(server), perf_counter()
            for number in range(int(SECONDS * PACE / BATCH)):
                client.socket.sendall(frames)
                for _ in range(BATCH):
                    client.read_frame()
                sleep(max(0.0, begun + (number + 1) * BATCH / PACE - perf_counter()))
            return (processor_ns(server) - before) / 1e9 / (perf_counter() - begun)
        finally:
            case.done(client, message)
