"""A page that somebody leaves open for a day: what it keeps does not grow, and what it asks it asks once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

import httpx
import pytest
from playwright.sync_api import Browser, expect

from kafkastub.client import Client
from kafkastub.client.groups import commit
from tests.page.screen import Screen
from tests.process.serving import Controlled

FILTERED: Final = """
async ([begin, rounds, more, waiting]) => {
  const {Filtered} = await import('/page/views/journal/rows.js');
  const journal = [];
  const grow = (count) => {
    for (let each = 0; each < count; each += 1) {
      journal.push({sequence: journal.length, outcome: journal.length === waiting ? 'pending' : 'reply'});
    }
  };
  const get = async (path, {limit, since = null, before = null, outcome}) => {
    const between = journal.slice(since ?? 0, before ?? journal.length);
    const seen = between.filter((each) => !outcome || each.outcome === outcome);
    return {total: journal.length, entries: since === null ? seen.slice(-limit) : seen.slice(0, limit)};
  };
  grow(begin);
  const rows = new Filtered(get, {api: 'Heartbeat'});
  await rows.load(0, 100);
  if (waiting !== null) journal[waiting] = {sequence: waiting, outcome: 'reply'};
  let most = 0;
  for (let round = 0; round < rounds; round += 1) {
    grow(more);
    await rows.renew();
    most = Math.max(most, rows.rows.length);
  }
  const all = [];
  for (let offset = 0; offset < journal.length; offset += 100) all.push(...(await rows.load(offset, 100)).rows);
  return {most, all: all.map((row) => row.sequence)};
}
"""
"""A filtered list of a journal that begins with so many entries, renewed after `more` each time, then read to its end.

The entry `waiting` is answered once the list's first rows are there.
"""


@pytest.fixture(scope="module")
def process() -> Iterator[Controlled]:
    with Controlled("--topic", "orders:1") as process:
        yield process


def test_a_filtered_journal_keeps_what_is_seen_and_finds_the_rest_again(process: Controlled, screen: Screen) -> None:
    screen.open(process.url)
    said = screen.page.evaluate(FILTERED, [50, 100, 50, None])
    assert said["most"] < 2_000
    assert said["all"] == list(reversed(range(5_050)))


def test_an_answer_below_what_was_loaded_so_far_stands_there_once(process: Controlled, screen: Screen) -> None:
    screen.open(process.url)
    said = screen.page.evaluate(FILTERED, [500, 1, 10, 100])
    assert said["all"] == list(reversed(range(510)))


TYPED: Final = """
async (field) => {
  field.value = 'ord';
  field.dispatchEvent(new Event('input', {bubbles: true}));
  location.hash = '#/groups';
  await new Promise((done) => setTimeout(done, 500));
  return location.hash;
}
"""
"""Types into a field and goes away before the page has looked for it; then where it is, later than it would look."""


@pytest.mark.parametrize("view", ["topics", "journal"])
def test_what_was_typed_into_a_view_that_is_gone_is_not_looked_for_in_the_next(
    process: Controlled, screen: Screen, view: str
) -> None:
    screen.open(process.url, view)
    assert screen.page.locator("[data-search]").evaluate(TYPED) == "#/groups"


@pytest.mark.parametrize("view", ["overview", "clock", "nodes", "groups", "transactions"])
def test_a_view_asks_for_the_same_once(process: Controlled, screen: Screen, view: str) -> None:
    screen.open(process.url, view)
    asked = Counter(url for url in screen.asked if "/v1/" in url)
    assert {url for url, times in asked.items() if times > 1} == set()


def test_what_is_to_look_at_stays_as_it_was_without_a_broker(browser: Browser) -> None:
    """Of one that was behind for a moment only, the overview asks again a little later."""
    with Screen(browser) as screen:
        with Controlled("--topic", "orders:1") as process:
            with Client(process.servers) as client:
                commit(client, "late", {("orders", 0): 0})
            httpx.post(f"{process.url}/v1/topics/orders/records", json={"records": [{"value": "1"}]}).raise_for_status()
            screen.open(process.url)
            screen.sees("Nobody reads for 1 group")
        screen.sees("Disconnected")
        screen.page.evaluate("new Promise((done) => setTimeout(done, 5000))")
        screen.sees("Nobody reads for 1 group")
        assert [each for each in screen.complaints if "ERR_" not in each] == []


def test_records_of_all_partitions_are_asked_for_once_wherever_somebody_reads(
    process: Controlled, screen: Screen
) -> None:
    with httpx.Client(base_url=process.url) as client:
        client.post("/v1/topics", json={"name": "pairs", "partitions": 2}).raise_for_status()
        records = [{"value": str(number), "partition": number % 2} for number in range(200)]
        client.post("/v1/topics/pairs/records", json={"records": records}).raise_for_status()
        screen.open(process.url, "topics/pairs")
        screen.page.get_by_role("grid").evaluate("grid => { grid.scrollTop = 90 * 30 }")
        screen.ready()
        before = len(screen.asked)
        with screen.page.expect_response(lambda answer: "partition=0&offset=1&" in answer.url):
            one = {"value": "new", "partition": 0}
            client.post("/v1/topics/pairs/records", json={"records": [one]}).raise_for_status()
        screen.ready()
    asked = Counter(url for url in screen.asked[before:] if "/records?" in url)
    assert set(asked.values()) == {1}


def test_every_field_has_an_id_of_its_own_however_often_the_frame_was_drawn(
    process: Controlled, screen: Screen
) -> None:
    """By it the field's label is told: Preact's own ids begin anew where the frame was drawn again around a view."""
    screen.open(process.url, "topics/orders")
    with screen.page.expect_response("**/v1/summary"):
        httpx.post(f"{process.url}/v1/topics", json={"name": "one-more", "partitions": 1}).raise_for_status()
    screen.ready()
    screen.button("Write a record").click()
    expect(screen.page.get_by_role("dialog").get_by_label("Headers")).to_be_visible()
    ids = screen.page.evaluate("Array.from(document.querySelectorAll('[id]'), (each) => each.id)")
    assert [each for each, times in Counter(ids).items() if times > 1] == []
