"""All that a stub has at one moment, as the report of a failed test shows it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, ShareConsumer, TopicPartition

from kafkastub import KafkaStub
from kafkastub.stub.inventory import Inventory, in_time
from kafkastub.stub.inventory.tables import content, message
from tests import streams_instance
from tests.stub.test_share_groups import QUICK
from tests.waiting import SECONDS, until

BEGAN = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    config = {**QUICK, **streams_instance.QUICK, "group.initial.rebalance.delay.ms": 0}
    with KafkaStub(topics={"orders": 2, "lines": 2}, config=config) as stub:
        yield stub


def rows(stub: KafkaStub, name: str) -> list[dict[str, str]]:
    """Of a table, each with the names of its columns; none where it is not there."""
    return rows_of(stub._inventory(BEGAN), name)


def rows_of(found: Inventory, name: str) -> list[dict[str, str]]:
    return [
        dict(zip(table.columns, row, strict=True))
        for table in found.tables
        if table.name.partition(",")[0] == name
        for row in table.rows
    ]


def test_a_stub_that_was_asked_nothing(stub: KafkaStub) -> None:
    found = stub._inventory(BEGAN)
    assert dict(found.facts)["listens on"] == stub.bootstrap_servers
    assert [table.name for table in found.tables] == ["topics", "partitions", "nodes"]


def test_a_consumer_with_its_offsets_and_their_lag(stub: KafkaStub) -> None:
    for number in range(7):
        stub.produce("orders", f"{number}", partition=0)
    settings = {"bootstrap.servers": stub.bootstrap_servers, "client.id": "one", "group.id": "g"}
    consumer = Consumer({**settings, "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    assert consumer.poll(SECONDS) is not None
    consumer.commit(offsets=[TopicPartition("orders", 0, 3)], asynchronous=False)
    (group,) = rows(stub, "groups")
    assert (group["group"], group["type"], group["state"], group["members"]) == ("g", "classic", "Stable", "1")
    (member,) = rows(stub, "members")
    assert (member["client"], member["assigned"]) == ("one", "orders-0, orders-1")
    (offset,) = rows(stub, "offsets")
    assert [offset[name] for name in ("partition", "offset", "log end", "lag")] == ["orders-0", "3", "7", "4"]
    assert [row["value"] for row in rows(stub, "records")] == ["2", "3", "4", "5", "6"]
    commit = next(row for row in rows(stub, "journal") if row["request"].startswith("OffsetCommit"))
    assert commit["answer"] == "ok"
    assert 'name: "orders"' in commit["fields"]
    consumer.close()


def test_a_share_group_with_records_in_hands(stub: KafkaStub) -> None:
    stub.share_groups.configure("s", {"share.auto.offset.reset": "earliest"})
    stub.produce("orders", "first", partition=0)
    settings = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "s", "client.id": "one"}
    consumer = ShareConsumer({**settings, "share.acknowledgement.mode": "explicit"})
    consumer.subscribe(["orders"])
    until(lambda: consumer.poll(0.05), "a record")
    (group,) = rows(stub, "groups")
    assert (group["group"], group["type"], group["state"]) == ("s", "share", "Stable")
    told = {row["partition"]: row["what becomes of them"] for row in rows(stub, "records of share groups")}
    assert told["orders-0"].startswith("0 acquired by one, ")
    consumer.close()


def test_a_streams_group_with_its_tasks(stub: KafkaStub) -> None:
    with streams_instance.Instance(stub.bootstrap_servers, "one") as instance:
        streams_instance.settle(instance)
        (group,) = rows(stub, "groups")
        assert (group["group"], group["type"], group["state"]) == ("app", "streams", "Stable")
        assert [row["task"] for row in rows(stub, "tasks of streams groups")] == ["0-0", "0-1", "1-0", "1-1"]
        (member,) = rows(stub, "members of streams groups")
        assert (member["process"], member["active"]) == ("process-one", "0-0, 0-1, 1-0, 1-1")


def test_transactions_faults_and_what_they_hold(stub: KafkaStub) -> None:
    stub.faults.add(api="EndTxn", hold="before", name="wait")
    producer = Producer({"bootstrap.servers": stub.bootstrap_servers, "transactional.id": "shop", "client.id": "till"})
    producer.init_transactions(SECONDS)
    producer.begin_transaction()
    producer.produce("orders", b"x", partition=1)
    producer.flush()
    ending = threading.Thread(target=producer.commit_transaction)
    ending.start()
    stub.faults.list()[0].wait(held=1, timeout=SECONDS)
    (transaction,) = rows(stub, "transactions")
    told = transaction["transactional id"], transaction["state"], transaction["partitions"]
    assert told == ("shop", "Ongoing", "orders-1")
    (held,) = rows(stub, "held requests")
    assert (held["fault"], held["request"][:6], held["client"]) == ("wait", "EndTxn", "till")
    (fault,) = rows(stub, "faults")
    assert (fault["fault"], fault["hit"]) == ("wait", "1")
    (hanging,) = [row for row in rows(stub, "records") if row["partition"] == "orders-1"] or [{}]
    assert hanging["transaction"] == "open"
    stub.faults.list()[0].release()
    ending.join()


def test_one_whose_coordinator_is_being_loaded(stub: KafkaStub) -> None:
    stub.commit("g", {("orders", 0): 1})
    with stub.coordinator_loading():
        found = stub._inventory(BEGAN)
    assert "being loaded" in found.note
    assert rows_of(found, "groups") == []
    assert rows_of(found, "topics")


def test_one_that_was_closed_has_its_journal() -> None:
    with KafkaStub(topics=["orders"]) as stub:
        Consumer({"bootstrap.servers": stub.bootstrap_servers, "group.id": "g"}).list_topics(timeout=SECONDS)
    found = stub._inventory(BEGAN)
    assert [table.name for table in found.tables] == ["journal"]
    assert "was closed" in found.note


def test_one_with_chaos_has_its_seed() -> None:
    with KafkaStub(chaos=7, chaos_level=2) as stub:
        assert "--kafka-stub-chaos-seed 7:2" in dict(stub._inventory(BEGAN).facts)["chaos"]


def test_one_in_another_process_says_the_same() -> None:
    with KafkaStub(topics=["orders"], process=True) as stub:
        stub.produce("orders", "x")
        stub.faults.add(api="Fetch", error="NOT_LEADER_OR_FOLLOWER", name="gone")
        assert [row["value"] for row in rows(stub, "records")] == ["x"]
        assert [row["fault"] for row in rows(stub, "faults")] == ["gone"]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "null"),
        (b"", ""),
        (b"plain", "plain"),
        (b"\xff\x00", "0xff00"),
        (b"a\x00", "0x6100"),
        ("ü".encode() * 300, "ü" * 200 + "… (600 bytes)"),
        (("x" + "ü" * 300).encode(), "x" + "ü" * 199 + "… (601 bytes)"),
        (b"\xff" * 1000, "0x" + "ff" * 100 + "… (1000 bytes)"),
    ],
)
def test_bytes_are_a_text_or_digits_and_cut(value: bytes | None, told: str) -> None:
    assert content(value) == told


def test_a_message_is_cut_where_it_is_long() -> None:
    long: dict[str, Any] = {"a": "x" * 1000, "b": list(range(100)), "c": None, "d": {"e": True}}
    told = message(long)
    assert told.startswith('{a: "xxx')
    assert told.endswith("b: [0, 1, 2, 3, 4, 5, 6, 7, … 92 more], c: null, d: {e: true}}")
    assert len(message({f"{number}": "y" * 200 for number in range(100)})) < 2000


def test_what_takes_too_long_is_left_behind() -> None:
    go_on = threading.Event()
    with pytest.raises(TimeoutError, match=r"no answer within 0\.01 s"):
        in_time(lambda: go_on.wait(SECONDS), 0.01)
    go_on.set()
    assert in_time(lambda: 7, SECONDS) == 7
    with pytest.raises(KeyError):
        in_time(lambda: {}["x"], SECONDS)
