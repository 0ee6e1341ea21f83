"""Nothing moves away from under somebody: the focus stays in a list or goes on, rows that are chosen from rest."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from kafkastub.client import Client
from kafkastub.client.groups import commit
from kafkawire.codec import encode
from kafkawire.messages.metadata_request import MetadataRequest
from tests.page.scenes import Asking
from tests.page.screen import Screen
from tests.process.serving import Controlled
from tests.rawclient import RawClient
from tests.waiting import SECONDS

MS = SECONDS * 1000
LEFT = "shown when the pointer and the focus leave the list"


@pytest.fixture(scope="module")
def process() -> Iterator[Controlled]:
    with Controlled("--topic", "orders:1") as process:
        yield process


def commits(process: Controlled, count: int, group: str = "billing") -> None:
    with Client(process.servers, client_id="committer") as client:
        for number in range(count):
            commit(client, group, {("orders", 0): number})


def heading(screen: Screen, name: str) -> Locator:
    return screen.page.get_by_role("heading", name=name, exact=True)


def test_the_focus_stays_in_the_latest_requests(process: Controlled, ask: Asking, screen: Screen) -> None:
    commits(process, 20)
    screen.open(process.url)
    table = screen.page.get_by_role("table", name="Latest requests")
    last = table.get_by_role("link").last
    name = last.inner_text()
    last.focus()
    commits(process, 20, "later")
    screen.sees(f"newer, {LEFT}")
    focused = screen.page.locator(":focus")
    assert focused.inner_text() == name
    screen.link("Journal", screen.page.locator("main")).focus()
    expect(table).to_contain_text("later", timeout=MS)
    expect(screen.page.get_by_text(LEFT)).to_have_count(0)


def test_the_latest_requests_rest_under_the_pointer(process: Controlled, ask: Asking, screen: Screen) -> None:
    commits(process, 20)
    screen.open(process.url)
    table = screen.page.get_by_role("table", name="Latest requests")
    row = table.get_by_role("row").nth(5)
    was = row.get_by_role("link").get_attribute("href")
    row.hover()
    commits(process, 20)
    screen.sees(f"newer, {LEFT}")
    screen.page.mouse.down()
    screen.page.mouse.up()
    screen.ready("journal")
    assert screen.page.evaluate("location.hash") == was


def test_who_releases_by_enter_goes_on_with_the_next_one(process: Controlled, ask: Asking, screen: Screen) -> None:
    ask("POST", "/v1/faults", {"name": "gate", "api": "Metadata", "client_id": "held-*", "hold": "before"})
    with RawClient(process.servers) as one, RawClient(process.servers) as other:
        for number, client in enumerate((one, other)):
            client.send(MetadataRequest.API_KEY, 1, encode(MetadataRequest(topics=[]), 1), client_id=f"held-{number}")
        ask("GET", "/v1/faults/gate/wait", held=2, timeout=SECONDS)
        screen.open(process.url, "faults")
        release = screen.page.get_by_role("table", name="Held now").get_by_role("button", name=re.compile("^Release"))
        expect(release).to_have_count(2, timeout=MS)
        release.first.focus()
        screen.page.keyboard.press("Enter")
        expect(release).to_have_count(1, timeout=MS)
        expect(release).to_be_focused(timeout=MS)
        screen.page.keyboard.press("Enter")
        screen.sees("Nothing is held")
        expect(heading(screen, "Held now")).to_be_focused(timeout=MS)


@pytest.mark.parametrize("begin", ["topics", "groups"])
def test_keys_that_lead_to_a_view_lead_to_its_heading(
    process: Controlled, ask: Asking, screen: Screen, begin: str
) -> None:
    screen.open(process.url, begin)
    screen.link("Topics", screen.page.get_by_role("navigation", name="Views")).focus()
    screen.page.keyboard.press("g")
    screen.page.keyboard.press("g")
    screen.ready("groups")
    expect(screen.page.get_by_role("heading", level=1, name="Groups")).to_be_focused(timeout=MS)


@pytest.mark.parametrize("filters", ["", "?api=OffsetCommit"])
def test_the_journal_rests_under_the_pointer(process: Controlled, ask: Asking, screen: Screen, filters: str) -> None:
    """Less is asked for meanwhile than was before, and nothing of it is kept but its number."""
    commits(process, 10)
    screen.open(process.url, f"journal{filters}")
    grid = screen.page.get_by_role("grid", name="Journal")
    expect(screen.row("group billing")).to_be_visible(timeout=MS)
    row = grid.get_by_role("row").nth(4)
    was = row.get_by_role("link").get_attribute("href") or ""
    row.hover()
    commits(process, 20, "later")
    screen.sees(re.compile(rf"\d+ newer, {LEFT}"))
    expect(grid.get_by_role("row").filter(has_text="group later")).to_have_count(0)
    screen.page.mouse.down()
    screen.page.mouse.up()
    screen.page.wait_for_url(f"**/{was}")
    screen.ready("journal")
    screen.page.mouse.move(5, 5)
    screen.page.get_by_label("Client id").focus()
    expect(screen.row("OffsetCommit")).to_be_visible(timeout=MS)
    screen.page.go_back()
    expect(grid.get_by_role("row").filter(has_text="group later").first).to_be_visible(timeout=MS)
    screen.sees("Live: the newest is at the top")


def test_the_journal_rests_while_it_has_the_focus_and_counts_to_a_bound(
    process: Controlled, ask: Asking, screen: Screen
) -> None:
    commits(process, 5)
    screen.open(process.url, "journal?api=OffsetCommit")
    grid = screen.page.get_by_role("grid", name="Journal")
    expect(screen.row("group billing")).to_be_visible(timeout=MS)
    grid.focus()
    commits(process, 450, "later")
    screen.sees(f"200 or more newer, {LEFT}")
    expect(grid.get_by_role("row").filter(has_text="group later")).to_have_count(0)
    expect(grid).to_have_attribute("aria-rowcount", "6")
    screen.page.get_by_label("Client id").focus()
    expect(grid.get_by_role("row").filter(has_text="group later").first).to_be_visible(timeout=MS)


def test_an_answer_comes_to_a_row_under_the_pointer(process: Controlled, ask: Asking, screen: Screen) -> None:
    ask("POST", "/v1/faults", {"name": "gate", "api": "Metadata", "client_id": "held-0", "hold": "before"})
    with RawClient(process.servers) as client:
        client.send(MetadataRequest.API_KEY, 1, encode(MetadataRequest(topics=[]), 1), client_id="held-0")
        screen.open(process.url, "journal")
        row = screen.row("Metadata", "held-0")
        expect(row).to_contain_text("pending", timeout=MS)
        row.hover()
        ask("DELETE", "/v1/faults/gate")
        expect(row).not_to_contain_text("pending", timeout=MS)


def test_what_is_forgotten_goes_from_under_the_pointer(process: Controlled, ask: Asking, screen: Screen) -> None:
    commits(process, 5)
    screen.open(process.url, "journal")
    screen.row("group billing").hover()
    screen.sees("It rests")
    screen.button("Clear", screen.page.locator(".page-head")).focus()
    screen.page.keyboard.press("Enter")
    screen.button("Forget", screen.page.get_by_role("dialog")).focus()
    screen.page.keyboard.press("Enter")
    screen.sees("No requests yet")
