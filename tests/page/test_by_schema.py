"""Records by the schemas of the broker's registry, on the page: shown, written, refused."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import expect

from kafkastub import KafkaStub
from tests.page.screen import Screen
from tests.waiting import SECONDS

MS = SECONDS * 1000
ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 1}, registry=True, control_port=0, journal=True) as stub:
        stub.registry.register("orders-value", ORDER)
        stub.produce("orders", {"id": 4711}, schema="orders-value")
        yield stub


def test_a_value_is_shown_by_its_schema_and_written_by_one(stub: KafkaStub, screen: Screen) -> None:
    screen.open(stub.control_url, "topics/orders/records?partition=0")
    screen.sees('{"id":4711}')
    screen.button("Write a record").click()
    form = screen.page.get_by_role("dialog")
    form.get_by_label("Schema").fill("orders-value")
    form.get_by_label("Value").fill('{"id": "x"}')
    form.get_by_role("button", name="Write", exact=True).click()
    expect(form).to_contain_text("Order.id: a long is expected, not 'x' (str)", timeout=MS)
    screen.complaints.clear()  # of the browser, about the 400
    form.get_by_label("Value").fill('{"id": 9007199254740993}')
    form.get_by_role("button", name="Write", exact=True).click()
    screen.sees("Written to partition 0 at offset 1")
    screen.sees('{"id":9007199254740993}')
    assert stub.records("orders", by_schema=True)[1].value == {"id": 9007199254740993}
    screen.open(stub.control_url, "topics/orders/records?partition=0&offset=0")
    record = screen.page.get_by_role("complementary", name="Record")
    expect(record).to_contain_text("Avro: orders-value version 1, id 1", timeout=MS)
    expect(record).to_contain_text('"id": 4711')


def test_the_journal_shows_a_record_by_its_schema(stub: KafkaStub, screen: Screen) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": stub.bootstrap_servers})
    producer.produce("orders", stub.registry.encode("orders-value", {"id": 1234}))
    producer.flush()
    (entry,) = httpx.get(f"{stub.control_url}/v1/journal?api=Produce").json()["entries"]
    screen.open(stub.control_url, f"journal/{entry['sequence']}")
    tree = screen.page.locator(".frame-split").first.get_by_role("tree")
    tree.get_by_role("treeitem", name=re.compile("array of record")).click()
    tree.get_by_role("treeitem", name=re.compile(r"\[0\] record$")).last.click()
    expect(tree).to_contain_text('{"id":1234} orders-value version 1', timeout=MS)
