"""What is pressed in single subjects' views is done: transactions, snapshots, quotas, ACLs, chaos, the journal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest
from playwright.sync_api import expect

from kafkastub.client import Client
from kafkastub.client.groups import commit, list_groups
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.metadata_request import MetadataRequest
from tests.page.scenes import Asking
from tests.page.screen import Screen
from tests.process.serving import Controlled
from tests.waiting import SECONDS, until

MS = SECONDS * 1000
DAYS = ("2026-02-28", "2026-03-01", "2026-03-02")
CONFIG = (
    "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users=User:ANONYMOUS",
    "offsets.retention.minutes=60",
)


@pytest.fixture(scope="module")
def process() -> Iterator[Controlled]:
    with Controlled("--topic", "orders:2", "--config", *CONFIG) as process:
        yield process


def committed(process: Controlled, *groups: str) -> None:
    with Client(process.servers) as client:
        for group in groups:
            commit(client, group, {("orders", 0): 0})


def agree(screen: Screen, name: str) -> None:
    """Press the button of the question that came up."""
    screen.page.get_by_role("dialog").get_by_role("button", name=name, exact=True).click()


def test_a_hanging_transaction_is_made_and_aborted(process: Controlled, ask: Asking, screen: Screen) -> None:
    screen.open(process.url, "transactions/hanging")
    screen.sees("None hangs")
    screen.page.get_by_label("Topic", exact=True).fill("orders")
    screen.button("Let one hang").click()
    row = screen.row("orders-0")
    expect(row).to_be_visible(timeout=MS)
    screen.open(process.url)
    tile = screen.page.locator("main .figure", has_text=re.compile("^Transactions"))
    expect(tile).to_contain_text("1 hangs", timeout=MS)
    tile.click()
    screen.ready("transactions")
    screen.button("Abort the one in orders-0", row).click()
    agree(screen, "Abort")
    screen.sees("None hangs")
    assert ask("GET", "/v1/hanging-transactions") == {"hanging": []}


def test_markers_are_held_and_released(process: Controlled, ask: Asking, screen: Screen) -> None:
    with Client(process.servers) as client:
        client.ask(InitProducerIdRequest(transactional_id="shop", transaction_timeout_ms=60_000), version=4)
    screen.open(process.url, "transactions/shop")
    screen.button("Hold markers").click()
    screen.sees("Its markers are held")
    assert ask("GET", "/v1/holds")["markers"] == ["shop"]
    screen.open(process.url, "faults")
    screen.button(re.compile("Release Transaction markers: shop")).click()
    screen.sees("Nothing is held")
    assert ask("GET", "/v1/holds")["markers"] == []


def test_a_snapshot_is_taken_kept_as_a_file_and_restored(
    process: Controlled, ask: Asking, screen: Screen, tmp_path: Path
) -> None:
    committed(process, "before")
    screen.open(process.url, "snapshots")
    screen.page.get_by_label("Name", exact=True).fill("seed")
    screen.button("Take a snapshot").click()
    expect(screen.row("seed")).to_be_visible(timeout=MS)
    committed(process, "after")
    with screen.page.expect_download() as download:
        screen.button("Download seed").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    screen.button("Restore seed").click()
    agree(screen, "Restore")
    screen.sees("The state is that of seed")
    with Client(process.servers) as client:
        assert [one.group_id for one in list_groups(client)] == ["before"]
    screen.button("Delete seed").click()
    agree(screen, "Delete")
    screen.sees("No snapshots")
    screen.page.locator("input[type=file]").set_input_files(file)
    expect(screen.row("seed")).to_be_visible(timeout=MS)
    ask("DELETE", "/v1/snapshots/seed")


def test_quotas_are_set_and_removed(process: Controlled, ask: Asking, screen: Screen) -> None:
    screen.open(process.url, "quotas")
    screen.sees("No quotas")
    screen.page.get_by_label("Name", exact=True).fill("loader")
    screen.page.get_by_label("Value", exact=True).fill("1000")
    screen.button("Set").click()
    expect(screen.row("loader", "producer_byte_rate")).to_contain_text("1.0 kB a second", timeout=MS)
    assert ask("GET", "/v1/quotas")["quotas"][0]["client_id"] == "loader"
    screen.button(re.compile("Remove producer_byte_rate")).click()
    screen.sees("No quotas")


def test_an_acl_is_added_tried_and_removed(process: Controlled, ask: Asking, screen: Screen) -> None:
    screen.open(process.url, "acls")
    adding = screen.page.get_by_role("form", name="Add an entry")
    adding.get_by_label("Principal").fill("User:alice")
    adding.get_by_label("Name of the resource").fill("orders")
    adding.get_by_role("button", name="Add entry").click()
    expect(screen.row("User:alice", "READ")).to_contain_text("orders", timeout=MS)
    trying = screen.page.get_by_role("form", name="May somebody do something?")
    trying.get_by_label("Who").fill("User:alice")
    trying.get_by_label("Called").fill("orders")
    trying.get_by_role("button", name="Ask").click()
    expect(trying.get_by_role("status")).to_contain_text("Allowed", timeout=MS)
    trying.get_by_label("Does what").select_option("WRITE")
    trying.get_by_role("button", name="Ask").click()
    expect(trying.get_by_role("status")).to_contain_text("Denied", timeout=MS)
    screen.button(re.compile("^Remove: ALLOW READ")).click()
    agree(screen, "Remove")
    screen.sees("No entries")
    assert ask("GET", "/v1/acls")["total"] == 0


def test_chaos_begins_and_ends(process: Controlled, ask: Asking, screen: Screen) -> None:
    screen.open(process.url, "chaos")
    screen.page.get_by_label("Seed").fill("7")
    screen.button("Start").click()
    expect(screen.button("Stop")).to_be_visible(timeout=MS)
    assert ask("GET", "/v1/chaos")["seed"] == 7
    screen.button("Stop").click()
    expect(screen.button("Stop")).to_have_count(0, timeout=MS)
    assert ask("GET", "/v1/chaos")["running"] is False


def test_a_group_is_deleted_and_a_sweep_is_asked_for(process: Controlled, ask: Asking, screen: Screen) -> None:
    committed(process, "left", "other")
    screen.open(process.url, "groups/left")
    screen.button("Sweep now").click()
    screen.sees("0 offsets have expired")
    screen.button("Delete").click()
    agree(screen, "Delete")
    expect(screen.page.get_by_role("link", name="other")).to_be_visible(timeout=MS)
    expect(screen.page.get_by_role("link", name="left")).to_have_count(0)
    with Client(process.servers) as client:
        assert [one.group_id for one in list_groups(client)] == ["other"]


def test_what_a_step_takes_is_told_before_it_is_made(process: Controlled, ask: Asking, screen: Screen) -> None:
    ask("POST", "/v1/clock/freeze")
    committed(process, "g")
    screen.open(process.url, "clock")
    by = screen.page.get_by_role("textbox", name="Advance by")
    by.fill("59m")
    screen.sees("nothing would be gone")
    by.fill("1h")
    screen.sees("1 committed offset, 1 group would be gone")
    screen.button("Advance", screen.page.get_by_role("form", name="Advance")).click()
    screen.sees("Nothing expires")
    assert ask("GET", "/v1/groups")["total"] == 0


def test_the_journal_is_filtered_and_comes_live(process: Controlled, ask: Asking, screen: Screen) -> None:
    committed(process, "first")
    screen.open(process.url, "journal?api=OffsetCommit")
    expect(screen.row("group first")).to_be_visible(timeout=MS)
    expect(screen.page.get_by_role("row").filter(has_text="ApiVersions")).to_have_count(0)
    committed(process, "second")
    expect(screen.row("group second")).to_be_visible(timeout=MS)
    screen.page.get_by_label("Group", exact=True).fill("second")
    expect(screen.page.get_by_role("row").filter(has_text="group first")).to_have_count(0, timeout=MS)
    assert "group=second" in screen.page.url
    screen.button("Clear filters").click()
    expect(screen.row("ApiVersions")).to_be_visible(timeout=MS)
    screen.button("Clear", screen.page.locator(".page-head")).click()
    agree(screen, "Forget")
    screen.sees("No requests yet")


@pytest.mark.parametrize("filters", ["client_id=waiter", "api=Metadata&error=NONE"])
def test_an_answer_comes_to_what_is_filtered(process: Controlled, ask: Asking, screen: Screen, filters: str) -> None:
    ask("POST", "/v1/faults", {"api": "Metadata", "hold": "before", "client_id": "waiter", "name": "kept"})
    with ThreadPoolExecutor() as threads:
        asked = threads.submit(described, process)
        until(lambda: ask("GET", "/v1/holds")["requests"], "a request that is held")
        screen.open(process.url, f"journal?{filters}")
        row = screen.row("Metadata", "waiter")
        if "error" not in filters:
            expect(row).to_contain_text("pending", timeout=MS)
        ask("DELETE", "/v1/faults/kept")
        asked.result(SECONDS)
        expect(row).to_contain_text("ok", timeout=MS)
        expect(row).not_to_contain_text("pending")


def test_who_is_released_is_told_that_the_rule_holds_on(process: Controlled, ask: Asking, screen: Screen) -> None:
    ask("POST", "/v1/faults", {"api": "Metadata", "hold": "before", "client_id": "waiter", "name": "kept"})
    with ThreadPoolExecutor() as threads:
        asked = threads.submit(described, process)
        until(lambda: ask("GET", "/v1/holds")["requests"], "a request that is held")
        screen.open(process.url, "faults")
        held = screen.row("Metadata", "no. 1 that it holds")
        expect(held).to_have_text(re.compile(r"\d\d:\d\d:\d\d"), timeout=MS)
        screen.button(re.compile("^Release Request"), held).click()
        asked.result(SECONDS)
    screen.sees("The rule is still there")
    screen.button("Remove the rule").click()
    until(lambda: not ask("GET", "/v1/faults")["faults"], "a rule that is gone")


def described(process: Controlled) -> None:
    with Client(process.servers, client_id="waiter") as client:
        client.ask(MetadataRequest())


def test_a_click_on_a_byte_shows_its_field(process: Controlled, ask: Asking, screen: Screen) -> None:
    committed(process, "shipping")
    (entry,) = ask("GET", "/v1/journal", api="OffsetCommit")["entries"]
    screen.open(process.url, f"journal/{entry['sequence']}")
    field = screen.page.get_by_role("treeitem", name=re.compile("group_id")).first
    field.click()
    request = screen.page.locator(".frame-split").first
    assert "".join(request.locator(".hex-text .marked").all_inner_texts()).endswith("shipping")
    request.locator(".hex-bytes span").nth(6).click()
    chosen = request.get_by_role("treeitem", selected=True)
    expect(chosen).to_contain_text("request_api_version")
    request.get_by_role("tree").focus()
    screen.page.keyboard.press("Home")
    expect(request.get_by_role("treeitem", selected=True)).to_contain_text("size")


def test_a_topic_is_made_and_a_record_written_to_it(process: Controlled, ask: Asking, screen: Screen) -> None:
    screen.open(process.url, "topics")
    screen.button("Create a topic").click()
    form = screen.page.get_by_role("dialog")
    form.get_by_label("Name").fill("payments")
    form.get_by_label("Partitions").fill("2")
    form.get_by_label("Configuration").fill("retention.ms = 3600000\n\ncleanup.policy=delete")
    form.get_by_role("button", name="Create", exact=True).click()
    screen.button("Write a record").click()
    form.get_by_label("Partition").select_option("1")
    form.get_by_label("Value").fill("paid")
    form.get_by_label("Headers").fill("trace: 4bf9:2f35\nempty")
    form.get_by_role("button", name="Write", exact=True).click()
    screen.sees("Written to partition 1 at offset 0")
    (record,) = ask("GET", "/v1/topics/payments/records", partition=1)["records"]
    assert (record["key"], record["value"]) == (None, "paid")
    assert record["headers"] == [["trace", "4bf9:2f35"], ["empty", ""]]
    listed = {topic["name"]: topic for topic in ask("GET", "/v1/topics")["topics"]}
    assert listed["payments"]["configs"] == {"retention.ms": "3600000", "cleanup.policy": "delete"}


def test_the_clock_and_records_take_a_day_as_its_beginning(process: Controlled, ask: Asking, screen: Screen) -> None:
    ask("POST", "/v1/clock/freeze")
    screen.open(process.url, "clock")
    screen.field("Set to").fill("2040-02-29")
    screen.button("Set", screen.page.get_by_role("form", name="Set")).click()
    screen.sees("It is 2040-02-29 00:00:00")
    assert ask("GET", "/v1/clock")["now"].startswith("2040-02-29T00:00:00")
    times = [int(datetime.fromisoformat(f"{day}T06:00Z").timestamp() * 1000) for day in DAYS]
    records = [{"value": day, "partition": 0, "timestamp": ms} for day, ms in zip(DAYS, times, strict=True)]
    ask("POST", "/v1/topics/orders/records", {"records": records})
    screen.open(process.url, "topics/orders/records?partition=0")
    screen.field("Go to an offset or a time").fill(DAYS[1])
    screen.button("Go to").click()
    expect(screen.page.get_by_role("complementary", name="Record")).to_contain_text(DAYS[1], timeout=MS)
