"""What changes while the page opens its stream of changes is shown, too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import pytest
from playwright.sync_api import Route, expect

from tests.page.scenes import Asking
from tests.page.screen import Screen
from tests.process.serving import Controlled
from tests.waiting import SECONDS

MS = SECONDS * 1000
STREAMS = "**/v1/events*"


@pytest.fixture(scope="module")
def process() -> Iterator[Controlled]:
    with Controlled("--topic", "orders:1") as process:
        yield process


@contextmanager
def streams_wait(screen: Screen) -> Iterator[list[Route]]:
    """Streams that the page asks for do not begin before the end of it."""
    waiting: list[Route] = []
    passes = False

    def hold(route: Route) -> None:
        if passes:
            route.continue_()
        else:
            waiting.append(route)

    screen.page.route(STREAMS, hold)
    yield waiting
    passes = True
    for route in waiting:
        route.continue_()


def until_one_waits(screen: Screen, waiting: list[Route]) -> None:
    """Until the page has asked for a stream."""
    for _ in range(int(MS / 10)):
        if waiting:
            return
        screen.page.wait_for_timeout(10)
    raise AssertionError("the page asks for no stream")


def test_a_change_before_the_first_stream_is_there_is_shown(process: Controlled, ask: Asking, screen: Screen) -> None:
    with streams_wait(screen) as waiting:
        screen.open(process.url, "topics")
        until_one_waits(screen, waiting)
        ask("POST", "/v1/topics", {"name": "meanwhile"})
    expect(screen.row("meanwhile")).to_be_visible(timeout=MS)


def test_a_change_is_shown_at_once_while_another_stream_is_asked_for(
    process: Controlled, ask: Asking, screen: Screen
) -> None:
    screen.open(process.url)
    expect(screen.page.get_by_text("Live", exact=True)).to_be_visible(timeout=MS)
    with streams_wait(screen) as waiting:
        screen.link("Topics").first.click()
        screen.ready("topics")
        until_one_waits(screen, waiting)
        ask("POST", "/v1/topics", {"name": "at-once"})
        expect(screen.row("at-once")).to_be_visible(timeout=MS)


def test_a_change_of_what_no_stream_told_of_is_shown_once_one_does(
    process: Controlled, ask: Asking, screen: Screen
) -> None:
    screen.open(process.url, "topics")
    expect(screen.page.get_by_text("Live", exact=True)).to_be_visible(timeout=MS)
    with streams_wait(screen) as waiting:
        screen.link("Quotas").first.click()
        screen.ready("quotas")
        until_one_waits(screen, waiting)
        ask("POST", "/v1/quotas", {"client_id": "loader", "quotas": {"producer_byte_rate": 1000}})
    expect(screen.row("loader")).to_be_visible(timeout=MS)


SLOW_MS = 200
SLOWLY = f"""
const at_once = window.fetch;
window.asked = [];
window.fetch = async (url, ...rest) => {{
  if (new URL(url).pathname !== '/v1/topics') return at_once(url, ...rest);
  window.asked.push(performance.now());
  await new Promise((resolve) => setTimeout(resolve, {SLOW_MS}));
  return at_once(url, ...rest);
}};
"""


def test_a_list_whose_answers_take_long_is_asked_for_a_tenth_of_the_time(
    process: Controlled, ask: Asking, screen: Screen
) -> None:
    screen.page.add_init_script(SLOWLY)
    screen.open(process.url, "topics")
    number = 0
    while len(asked := screen.page.evaluate("window.asked")) < 3:
        number += 1
        ask("POST", "/v1/topics", {"name": f"topic-{number}"})
        screen.page.wait_for_timeout(20)
    pauses = [after - before for before, after in pairwise(asked)]
    assert min(pauses) >= 10 * SLOW_MS - 5, pauses
    listed = screen.page.get_by_role("grid", name="Topics")
    expect(listed).to_have_attribute("aria-rowcount", str(number + 2), timeout=MS)
