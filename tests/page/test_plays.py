"""What happens on a broker is seen on the page, before one's eyes and without loading it again.

What is pressed there is done. Real clients are on the one side, a real browser on the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from playwright.sync_api import Browser, Locator, expect

from kafkastub.client import Client
from kafkastub.client.groups import commit, offsets
from kafkawire.codec import encode
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from tests.page.scenes import PAYMENT, QUIETLY, Asking, Reader, payment
from tests.page.screen import PHONE, Screen, Theme
from tests.ports import reserved_port
from tests.process.serving import Controlled
from tests.rawclient import RawClient
from tests.waiting import SECONDS, until

MS = SECONDS * 1000
FASTER_THAN_FRAMES = """
async (grid, keys) => {
  for (const key of keys) {
    grid.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
    await Promise.resolve().then(() => {});
  }
}
"""
"""Presses one key after the other before the next frame is drawn: so a machine that stood still hands them over."""
CONFIG = ("group.initial.rebalance.delay.ms=0", "log.message.timestamp.after.max.ms=4611686018427387904")


@pytest.fixture
def process() -> Iterator[Controlled]:
    with Controlled("--topic", "orders:1", "--config", *CONFIG) as process:
        yield process


def produce(process: Controlled, count: int, topic: str = "orders") -> None:
    producer = Producer({**QUIETLY, "bootstrap.servers": process.servers, "linger.ms": 0})
    for number in range(count):
        producer.produce(topic, f"order {number}".encode(), partition=0)
    assert producer.flush(SECONDS) == 0


def figure(screen: Screen, title: str) -> Locator:
    """A large number with its title."""
    return screen.page.locator("main .figure", has_text=re.compile(f"^{title}"))


def value(screen: Screen, title: str) -> Locator:
    """The number alone."""
    return figure(screen, title).locator(".figure-value")


def test_a_group_falls_behind_and_catches_up_before_ones_eyes(process: Controlled, screen: Screen) -> None:
    reader = Reader(process.servers, "billing", ["orders"], "billing-1")
    ask = Asking(process.url)
    try:
        produce(process, 3)
        ask("GET", "/v1/groups/billing/wait", members=1, lag=0, timeout=60)
        screen.open(process.url, "groups/billing")
        expect(value(screen, "Lag")).to_have_text("0", timeout=MS)
        reader.pause()
        produce(process, 25)
        expect(value(screen, "Lag")).to_have_text("25", timeout=MS)
        screen.open(process.url, "groups")
        expect(screen.row("billing")).to_contain_text("25")
        reader.go_on()
        expect(screen.row("billing")).not_to_contain_text("25", timeout=MS)
        screen.open(process.url, "groups/billing")
        expect(value(screen, "Lag")).to_have_text("0", timeout=MS)
        screen.link("Partitions and offsets").click()
        expect(screen.row("orders-0", "billing-1")).to_contain_text("28", timeout=MS)
    finally:
        reader.close()
        ask.close()


def test_a_fault_is_added_by_the_form_and_the_clients_retry_is_seen(process: Controlled, screen: Screen) -> None:
    consumer = Consumer({**QUIETLY, "bootstrap.servers": process.servers, "group.id": "billing", "client.id": "payer"})
    consumer.commit(offsets=[TopicPartition("orders", 0, 1)], asynchronous=False)
    screen.open(process.url, "faults")
    form = screen.page.get_by_role("form", name="Add a fault")
    screen.field("API", form).select_option("OffsetCommit")
    screen.field("Group", form).fill("billing")
    screen.field("What", form).select_option(label="Answer with an error")
    screen.field("Error", form).select_option("COORDINATOR_LOAD_IN_PROGRESS")
    screen.field("Times", form).fill("1")
    screen.field("Name", form).fill("loading")
    form.get_by_role("button", name=re.compile("^Add")).click()
    rule = screen.row("loading", "COORDINATOR_LOAD_IN_PROGRESS")
    expect(rule).to_contain_text("0 of 0", timeout=MS)
    consumer.commit(offsets=[TopicPartition("orders", 0, 2)], asynchronous=False)  # librdkafka tries again by itself
    consumer.close()
    expect(rule).to_contain_text("1 of", timeout=MS)
    screen.open(process.url, "journal?api=OffsetCommit&group=billing")
    expect(screen.row("OffsetCommit", "COORDINATOR_LOAD_IN_PROGRESS")).to_be_visible(timeout=MS)
    answers = screen.page.get_by_role("row").filter(has_text="OffsetCommit").all_inner_texts()
    assert ["ok" in text for text in answers] == [True, False, True], (
        "the newest first: tried again, refused, the first"
    )


def test_an_offsets_end_is_foreseen_the_clock_moved_and_the_offset_gone(
    process: Controlled, ask: Asking, screen: Screen
) -> None:
    ask("POST", "/v1/clock/freeze")
    with Client(process.servers) as client:
        commit(client, "nightly", {("orders", 0): 0})
        screen.open(process.url, "clock")
        row = screen.row("nightly", "orders")
        expect(row).to_contain_text("in 7 d", timeout=MS)
        assert offsets(client, "nightly")
        screen.button("Advance by 1 day", screen.page.get_by_role("banner")).click()
        expect(row).to_contain_text("in 6 d", timeout=MS)
        row.get_by_role("button", name=re.compile("^Advance to it")).click()
        screen.sees("Nothing expires")
        until(lambda: not offsets(client, "nightly"), "an offset that is gone")
    screen.open(process.url, "groups")
    expect(screen.page.get_by_role("link", name="nightly")).to_have_count(0, timeout=MS)


def test_a_hold_is_seen_and_released_by_a_click(process: Controlled, ask: Asking, screen: Screen) -> None:
    ask("POST", "/v1/faults", {"name": "gate", "api": "Produce", "hold": "before"})
    delivered: list[object] = []
    producer = Producer({**QUIETLY, "bootstrap.servers": process.servers, "client.id": "loader", "linger.ms": 0})
    producer.produce("orders", b"held", on_delivery=lambda error, message: delivered.append(error))
    screen.open(process.url, "faults")
    held = screen.row("Produce", "loader", "gate")
    expect(held).to_be_visible(timeout=MS)
    assert not producer.poll(0)
    assert not delivered
    held.get_by_role("button", name=re.compile("Release")).click()
    assert producer.flush(SECONDS) == 0
    assert delivered == [None]
    screen.sees("Nothing is held")


def test_records_come_before_ones_eyes_and_are_read_by_a_schema(
    process: Controlled, ask: Asking, screen: Screen
) -> None:
    screen.open(process.url, "topics/orders/records?partition=0")
    screen.sees("no records")
    key, value = payment(0)
    producer = Producer({**QUIETLY, "bootstrap.servers": process.servers, "linger.ms": 0})
    producer.produce("orders", value, key, headers=[("trace", b"4bf92f")])
    assert producer.flush(SECONDS) == 0
    row = screen.row("4700")
    expect(row).to_be_visible(timeout=MS)
    row.click()
    record = screen.page.get_by_role("complementary", name="Record")
    expect(record).to_contain_text("trace", timeout=MS)
    record.get_by_text("Avro").last.click()
    screen.field("Avro schema", record).fill(json.dumps(PAYMENT))
    screen.button("Read by it", record).click()
    expect(record).to_contain_text(re.compile(r'"amount":\s*12\.5'), timeout=MS)
    expect(record).to_contain_text('"EUR"')
    address = screen.page.url
    screen.open(process.url, "overview")
    screen.page.goto(address)
    expect(screen.page.get_by_role("complementary", name="Record")).to_contain_text("trace", timeout=MS)


def test_a_request_is_read_field_by_field_beside_its_bytes(process: Controlled, ask: Asking, screen: Screen) -> None:
    with Client(process.servers, client_id="committer") as client:
        commit(client, "billing", {("orders", 0): 4711})
    screen.open(process.url, "journal?api=OffsetCommit")
    screen.row("OffsetCommit", "committer").click()
    field = screen.page.get_by_role("treeitem").filter(has_text="committed_offset").first
    expect(field).to_contain_text("4711", timeout=MS)
    field.click()
    marked = screen.page.locator(".hex-bytes .marked")
    expect(marked).to_have_text(["00", "00", "00", "00", "00", "00", "12", "67"], timeout=MS)
    screen.page.locator(".hex-bytes").get_by_text("62", exact=True).first.click()  # the b of "billing"
    expect(screen.page.locator("[role=treeitem][aria-selected=true]")).to_contain_text("group_id", timeout=MS)
    expect(marked).to_have_count(len("billing") + 1)


def test_a_node_is_stopped_and_started(screen: Screen) -> None:
    """The last one that runs is stopped by who says so twice."""
    with Controlled("--nodes", "2", "--topic", "orders:2") as process:
        ask = Asking(process.url)

        def running() -> list[bool]:
            return [one["running"] for one in ask("GET", "/v1/nodes")["nodes"]]

        screen.open(process.url, "nodes")
        stop, start = screen.button(re.compile("^Stop")), screen.button(re.compile("^Start"))
        stop.first.click()
        expect(start).to_have_count(1, timeout=MS)
        assert sorted(running()) == [False, True]
        dialog = screen.page.get_by_role("dialog")
        expect(dialog).to_have_count(0)
        for answer, left in (("Cancel", 1), ("Stop", 0)):
            stop.click()
            screen.button(answer, dialog).click()
            expect(stop).to_have_count(left, timeout=MS)
            assert sum(running()) == left
        start.first.click()
        expect(stop).to_have_count(1, timeout=MS)
        start.click()
        until(lambda: all(running()), "nodes that have started")
        ask.close()


def test_what_is_refused_is_told_in_the_servers_words(process: Controlled, screen: Screen) -> None:
    screen.open(process.url, "faults")
    form = screen.page.get_by_role("form", name="Add a fault")
    screen.field("Times", form).fill("0")
    form.get_by_role("button", name=re.compile("^Add")).click()
    screen.page.get_by_role("dialog").get_by_role("button", name="Add fault").click()  # an error for every API
    screen.sees(re.compile("times.*(refused|greater|at least|wanted)"))
    screen.complaints = [each for each in screen.complaints if "400" not in each]


def test_a_page_that_is_hidden_asks_for_nothing(process: Controlled, screen: Screen) -> None:
    """Another tab is in front: the stream ends, and however busy the broker is, it is not asked."""
    screen.open(process.url, "groups")
    expect(screen.page.get_by_role("status", name=re.compile("kept up to date|Live"))).to_be_visible(timeout=MS)
    screen.page.evaluate(
        "Object.defineProperty(document, 'hidden', {value: true, configurable: true});"
        "Object.defineProperty(document, 'visibilityState', {value: 'hidden', configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    screen.sees("Paused")
    before = len(screen.asked)
    with Client(process.servers) as client:
        for number in range(50):
            commit(client, "late", {("orders", 0): number})
    screen.page.wait_for_timeout(700)
    assert len(screen.asked) == before
    screen.page.evaluate(
        "Object.defineProperty(document, 'hidden', {value: false, configurable: true});"
        "Object.defineProperty(document, 'visibilityState', {value: 'visible', configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    screen.sees("late")


def test_the_broker_goes_and_comes_back_and_the_page_says_so(screen: Screen) -> None:
    """It is another one then, which the page shows, and can steer, without being loaded again."""
    with reserved_port() as port:
        with Controlled("--topic", "orders:1", control_port=port) as process:
            screen.open(process.url, "groups")
        screen.sees("Disconnected")
        screen.sees("The broker does not answer")
        with Controlled("--topic", "orders:1", control_port=port) as process:
            screen.sees("Live")
            expect(screen.page.get_by_text("does not answer")).to_have_count(0, timeout=MS)
            with Client(process.servers) as client:
                commit(client, "afterwards", {("orders", 0): 0})
            expect(screen.row("afterwards")).to_be_visible(timeout=MS)
            screen.button("Freeze").click()
            expect(screen.button("Unfreeze")).to_be_visible(timeout=MS)
            ask = Asking(process.url)
            assert ask("GET", "/v1/clock")["frozen"] is True
            ask.close()
    screen.complaints = [each for each in screen.complaints if "ERR_" not in each and "403" not in each]


def test_keys_lead_everywhere(process: Controlled, ask: Asking, screen: Screen) -> None:
    for number in range(60):
        ask("POST", "/v1/topics", {"name": f"topic-{number:02}", "partitions": 1})
    screen.open(process.url, "overview")
    screen.page.keyboard.press("g")
    screen.page.keyboard.press("t")
    screen.ready("topics")
    grid = screen.page.get_by_role("grid")
    grid.focus()
    grid.evaluate(FASTER_THAN_FRAMES, ["End", "Home", "ArrowDown"])
    expect(grid).to_have_attribute("aria-activedescendant", re.compile("."), timeout=MS)
    chosen = grid.get_attribute("aria-activedescendant")
    name = screen.page.locator(f"[id='{chosen}']").get_by_role("link").inner_text()
    screen.page.keyboard.press("Enter")
    expect(screen.page.get_by_role("heading", level=1)).to_have_text(name, timeout=MS)
    screen.page.go_back()
    screen.ready("topics")
    screen.page.keyboard.press("/")
    screen.page.keyboard.type("topic-33")
    expect(screen.row("topic-33")).to_be_visible(timeout=MS)
    expect(screen.page.get_by_role("link", name="topic-32")).to_have_count(0, timeout=MS)
    assert "topic-33" in screen.page.url, "what is looked for is part of the address"


def test_a_broker_that_is_gone_is_told_of_and_cannot_be_steered(screen: Screen) -> None:
    with Controlled("--topic", "orders:1") as process:
        screen.open(process.url, "journal")
    screen.sees("The broker does not answer")
    expect(screen.button("Freeze")).to_be_disabled(timeout=MS)
    screen.complaints = [each for each in screen.complaints if "ERR_" not in each]


@pytest.mark.parametrize(("system", "at_first"), [("light", "rgb(247, 247, 245)"), ("dark", "rgb(18, 20, 22)")])
def test_the_theme_is_the_systems_until_somebody_chooses_one(
    process: Controlled, browser: Browser, system: Theme, at_first: str
) -> None:
    with Screen(browser, theme=system) as screen:
        screen.open(process.url, "docs")
        ground = screen.page.locator("body")
        expect(ground).to_have_css("background-color", at_first)
        for pressed, colour in (("Light", "rgb(247, 247, 245)"), ("Dark", "rgb(18, 20, 22)"), ("Auto", at_first)):
            screen.button(re.compile(f"Change to {pressed}$")).click()
            expect(ground).to_have_css("background-color", colour)
            screen.page.reload()
            expect(ground).to_have_css("background-color", colour)
        screen.check()


def test_a_client_that_is_gone_leaves_its_requests(process: Controlled, ask: Asking, screen: Screen) -> None:
    """What it asked stays in the journal, the one that it did not wait for too; its connection does not."""
    wanted = [FetchTopic("orders", partitions=[FetchPartition(0, fetch_offset=0, partition_max_bytes=1000)])]
    fetch = FetchRequest(max_wait_ms=300_000, min_bytes=1, session_epoch=-1, topics=wanted)
    screen.open(process.url)
    with RawClient(process.servers) as client:
        client.send(fetch.API_KEY, 11, encode(fetch, 11), client_id="hasty")
        expect(screen.row("Fetch", "hasty")).to_contain_text("pending", timeout=MS)
        expect(figure(screen, "Connections")).to_contain_text("Connections1", timeout=MS)
        screen.open(process.url, "journal?client_id=hasty")
        row = screen.row("Fetch", "hasty")
        expect(row).to_contain_text("pending", timeout=MS)
    expect(row).to_contain_text("client gone", timeout=MS)
    expect(row).to_have_class(re.compile(r"\bfaded\b"))
    expect(row).not_to_have_class(re.compile(r"\bbad\b"))
    row.click()
    screen.sees("There is no answer: client gone")
    screen.open(process.url)
    expect(screen.row("Fetch", "hasty")).to_contain_text("client gone", timeout=MS)
    expect(figure(screen, "Connections")).to_contain_text("Connections0", timeout=MS)


def test_rows_are_cards_on_a_phone(process: Controlled, ask: Asking, browser: Browser) -> None:
    """Each column is a line with its title before it, and what a row is for is in sight."""
    ask("POST", "/v1/faults", {"name": "slow", "api": "Metadata", "delay_ms": 5, "client_id": "payments-*"})
    with Screen(browser) as screen:
        screen.open(process.url, "faults")
        expect(screen.row("slow")).to_have_css("display", "table-row")
    with Screen(browser, PHONE) as screen:
        screen.open(process.url, "faults")
        card = screen.row("slow")
        expect(card).to_have_css("display", "block")
        cells = card.get_by_role("cell")
        titles = cells.evaluate_all("all => all.map((each) => getComputedStyle(each, '::before').content)")
        assert titles == ['"Name"', '"Rule"', '"Met by"', '"Holds"', "none"]
        boxes = [cell.bounding_box() for cell in cells.all()]
        assert all(box and box["x"] >= 0 and box["x"] + box["width"] <= PHONE[0] for box in boxes)
        tops = [box["y"] for box in boxes if box]
        assert tops == sorted(set(tops)), "one below the other"
        remove = screen.button("Remove slow")
        remove.scroll_into_view_if_needed()
        expect(remove).to_be_in_viewport(ratio=1)
        remove.click()
        screen.sees("No faults")
        screen.check()
    assert ask("GET", "/v1/faults")["faults"] == []


def test_a_finding_names_what_was_skipped_and_leads_to_the_request_that_shows_it(
    process: Controlled, screen: Screen
) -> None:
    produce(process, 10)
    consumer = Consumer({**QUIETLY, "bootstrap.servers": process.servers, "group.id": "billing"})
    consumer.assign([TopicPartition("orders", 0, 7)])
    until(lambda: consumer.poll(0.1) is not None, "a record")
    for offset in (0, 10):
        consumer.commit(offsets=[TopicPartition("orders", 0, offset)], asynchronous=False)
    consumer.close()
    screen.open(process.url, "check")
    finding = screen.page.get_by_role("article", name="skipped")
    expect(finding).to_contain_text("orders-0", timeout=MS)
    expect(finding).to_contain_text("offsets 0 to 6")
    expect(finding).to_contain_text("past records that the group was never given")
    finding.locator(".timeline a").last.click()
    expect(screen.page.locator("main")).to_contain_text("OffsetCommit", timeout=MS)


def test_a_check_that_finds_nothing_says_so_and_is_made_again(process: Controlled, screen: Screen) -> None:
    screen.open(process.url, "check")
    expect(screen.page.locator("main")).to_contain_text("No broken guarantee found", timeout=MS)
    produce(process, 3)
    screen.button("Check again").click()
    expect(screen.page.locator("main")).to_contain_text("1 batch written", timeout=MS)
